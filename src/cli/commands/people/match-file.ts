/** The file of `people match`: a row for each device or account without a person, which someone edits, and which is then carried out. */
import { existsSync } from 'node:fs';
import type { Person } from '../../../contract/people.ts';
import { nameKey } from '../../../tables/fields.ts';
import { openTable } from '../../../tables/table.ts';
import { counted } from '../../count.ts';
import { usage } from '../../fault.ts';
import type { Context } from '../../framework/context.ts';
import { findPerson } from '../../framework/persons.ts';
import { checkInput, nameOf } from '../../jobs/input-file.ts';
import { bytesOf, encodingFault, readable, readableRows, type TableWords } from '../../jobs/table-file.ts';
import { writeWhole } from '../../settings/files.ts';
import { toCsv } from '../../terminal/csv.ts';

const words: TableWords = {
  none: 'has no rows',
  needs: 'make one: devmgr people match --out FILE',
  flagOf: {},
};

/** What is given to persons: devices that are bound to a text, or accounts. */
export interface MatchKind {
  readonly what: 'device' | 'account';
  /** Columns of the file with the id and the name; the id is also the field of a request. */
  readonly id: 'deviceId' | 'accountId';
  readonly name: 'userId' | 'username';
  unmatched(context: Context): AsyncIterable<{
    readonly id: string;
    readonly name: string;
    readonly candidates: readonly (Pick<Person, 'personId' | 'userName'> & { readonly why?: string })[];
  }>;
  /** The id of the one that is named. */
  resolve(context: Context, named: string): Promise<string>;
}

/** A device or account, and the person to whom it is given. */
export interface Match {
  readonly id: string;
  readonly personId: string;
  readonly words: string;
}

/** A row that is not carried out, and why. */
export interface Unmatched {
  readonly line: number;
  readonly id: string;
  readonly message: string;
}

/** Writes all without a person. `person` is filled in where exactly one comes into question. */
export async function writeMatches(context: Context, kind: MatchKind, file: string): Promise<void> {
  if (existsSync(file)) throw usage(`${file} exists`, 'name another file with --out');
  const rows: Record<string, string>[] = [];
  for await (const { id, name, candidates } of kind.unmatched(context)) {
    const names = candidates.map(({ userName, personId, why }) => `${userName} ${personId}${why ? ` (${why})` : ''}`);
    const person = candidates.length === 1 ? candidates[0]!.personId : '';
    rows.push({ [kind.id]: id, [kind.name]: name, person, candidates: names.join('; ') });
  }
  const columns = [kind.id, kind.name, 'person', 'candidates'];
  writeWhole(file, toCsv(columns, rows, true), { durable: true, hint: 'name another file with --out' });
  const open = rows.filter(({ person }) => person === '').length;
  const flag = kind.what === 'account' ? ' --accounts' : '';
  context.out.notice(
    `${counted(rows.length, kind.what)} written to ${file}. Write the user name or id of a person into the ${counted(open, 'row')} without one, or leave it empty; then: devmgr people match${flag} --file ${file} --apply`,
  );
}

/**
 * The matches of a file. What has another name now than the file shows is refused. The registry changes nothing of what already belongs to
 * its person, so a file can be carried out again.
 */
export async function readMatches(
  context: Context,
  kind: MatchKind,
  file: string,
): Promise<{ readonly matches: readonly Match[]; readonly refused: readonly Unmatched[] }> {
  checkInput({ file, out: undefined, resume: false });
  const names = [kind.id, kind.name, 'person'] as const;
  type MatchField = (typeof names)[number];
  const fields = names.map(field => ({ field, words: [[nameKey(field)]] }));
  const table = await readable(file, words, () =>
    openTable<MatchField>(bytesOf({ file, stdin: context.io.stdin }), {
      file,
      fields,
      required: names.map(field => [field]),
    }),
  );
  const [matches, refused]: [Match[], Unmatched[]] = [[], []];
  const rows = new Map<string, { readonly line: number; readonly name: string; readonly person: string }>();
  for await (const { position, values, problem } of readableRows(file, words, table.rows)) {
    const [id, name, person] = names.map(field => String(values[field] ?? '').trim()) as [string, string, string];
    const line = position.line ?? 0;
    if (problem !== null) refused.push({ line, id, message: problem });
    else if (rows.has(id)) refused.push({ line, id, message: `the file has this ${kind.what} twice` });
    else if (person !== '') rows.set(id, { line, name, person });
  }
  const fault = encodingFault(file, table);
  if (fault !== null) throw usage(fault.message, fault.hint ?? undefined);
  if (rows.size === 0 && refused.length === 0) throw usage(`${nameOf(file)} names no person`, words.needs);
  const bound = new Map<string, string>();
  if (rows.size > 0) for await (const { id, name } of kind.unmatched(context)) bound.set(id, name);
  const persons = new Map<string, Promise<Person | Error>>();
  const personOf = (name: string): Promise<Person | Error> => {
    const asked = persons.get(name) ?? findPerson(context.registry, name).catch((error: Error) => error);
    persons.set(name, asked);
    return asked;
  };
  for (const [id, { line, name, person }] of rows) {
    const present = bound.get(id);
    if (present !== undefined && present !== name) {
      refused.push({ line, id, message: `it is now bound to ${present}, not to ${name}` });
      continue;
    }
    const found = await personOf(person);
    if (found instanceof Error) refused.push({ line, id, message: found.message });
    else {
      const { personId, userName } = found;
      matches.push({ id, personId, words: `${id} (${name}) → ${userName} ${personId}` });
    }
  }
  return { matches, refused };
}
