/** The pages of the console as their table has them: a test of all pages forgets none. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** An item of each page that has items, by the name of the page, as its address names it. */
export type ItemIds = Readonly<Record<string, string>>;

const table = readFileSync(join(import.meta.dirname, '..', '..', 'console', 'pages.tsx'), 'utf8');
/** The row of a page in the table: its name, and how its parts are loaded. */
const entries = table.split(/\bpage\(\s*'/).slice(1);
const nameOf = (entry: string) => entry.slice(0, entry.indexOf("'"));

/** The names of all pages. */
export const pageNames = entries.map(nameOf);

/** The addresses of all pages, and `NAME/ITEM` for each page that has items. */
export const places = entries.flatMap(entry =>
  entry.split('await import(').length > 2 ? [nameOf(entry), `${nameOf(entry)}/ITEM`] : [nameOf(entry)],
);

/** The address with the id of an item. */
export function withItem(place: string, items: ItemIds): string {
  const [name, isItem] = place.split('/');
  if (!isItem) return place;
  const id = items[name!];
  if (!id) throw new Error(`the page ${name} has items: name one in tests/console/sample.ts`);
  return `${name}/${id}`;
}
