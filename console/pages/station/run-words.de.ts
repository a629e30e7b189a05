/** The words of a run in German. */
import { grouped } from '../../text/numbers.ts';
import type { RunWords } from './run-words.en.ts';

/** Every text in German. */
export const de: RunWords = {
  stage: {
    empty: person => `Stecken Sie einen Schlüssel für ${person} ein.`,
    checking: 'Der Schlüssel wird geprüft … Wenn er blinkt, berühren Sie ihn.',
    pass: 'GUT',
    ready: person =>
      `Ziehen Sie den Schlüssel ab, oder drücken Sie Enter: Er wird an ${person} gebunden. Esc nimmt zurück.`,
    fail: 'FEHLER',
    still: person => `Nichts wurde gebunden. ${person} braucht noch einen Schlüssel.`,
    committing: 'Wird gebunden …',
    away: 'Der Dienst antwortet nicht. Die Bindung wird gesendet, sobald er antwortet, und nur einmal ausgeführt.',
    bound: 'GEBUNDEN',
    boundTo: (key, person) => `${key} ist an ${person} gebunden und aktiv.`,
    stop: 'HALT',
    crowded:
      'Zwei Schlüssel sind eingesteckt: Nichts wird gebunden. Ziehen Sie beide ab, oder lassen Sie einen unbeachtet.',
    aside:
      'Ein Schlüssel ist eingesteckt, und es ist nicht bekannt, für wen. Stecken Sie ihn neu ein, oder scannen Sie einen Ausweis.',
    held: 'Nichts wird gebunden, bis Sie einen gültigen Ausweis scannen oder Esc drücken.',
  },
  check: { serial: 'Seriennummer', type: 'Art', free: 'Frei für die Person', proof: 'Nachweis' },
  passed: 'gut',
  failed: 'Fehler',
  code: 'Der Schlüssel ist registriert, aber nicht aktiv. Sein Aktivierungscode, nur hier gezeigt:',
  roster: {
    progress: (finished, all) => `${grouped(finished)} von ${grouped(all)} Zeilen erledigt`,
    skipped: count => `${grouped(count)} übersprungen`,
    waiting: 'Als Nächste',
    more: count => `und ${grouped(count)} weitere`,
  },
  failure: {
    unreadable: 'Die Seriennummer ist nicht lesbar.',
    'wrong type': 'Die Person bekommt einen Schlüssel anderer Art.',
    'counted before': 'Dieser Schlüssel wurde hier schon gebunden. Nehmen Sie einen anderen.',
    'bound to another person': 'Dieser Schlüssel ist schon registriert und an eine andere Person gebunden.',
    LOCKED: 'Dieser Schlüssel ist schon registriert und gesperrt.',
    DEACTIVATED: 'Dieser Schlüssel ist schon registriert und stillgelegt.',
    'pulled too early': 'Der Schlüssel wurde vor dem Ende der Prüfung abgezogen. Stecken Sie ihn wieder ein.',
    refused: 'Das Register lehnt ihn ab.',
    unproved: 'Er weist nicht nach, was das Register verlangt:',
    'no answer': 'Der Dienst antwortet nicht.',
  },
  said: {
    'two keys': 'Zwei neue Schlüssel zugleich: Nichts wird gebunden.',
    undone: 'Zurückgenommen: Nichts wurde geschrieben. Ziehen Sie den Schlüssel ab.',
    skipped: 'Übersprungen. Ein Ausweis führt zu dieser Person zurück.',
    redo: 'Zurück zur letzten Person. Ziehen Sie den Schlüssel ab.',
    'redo of a binding': 'Zurück zur letzten Person, für einen weiteren Schlüssel. Der erste bleibt gebunden.',
    'nothing to redo': 'Nur die letzte Person ist wiederholbar, bevor der nächste Schlüssel gebunden ist.',
    'nothing to confirm': 'Nichts zu bestätigen: Kein Schlüssel hat die Prüfung bestanden.',
    'nothing confirmed yet':
      'Enter kam gleich nach einer anderen Taste: Nichts wird gebunden. Drücken Sie Enter noch einmal.',
    'nothing to undo': 'Nichts zurückzunehmen: Was gebunden ist, bleibt hier gebunden.',
    badge: 'Ausweis erkannt.',
    'badge incomplete': 'Der Scan war unvollständig: Scannen Sie den Ausweis noch einmal.',
    'unplugged during a scan':
      'Der Schlüssel wurde während eines Scans abgezogen: Nichts wird gebunden. Stecken Sie ihn neu ein.',
    'badge unknown': 'Das ist keine bekannte Benutzer-ID und kein bekannter Name.',
    'badge of several': 'Mehrere Personen der Liste heißen so: Scannen Sie eine Benutzer-ID.',
    'badge of a person who is done': 'Diese Person hat alle Schlüssel der Liste.',
    lost: 'Die Verbindung war unterbrochen: Nichts wird gebunden. Stecken Sie den Schlüssel neu ein.',
  },
  results: {
    title: 'Ergebnisse',
    passed: 'gebunden',
    failed: 'Fehler',
    yield: 'Ausbeute',
    perHour: 'Schlüssel je Stunde',
    newest: 'Die neuesten 20 Ergebnisse',
    time: 'Zeit',
    person: 'Person',
    serial: 'Seriennummer',
    device: 'Gerät',
    result: 'Ergebnis',
    bound: 'gebunden',
    download: 'Als CSV herunterladen',
    clear: 'Ergebnisse löschen',
  },
};
