/** Why a file is not a roster, in German. */
import { rosterBounds } from '../../../src/enrollment/line/roster.ts';
import { grouped } from '../../text/numbers.ts';
import type { FaultWords } from './faults.en.ts';
import type { FileFault } from './roster-file.ts';

/** What is wrong with the file, or with the line that it names. */
function german({ fault }: FileFault): string {
  switch (fault.what) {
    case 'unknown columns':
      return `unbekannte Spalten: ${fault.names.map(name => name.trim() || '(leer)').join(', ')}`;
    case 'column twice':
      return `zwei Spalten für ${fault.column}`;
    case 'column missing':
      return 'die Spalte userId fehlt';
    case 'cells':
      return `sie hat ${fault.found} Zellen, die Kopfzeile ${fault.expected}: Enthält eine Zelle ein Komma ohne Anführungszeichen?`;
    case 'userId':
      return fault.text === '' ? 'userId ist leer' : `${fault.text} ist keine gültige userId`;
    case 'name':
      return `name hat mehr als ${rosterBounds.name} Zeichen`;
    case 'type':
      return 'type muss UKEY oder SIMKEY sein';
    case 'count':
      return `count muss eine ganze Zahl von 1 bis ${rosterBounds.keys} sein`;
    case 'person twice':
      return `${fault.userId} steht schon in Zeile ${fault.earlier}`;
    case 'lines':
      return `eine Liste hat höchstens ${grouped(rosterBounds.lines)} Zeilen`;
    case 'open quote':
      return 'ein Anführungszeichen wird nicht geschlossen';
    case 'text after quote':
      return 'auf ein schließendes Anführungszeichen folgt Text';
    case 'encoding':
      return `kein gültiges ${fault.encoding.toUpperCase()}. Speichern Sie die Datei als UTF-8 (in Excel: CSV UTF-8), oder wählen Sie ihre Kodierung.`;
    case 'empty':
      return 'Die Datei enthält keine Personen.';
    case 'too large':
      return 'Die Datei ist zu groß für eine Liste von Personen.';
    case 'unreadable':
      return 'Die Datei ist nicht lesbar.';
  }
}

/** Every text in German. */
export const de: FaultWords = {
  of: german,
  line: (line, problem) => `Zeile ${grouped(line)}: ${problem}`,
  encoding: 'Kodierung der Datei',
  readAgain: 'Datei erneut lesen',
};
