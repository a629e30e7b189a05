/** The words of the bench in German. */
import { grouped } from '../../text/numbers.ts';
import type { BenchWords } from './words.en.ts';

/** Every text of the page in German. */
export const de: BenchWords = {
  title: 'Arbeitsplatz',
  intro: 'Person, Schlüssel, abziehen: Der Schlüssel wird registriert und für die Person aktiviert.',
  sound: 'Ton',
  notAllowed:
    'Ihre Rolle erlaubt das Ansehen, nicht die Ausgabe von Schlüsseln. Ein Administrator kann Ihnen die Rolle DEALER geben.',
  elsewhere: {
    none: 'Dieser Dienst sucht keine Schlüssel: Er wurde nur für das Register gestartet.',
    unavailable: 'Dieser Dienst findet auf seinem Rechner keine Schlüssel:',
    command: 'Geben Sie Schlüssel dort aus, wo sie eingesteckt werden, mit der Befehlszeile:',
    again: 'Erneut suchen',
  },
  call: {
    roster: 'Benutzer-ID oder Name',
    open: 'Benutzer-ID der Person',
    submit: 'Aufrufen',
    hint: 'Tippen Sie sie ein, oder scannen Sie einen Ausweis.',
  },
  stage: {
    label: 'Schlüssel und Person',
    unnamed: 'Ausweis scannen oder Person eintippen',
    all: 'Alle Personen der Liste haben ihre Schlüssel',
    keyOf: (number, all) => `Schlüssel ${grouped(number)} von ${grouped(all)}`,
    emptyOpen: 'Stecken Sie dann den Schlüssel ein.',
    wait: 'WARTEN',
    asideOpen:
      'Ein Schlüssel ist eingesteckt. Scannen Sie den Ausweis der Person, oder tippen Sie die Benutzer-ID ein.',
    bind: 'Binden (Enter)',
    undo: 'Zurücknehmen (Esc)',
    skip: 'Person überspringen',
    redo: 'Zurück zur letzten Person',
    ignore: 'Nicht beachten',
    ignoreKey: key => `Nicht beachten: ${key}`,
    ignored: count => `Unbeachtet bis zum Abziehen: ${grouped(count)}`,
    unreadable: 'Schlüssel ohne lesbare Seriennummer',
    unregistered: 'nicht registriert',
    keys: 'Eingesteckte Schlüssel',
    simulated: 'simuliert',
  },
  roster: {
    title: 'Liste der Personen',
    file: 'CSV-Datei mit den Spalten userId, name, count und type',
    hint: 'Nur userId ist nötig. Die Datei wird in diesem Browser gelesen und nirgendwohin gesendet.',
    remove: 'Liste entfernen',
  },
};
