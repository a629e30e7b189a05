/**
 * `enroll --roster`: reads who gets keys, from a CSV file that is checked as a whole before the first key, or from a group; opens what a
 * run needs, and lets it go at the end.
 */
import { readBoundUser } from '../../../../contract/readers.ts';
import { deviceTypes } from '../../../../contract/values.ts';
import type { Person } from '../../../../enrollment/line/people.ts';
import { type RosterFault, RosterReader, rosterBounds } from '../../../../enrollment/line/roster.ts';
import type { EnrollmentOutcome } from '../../../../enrollment/outcome.ts';
import { readCsv } from '../../../../tables/csv.ts';
import { fewOf } from '../../../../tables/text.ts';
import type { Client } from '../../../client/client.ts';
import { itemsOf } from '../../../client/pages.ts';
import { count } from '../../../count.ts';
import { Fault, usage } from '../../../fault.ts';
import { type Context, notify } from '../../../framework/context.ts';
import { personsOf } from '../../../framework/persons.ts';
import { type InputSource, inputText, nameOf, unreadable } from '../../../jobs/input-file.ts';
import { lockInHome } from '../../../jobs/run-lock.ts';
import type { FileLock } from '../../../settings/file-lock.ts';
import { safe } from '../../../terminal/text.ts';
import { shorten } from '../../../terminal/width.ts';
import { withOpened } from '../enroll/enroll-run.ts';
import type { BoundKey } from '../enroll/results.ts';
import type { SpoolOutbox } from '../spool/outbox.ts';
import { type RosterOptions, RosterRun } from './run.ts';

/** Resolves to the exit code: 7 if people were skipped. Exit code 10 if no key comes in time. */
export async function enrollRoster(context: Context, options: RosterOptions): Promise<number> {
  const { roster, group, encoding, type, dryRun } = options;
  const source = { file: roster, stdin: context.io.stdin, encoding };
  const read =
    group === null ? await readRoster(source, text => notify(context, text)) : await readGroup(context.registry, group);
  const names = await namesOf(context, read);
  const people = read.map(person => ({
    ...person,
    name: person.name ?? names.get(person.userId)?.name ?? null,
    type: person.type ?? type,
  }));
  const reader = await lockReader(context);
  try {
    return await withOpened(context, options, true, async ({ file, outbox, lacking, skipped, bindings, settled }) => {
      const inFile = file === null || dryRun ? [] : await file.bound();
      const counting = inFile.filter(({ serialNumber }) => !lacking.has(serialNumber));
      const bound = [...counting, ...begunKeys(counting, settled, outbox)];
      const code = await new RosterRun(context, options, { people, file, bound, skipped, outbox, bindings }).run();
      bindings?.end();
      return code;
    });
  } finally {
    reader?.release();
  }
}

/** Keys that an earlier run has begun and that its file lacks: they are finished now, or wait in the spool file. */
function begunKeys(
  counting: readonly BoundKey[],
  settled: readonly EnrollmentOutcome[],
  outbox: SpoolOutbox | null,
): readonly BoundKey[] {
  const known = new Set(counting.map(({ serialNumber }) => serialNumber));
  const finished = settled.flatMap(({ serialNumber, userId, deviceType, status, result }) =>
    serialNumber === null || userId === null || status !== 'ACTIVE' || result === 'conflict' || result === 'failed'
      ? []
      : [{ serialNumber, userId, deviceType }],
  );
  return [...finished, ...(outbox?.waitingKeys ?? [])].filter(({ serialNumber }) => !known.has(serialNumber));
}

/** Names that are looked up: each hundred is a request. */
const mostNames = 2_000;

/** The persons of the rows without a name: they are shown, and a badge with the name is theirs. */
function namesOf({ registry }: Context, people: readonly Person[]) {
  const unnamed = people.flatMap(({ userId, name }) => (name === null ? [userId] : []));
  return personsOf(registry, unnamed.slice(0, mostNames));
}

/** A second run at the same reader would give the key to another person as well. */
async function lockReader(context: Context): Promise<FileLock | null> {
  const address = await context.hardware.address();
  return lockInHome(context, 'readers', [address], `the keys of ${address} for a roster`);
}

const columnsHint = 'the columns are userId, name, count and type; only userId is required';

/**
 * The people of the file, in its order. `encoding`: see `encodingOf`. `notice` gets the columns that are not used. Throws a usage fault
 * that names the first invalid line.
 */
async function readRoster(
  { file, stdin, encoding }: InputSource,
  notice: (text: string) => void,
): Promise<readonly Person[]> {
  const name = nameOf(file);
  const roster = new RosterReader();
  const invalid = (line: number, [problem, hint]: Words) => usage(`${name}, line ${line}: ${problem}`, hint ?? null);
  try {
    const refuse = (fault: Fault) => {
      throw fault;
    };
    for await (const record of readCsv(inputText({ file, stdin, encoding }, refuse))) {
      if ('problem' in record) throw invalid(record.line, [record.problem]);
      const fault = roster.add(record.line, record.cells);
      if (fault !== null) throw invalid(record.line, wordsOf(fault));
    }
  } catch (error) {
    throw unreadable(file, error);
  }
  if (roster.people.length === 0)
    throw usage(`${name} has no people: it ${roster.hasHeader ? 'has only a header row' : 'is empty'}`, columnsHint);
  if (roster.unused.length > 0) {
    const names = shorten(safe(fewOf(roster.unused.map(cellName))), longestList, 'end');
    notice(`Columns of ${safe(name)} that are not used: ${names}. ${columnsHint.replace('the', 'The')}.`);
  }
  return roster.people;
}

/** Columns of the screen. A file that is not text has control characters, which take several each. */
const longestList = 200;
const cellName = (cell: string): string => cell.trim() || '(empty)';

/** A problem, and the hint for it. */
type Words = readonly [problem: string, hint?: string];

function wordsOf(fault: RosterFault): Words {
  switch (fault.what) {
    case 'column twice':
      return [`two columns for ${fault.column}`, 'remove one of them'];
    case 'column missing':
      return ['the column userId is missing', columnsHint];
    case 'cells':
      return [
        `it has ${fault.found} cells, the header row ${fault.expected}: does a cell contain a comma and no quotes?`,
      ];
    case 'userId':
      return [userIdWords(fault.text)];
    case 'name':
      return [`name has more than ${rosterBounds.name} characters`];
    case 'type':
      return [`type must be ${deviceTypes.join(' or ')}`];
    case 'count':
      return [`count must be a whole number from 1 to ${rosterBounds.keys}`];
    case 'person twice':
      return [
        `${safe(fault.userId)} is already in line ${fault.earlier}${fault.type === null ? '' : ` with type ${fault.type}`}`,
        'give several keys of one type with the column count',
      ];
    case 'lines':
      return [`a roster has at most ${count(rosterBounds.lines)} lines`, 'split it into several files'];
  }
}

/** In the words of the registry, which refuses it, too. */
function userIdWords(userId: string): string {
  const outcome = readBoundUser({ userId });
  return outcome.ok ? 'userId is not valid' : outcome.message;
}

/** The active members of a group, in the order in which they were added: a key for each. A fault if there are none. */
async function readGroup(registry: Client, group: string): Promise<readonly Person[]> {
  const roster = new RosterReader();
  let line = 1;
  roster.add(line, ['userId', 'name']);
  const query = { group, active: true, sortOrder: 'asc' } as const;
  for await (const { userName, name } of itemsOf(registry, 'listPeople', { query }))
    if (roster.add(++line, [userName, name ?? '']) !== null)
      throw usage(`the group "${group}" cannot be a roster: ${userName}`, 'use --roster with a file');
  if (roster.people.length > 0) return roster.people;
  throw new Fault('absent', `the group "${group}" has no active member`, 'see: devmgr people list');
}
