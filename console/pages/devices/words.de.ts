/** The words of the list of devices in German. */
import { grouped } from '../../text/numbers.ts';
import type { ListWords } from './words.en.ts';

const s = (count: number, one: string, many: string) => `${grouped(count)} ${count === 1 ? one : many}`;

/** Every text of the list in German. */
export const de: ListWords = {
  title: 'Geräte',
  search: 'Suche',
  searchHint: 'Teil einer Kennung oder Seriennummer',
  filters: 'Filter',
  applied: 'Gesetzte Filter',
  filter: {
    keyword: 'Suche',
    status: 'Zustand',
    deviceType: 'Art',
    proof: 'Nachweis',
    tag: 'Merkmal',
    manufacturer: 'Hersteller (genau)',
    userId: 'Benutzer (genau)',
    serialNumber: 'Seriennummer (genau)',
    aaguid: 'AAGUID',
    advisory: 'Sicherheitshinweis',
    createdFrom: 'Registriert ab',
    createdTo: 'Registriert bis',
    lastUsedBefore: 'Unbenutzt seit',
    codeExpiresBefore: 'Code läuft ab vor',
  },
  removeFilter: name => `Filter ${name} entfernen`,
  column: {
    device: 'Gerät',
    serial: 'Seriennummer',
    type: 'Art',
    manufacturer: 'Hersteller',
    model: 'Modell',
    state: 'Zustand',
    user: 'Benutzer',
    registered: 'Registriert',
    used: 'Zuletzt benutzt',
    proof: 'Nachweis',
    tags: 'Merkmale',
  },
  total: count => s(count, 'Gerät', 'Geräte'),
  selected: (count, total) => `${grouped(count)} von ${s(total, 'Gerät', 'Geräten')} ausgewählt`,
  allSelected: total => `Alle Treffer ausgewählt: ${s(total, 'Gerät', 'Geräte')}`,
  select: id => `${id} auswählen`,
  selectPage: 'Alle auf dieser Seite auswählen',
  selectAll: total => `Alle ${grouped(total)} Treffer auswählen`,
  clear: 'Auswahl aufheben',
  changes: count => `${s(count, 'anderes Gerät', 'andere Geräte')} geändert: anzeigen`,
  empty: 'Kein Gerät entspricht der Auswahl.',
  export: format => `Export ${format}`,
  exporting: 'Wird exportiert …',
};
