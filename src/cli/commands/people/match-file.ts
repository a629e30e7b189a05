/** The file of `people match`: a row for each device without a person, which a person edits, and which is then carried out. */
import { existsSync } from 'node:fs';
import { namesIn } from '../../../contract/names.ts';
import type { Person } from '../../../contract/people.ts';
import { nameKey } from '../../../tables/fields.ts';
import { openTable } from '../../../tables/table.ts';
import { itemsOf } from '../../client/pages.ts';
import { counted } from '../../count.ts';
import { usage } from '../../fault.ts';
import type { Context } from '../../framework/context.ts';
import { findPerson } from '../../framework/persons.ts';
import { checkInput, nameOf } from '../../jobs/input-file.ts';
import { bytesOf, encodingFault, readable, readableRows, type TableWords } from '../../jobs/table-file.ts';
import { writeWhole } from '../../settings/files.ts';
import { toCsv } from '../../terminal/csv.ts';

const columns = namesIn('deviceId userId person candidates');
type MatchField = 'deviceId' | 'userId' | 'person';
const fields = (['deviceId', 'userId', 'person'] as const).map(field => ({ field, words: [[nameKey(field)]] }));

const words: TableWords = {
  none: 'has no devices',
  needs: 'make one: devmgr people match --out FILE',
  flagOf: {},
};

/** A device and the person whom it is given to. */
export interface Match {
  readonly deviceId: string;
  readonly personId: string;
  readonly words: string;
}

/** A row that is not carried out, and why. */
export interface Unmatched {
  readonly line: number;
  readonly deviceId: string;
  readonly message: string;
}

/** Writes all devices without a person. `person` is filled in where exactly one comes into question. */
export async function writeMatches({ registry, out }: Context, file: string): Promise<void> {
  if (existsSync(file)) throw usage(`${file} exists`, 'name another file with --out');
  const rows: Record<(typeof columns)[number], string>[] = [];
  for await (const { deviceId, userId, candidates } of itemsOf(registry, 'listUnmatched', {})) {
    const names = candidates.map(({ userName, personId, why }) => `${userName} ${personId} (${why})`);
    const person = candidates.length === 1 ? candidates[0]!.personId : '';
    rows.push({ deviceId, userId, person, candidates: names.join('; ') });
  }
  writeWhole(file, toCsv(columns, rows, true), { durable: true, hint: 'name another file with --out' });
  const open = rows.filter(({ person }) => person === '').length;
  out.notice(
    `${counted(rows.length, 'device')} written to ${file}. Write the user name or id of a person into the ${counted(open, 'row')} without one, or leave it empty; then: devmgr people match --file ${file} --apply`,
  );
}

/**
 * The matches of a file. A device that the registry now binds to another name than the file shows is refused. The registry changes nothing
 * of a device that already belongs to its person, so a file can be carried out again.
 */
export async function readMatches(
  context: Context,
  file: string,
): Promise<{ readonly matches: readonly Match[]; readonly refused: readonly Unmatched[] }> {
  checkInput({ file, out: undefined, resume: false });
  const table = await readable(file, words, () =>
    openTable<MatchField>(bytesOf({ file, stdin: context.io.stdin }), {
      file,
      fields,
      required: [['deviceId'], ['userId'], ['person']],
    }),
  );
  const [matches, refused]: [Match[], Unmatched[]] = [[], []];
  const rows = new Map<string, { readonly line: number; readonly userId: string; readonly person: string }>();
  for await (const { position, values, problem } of readableRows(file, words, table.rows)) {
    const [deviceId, userId, person] = (['deviceId', 'userId', 'person'] as const).map(field =>
      String(values[field] ?? '').trim(),
    ) as [string, string, string];
    const line = position.line ?? 0;
    if (problem !== null) refused.push({ line, deviceId, message: problem });
    else if (rows.has(deviceId)) refused.push({ line, deviceId, message: 'the file has this device twice' });
    else if (person !== '') rows.set(deviceId, { line, userId, person });
  }
  const fault = encodingFault(file, table);
  if (fault !== null) throw usage(fault.message, fault.hint ?? undefined);
  if (rows.size === 0 && refused.length === 0) throw usage(`${nameOf(file)} names no person`, words.needs);
  const bound = new Map<string, string>();
  if (rows.size > 0)
    for await (const { deviceId, userId } of itemsOf(context.registry, 'listUnmatched', {}))
      bound.set(deviceId, userId);
  const persons = new Map<string, Promise<Person | Error>>();
  const personOf = (name: string): Promise<Person | Error> => {
    const asked = persons.get(name) ?? findPerson(context.registry, name).catch((error: Error) => error);
    persons.set(name, asked);
    return asked;
  };
  for (const [deviceId, { line, userId, person }] of rows) {
    const present = bound.get(deviceId);
    if (present !== undefined && present !== userId) {
      refused.push({ line, deviceId, message: `it is now bound to ${present}, not to ${userId}` });
      continue;
    }
    const found = await personOf(person);
    if (found instanceof Error) refused.push({ line, deviceId, message: found.message });
    else {
      const { personId, userName } = found;
      matches.push({ deviceId, personId, words: `${deviceId} (${userId}) → ${userName} ${personId}` });
    }
  }
  return { matches, refused };
}
