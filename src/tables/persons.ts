/** Rows of persons, whatever system wrote them: who they are, and whether they are marked as gone. */
import type { ColumnChoice, RowCondition } from './choices.ts';
import { type ColumnValues, type FieldSet, nameKey, type PersonField, personFields } from './fields.ts';
import type { Position } from './raw.ts';
import { openTable, type Table } from './table.ts';
import type { TableRow } from './table-row.ts';
import { isOpaqueId } from './values.ts';

/** How a file of persons is read. */
export interface PersonReading {
  /** Name of the file. */
  readonly file: string;
  readonly encoding: string | null;
  readonly map: readonly ColumnChoice<PersonField>[];
  readonly where: readonly RowCondition[];
  /** Names of the columns of a file without a header row; null if it has one. */
  readonly columns: readonly string[] | null;
  /** The column and the values that mark who leaves; null if no one does. */
  readonly leavers?: RowCondition | null;
}

/** A row of a person. */
export interface PersonRow {
  readonly position: Position;
  /** As the file has it, trimmed; empty if it has none. */
  readonly userId: string;
  readonly name: string | null;
  readonly email: string | null;
  /** Texts of the columns `count`, `type` and `printedNumber`. */
  readonly count: string;
  readonly type: string;
  readonly printedNumber: string;
  /** The value that marks the person as gone, such as `Status: Suspended`; null if there is none. */
  readonly gone: string | null;
  /** `leavers` marks the person. */
  readonly isLeaver: boolean;
  /** Why the line as a whole, or its user name, cannot be read; null if it can. Then no text of it may be shown. */
  readonly problem: string | null;
}

/** A file of persons. */
export interface PersonFile {
  readonly table: Table<PersonField | 'leaver'>;
  readonly rows: AsyncGenerator<PersonRow>;
}

/** `--leavers` chooses its column: the dictionary has no name for it. */
const fields: FieldSet<PersonField | 'leaver'> = [...personFields, { field: 'leaver', words: [] }];

/** Opens a file of persons. Throws `InvalidInput`, as the rows do. */
export async function openPersons(
  bytes: AsyncIterable<Uint8Array>,
  { leavers = null, map, ...reading }: PersonReading,
): Promise<PersonFile> {
  const chosen = leavers === null ? map : [...map, { field: 'leaver' as const, column: leavers.column }];
  const table = await openTable(bytes, { ...reading, fields, map: chosen, required: [['userId']] });
  return { table, rows: rowsOf(table, leavers) };
}

async function* rowsOf(table: PersonFile['table'], leavers: RowCondition | null): AsyncGenerator<PersonRow> {
  const columnOf = (field: PersonField | 'leaver') => table.columns.find(each => each.field === field);
  const { isChosen, name: column } = columnOf('userId') ?? { isChosen: false, name: '' };
  const leaver = columnOf('leaver')?.name ?? '';
  const flips = lastNameFirst.has(nameKey(columnOf('name')?.name ?? ''));
  for await (const row of table.rows) {
    const text = (field: PersonField | 'leaver') => textOf(row, field);
    const userId = text('userId');
    const problem = row.problem ?? (isOpaqueId(userId, column) && !isChosen ? opaqueWords : null);
    const states: ColumnValues = [...((row.values.status as ColumnValues | undefined) ?? []), [leaver, text('leaver')]];
    const gone = states.map(([name, value]) => [name, textIn(value)] as const).find(state => isGone(...state));
    const { position } = row;
    yield {
      position,
      userId,
      name: nameOf(text, flips),
      email: text('email') || null,
      count: text('count'),
      type: text('type'),
      printedNumber: text('printedNumber'),
      gone: gone ? gone.join(': ') : null,
      isLeaver: leavers?.values.includes(text('leaver').toLowerCase()) ?? false,
      problem,
    };
  }
}

const opaqueWords = 'userId is an id that a system has made, not a login: name the column of the logins';

const textOf = ({ values }: TableRow<PersonField | 'leaver'>, field: PersonField | 'leaver'): string =>
  textIn(values[field]);

function textIn(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value).trim()
    : '';
}

/** Columns of `Lovelace, Ada`. */
const lastNameFirst: ReadonlySet<string> = new Set(['lastnamefirstname', 'nachnamevorname', 'nomprenom']);

function nameOf(text: (field: PersonField) => string, flips: boolean): string | null {
  const whole = text('name');
  if (whole === '') return [text('givenName'), text('familyName')].filter(Boolean).join(' ') || null;
  const parts = whole.split(',');
  return flips && parts.length === 2 ? `${parts[1]} ${parts[0]}`.trim() : whole;
}

const keys = (names: string): ReadonlySet<string> => new Set(names.split(/\s+/));

/** Columns whose true means that the person is gone, and those whose false does. The others have words. */
const goneColumns =
  keys(`suspended terminated disabled accountdisabled blockcredential blocked archived deleted isdeleted inactive
  nsaccountlock logindisabled gesperrt deaktiviert ausgeschieden inaktiv`);
const activeColumns = keys(
  'enabled active isactive accountenabled accountactive aktiv actif activo ativo attivo activated',
);
const yes = keys('true yes y 1 ja oui si sim vrai wahr verdadero verdadeiro vero x');
const no = keys('false no n 0 nein non nao faux falsch falso');
/** Bit of `userAccountControl` in Active Directory (ACCOUNTDISABLE). */
const DISABLED = 2;

const goneWords =
  keys(`inactive disabled suspended terminated deprovisioned deactivated archived deleted blocked left leaver former resigned
  retired offboarded departed notactive inaktiv deaktiviert gesperrt ausgeschieden ehemalig geloscht inactif desactive suspendu parti sorti
  inactivo desactivado suspendido baja inativo desativado suspenso desligado demitido inattivo disattivato sospeso cessato`);

/** Whether the column of the state marks a person as gone. */
export function isGone(column: string, value: string): boolean {
  const [name, key] = [nameKey(column), nameKey(value)];
  if (name === 'useraccountcontrol') return (Number(value) & DISABLED) !== 0;
  if (goneColumns.has(name) && yes.has(key)) return true;
  if (activeColumns.has(name) && no.has(key)) return true;
  return goneWords.has(key);
}
