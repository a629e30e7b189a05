/** Entries of a directory as persons. */
import type { Entry } from 'ldapts';
import { Type } from 'typebox';
import type { DirectoryAttributes } from '../../../src/contract/directory.ts';
import { line } from '../../../src/contract/fields.ts';
import { directoryBounds, personBounds } from '../../../src/contract/limits.ts';
import { personEmail, personName, personUserName } from '../../../src/contract/people.ts';
import { withoutUnsafe } from '../../../src/contract/text.ts';
import { compileReader } from '../../../src/contract/validate.ts';
import { TimeSlice } from '../../base/concurrency.ts';
import type { DirectoryConfig, DirectoryEntry } from '../decisions.ts';

/** Names of the attributes that are read. */
export interface EntryFields extends Readonly<Record<'userName' | 'name' | 'email' | 'id' | 'groups', string>> {
  /** Null if no attribute shows it. */
  readonly disabled: string | null;
  /** When an account ends; null if no attribute shows it. */
  readonly expires: string | null;
  /** The number of the primary group, which `groups` does not name. */
  readonly primaryGroup: string;
  /** All of them, and when an entry changed. */
  readonly wanted: readonly string[];
}

/** An entry that cannot be a person. */
export interface SkippedEntry {
  /** Null if it has none: then it is not known whom the directory still has. */
  readonly id: string | null;
  readonly userName: string | null;
  readonly why: string;
}

/** A value of an entry that cannot be stored: the person is stored without it. */
export interface LeftOutValue {
  readonly userName: string;
  readonly field: string;
  readonly reason: string;
}

/** A page of a directory. */
export interface DirectoryPage {
  readonly entries: readonly DirectoryEntry[];
  readonly skipped: readonly SkippedEntry[];
  readonly left: readonly LeftOutValue[];
  /** The latest modification time of the entries, as the directory writes it; null if it shows none. */
  readonly changedAt: string | null;
}

/** The attributes of a server, as far as the settings do not name others. */
export function fieldsOf(named: DirectoryAttributes, isActiveDirectory: boolean): EntryFields {
  const fields = {
    userName: named.userName ?? (isActiveDirectory ? 'sAMAccountName' : 'uid'),
    name: named.name ?? 'displayName',
    email: named.email ?? 'mail',
    id: named.id ?? (isActiveDirectory ? 'objectGUID' : 'entryUUID'),
    groups: named.groups ?? 'memberOf',
    disabled: named.disabled ?? (isActiveDirectory ? 'userAccountControl' : null),
    expires: isActiveDirectory ? 'accountExpires' : null,
    primaryGroup: isActiveDirectory ? 'primaryGroupID' : 'gidNumber',
  };
  const wanted = [...Object.values(fields).filter(name => name !== null), 'cn', 'modifyTimestamp'];
  return { ...fields, wanted: [...new Set(wanted)] };
}

const readPerson = compileReader(Type.Object({ userName: personUserName, id: line(personBounds.externalId) }));
const readName = compileReader(Type.Object({ name: personName }));
const readEmail = compileReader(Type.Object({ email: personEmail }));
const decorations = { name: (name: string) => readName({ name }), email: (email: string) => readEmail({ email }) };

/** A group of the settings. `number`: by which persons name it as their primary group; absent if it has none. */
export type DirectoryGroup = DirectoryConfig['groups'][number] & { readonly number?: string };

/** `key`: its name (DN), comparable. */
type KeyedGroup = DirectoryGroup & { readonly key: string };

type AttributeValues = (attribute: string) => readonly (string | Buffer)[];

/** Reads a page, in time slices: a malicious directory has long values and many of them. */
export async function pageOf(
  entries: readonly Entry[],
  fields: EntryFields,
  groups: readonly DirectoryGroup[],
  now = Date.now(),
): Promise<DirectoryPage> {
  const slice = new TimeSlice();
  const known = groups.map(group => ({ ...group, key: comparable(group.dn) }));
  const read = { entries: [] as DirectoryEntry[], skipped: [] as SkippedEntry[], left: [] as LeftOutValue[] };
  let changedAt: string | null = null;
  for (const entry of entries) {
    if (slice.over) await slice.pass();
    const values = valuesOf(entry);
    const found = personOf(values, fields, { groups: known, now }, read.left);
    if ('why' in found) read.skipped.push(found);
    else read.entries.push(found);
    const time = textOf(values('modifyTimestamp'));
    if (time !== null && /^\d{14}(?:\.\d{1,6})?Z$/.test(time) && (changedAt === null || time > changedAt))
      changedAt = time;
  }
  return { ...read, changedAt };
}

/** Names of attributes are the same in upper and lower case. */
function valuesOf(entry: Entry): AttributeValues {
  const byName = new Map(Object.entries(entry).map(([name, value]) => [name.toLowerCase(), [value].flat()]));
  return attribute => byName.get(attribute.toLowerCase()) ?? [];
}

function personOf(
  values: AttributeValues,
  fields: EntryFields,
  { groups, now }: { readonly groups: readonly KeyedGroup[]; readonly now: number },
  left: LeftOutValue[],
): DirectoryEntry | SkippedEntry {
  const userName = textOf(values(fields.userName));
  const id = idOf(fields.id, values(fields.id));
  const person = readPerson({ userName, id });
  if (!person.ok) {
    const attribute = person.field === 'id' ? fields.id : fields.userName;
    const isUsable = id !== null && person.field !== 'id';
    const shown = userName && withoutUnsafe(userName);
    const why = `${attribute} ${person.message.slice(person.field.length + 1)}`;
    return { id: isUsable ? id : null, userName: shown, why };
  }
  // A name or an address that is not valid does not keep anyone from being a person.
  const decoration = (field: 'name' | 'email', text: string | null): string | null => {
    if (text === null) return null;
    const read = decorations[field](text);
    if (!read.ok) left.push({ userName: person.value.userName, field, reason: read.message });
    return read.ok ? text.trim() : null;
  };
  const memberships = new Set(
    values(fields.groups).flatMap(value => (value.length > MAX_DN ? [] : comparable(String(value)))),
  );
  const names = values(fields.userName)
    .filter(value => typeof value === 'string')
    .sort();
  const primary = textOf(values(fields.primaryGroup));
  const isMember = ({ key, number }: KeyedGroup) => memberships.has(key) || (primary !== null && primary === number);
  return {
    ...person.value,
    ...(names.length > 1 && { aliases: names }),
    name: decoration('name', textOf(values(fields.name)) ?? textOf(values('cn'))),
    email: decoration('email', textOf(values(fields.email))),
    isDisabled:
      (fields.disabled !== null && isDisabled(fields.disabled, values(fields.disabled))) ||
      (fields.expires !== null && hasExpired(textOf(values(fields.expires)), now)),
    groups: [...new Set(groups.filter(isMember).map(group => group.name))],
  };
}

/** Values have no order: the same one is taken each time. */
const textOf = (values: readonly (string | Buffer)[]): string | null =>
  values.filter(value => typeof value === 'string').sort()[0] ?? null;

const ACCOUNT_DISABLED = 2;
function isDisabled(attribute: string, values: readonly (string | Buffer)[]): boolean {
  const texts = values.map(value => String(value).trim().toUpperCase());
  if (attribute.toLowerCase() === 'useraccountcontrol')
    return texts.some(text => (Number.parseInt(text, 10) & ACCOUNT_DISABLED) !== 0);
  return texts.some(text => !['', '0', 'FALSE', 'NO'].includes(text));
}

/** Milliseconds from 1601 to 1970. */
const SINCE_1601 = 11_644_473_600_000;

/** Whether a time has passed that is written as parts of 100 ns since 1601; 0 and the largest number mean never ([MS-ADA1] 2.2). */
function hasExpired(text: string | null, now: number): boolean {
  if (text === null || !/^\d{1,19}$/.test(text) || /^0+$/.test(text)) return false;
  return Number(BigInt(text) / 10_000n) - SINCE_1601 <= now;
}

/** An objectGUID has 16 bytes, the first three parts with the lowest byte first ([MS-DTYP] 2.3.4.2). */
function idOf(attribute: string, values: readonly (string | Buffer)[]): string | null {
  if (attribute.toLowerCase() !== 'objectguid') return textOf(values);
  const [value] = values;
  const bytes = typeof value === 'string' ? Buffer.from(value, 'utf8') : value;
  if (bytes?.length !== 16) return null;
  const part = (...at: readonly number[]) => Buffer.from(at.map(index => bytes[index]!)).toString('hex');
  const head = [part(3, 2, 1, 0), part(5, 4), part(7, 6), part(8, 9)];
  return [...head, bytes.toString('hex', 10)].join('-');
}

/** Characters of a name (DN): longer ones are of no group that the settings can name. */
const MAX_DN = 4 * directoryBounds.text;

/** A name (DN) for comparisons: without upper case, and without spaces around its signs. */
export const comparable = (dn: string): string =>
  dn
    .toLowerCase()
    .split(',')
    .map(part =>
      part
        .split('=')
        .map(text => text.trim())
        .join('='),
    )
    .join(',');

/** A modification time that is so much earlier. */
export function timestampOf(text: string, earlierMs: number): string {
  const part = (from: number, length: number) => Number(text.slice(from, from + length));
  const at = Date.UTC(part(0, 4), part(4, 2) - 1, part(6, 2), part(8, 2), part(10, 2), part(12, 2));
  return new Date(at - earlierMs).toISOString().replace(/[-:T]|\.\d+/g, '');
}
