/** The words of the page Packages in German. */
import { grouped } from '../../text/numbers.ts';
import type { PackageWords } from './words.en.ts';

/** Every text of the page in German. */
export const de: PackageWords = {
  title: 'Pakete',
  total: count => `${grouped(count)} ${count === 1 ? 'Paket' : 'Pakete'}`,
  empty: 'Noch wurde kein Paket hochgeladen.',
  platform: 'Plattform',
  all: 'alle Plattformen',
  column: {
    version: 'Version',
    platform: 'Plattform',
    file: 'Datei',
    size: 'Größe',
    digest: 'SHA-256',
    uploaded: 'Hochgeladen',
    actions: 'Aktionen',
  },
  newest: 'neueste',
  forced: 'erzwingt ein Update',
  oldest: version => `älteste unterstützte: ${version}`,
  changes: 'Änderungen',
  by: name => `von ${name}`,
  download: 'Herunterladen',
  downloadOf: name => `Herunterladen: ${name}`,
  tooLarge: 'Dieser Browser kann keine Datei dieser Größe speichern. Auf der Befehlszeile:',
  saved: name => `${name} wurde gespeichert; die SHA-256 stimmt.`,
  damaged: name =>
    `${name} kam beschädigt an: Die SHA-256 stimmt nicht. Nichts wurde gespeichert. Laden Sie das Paket erneut herunter.`,
  progress: (done, total) => `${done} von ${total}`,
  upload: 'Paket hochladen',
  file: 'Paket',
  version: 'Versionsnummer',
  versionName: 'Anzeigename (optional)',
  changelog: 'Änderungen (optional)',
  oldestSupported: 'Älteste unterstützte Version (optional)',
  forceUpdate: 'Ältere Clients müssen aktualisieren',
  wrongFile: extensions => `Die Datei ist kein Installationspaket: ${extensions}.`,
  emptyFile: 'Die Datei ist leer.',
  largeFile: most => `Die Datei ist größer als ${most}.`,
  wrongVersion: 'Bis zu vier Zahlen mit Punkten, dann Teile mit - oder +, zum Beispiel 1.0.0 oder 1.2.0-rc.1.',
  exists: id => `Diese Version wurde schon als ${id} hochgeladen. Wählen Sie eine andere Versionsnummer.`,
  sending: name => `${name} wird gesendet`,
  checking: 'Das Paket ist gespeichert. Die SHA-256 wird verglichen …',
  cancel: 'Hochladen abbrechen',
  canceled: 'Das Hochladen wurde abgebrochen.',
  limit: minutes =>
    `Sie können zehn Pakete je Stunde hochladen. Versuchen Sie es in ${grouped(minutes)} ${minutes === 1 ? 'Minute' : 'Minuten'} erneut.`,
  same: 'Die SHA-256 der Datei und die des Dienstes sind gleich.',
  different:
    'Der Dienst hat etwas anderes gespeichert als diese Datei. Verteilen Sie es nicht; laden Sie die Datei unter einer anderen Version hoch.',
  notCompared:
    'Das Paket ist gespeichert. Die Datei konnte nicht noch einmal gelesen werden; ihre SHA-256 wurde nicht verglichen.',
  ofFile: 'SHA-256 der Datei',
  ofDaemon: 'SHA-256 des Dienstes',
  uploaded: id => `Hochgeladen als ${id}`,
};
