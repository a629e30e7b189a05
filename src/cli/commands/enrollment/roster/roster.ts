/**
 * `enroll --roster`: reads who gets keys, from a CSV file that is checked as a whole before the first key, or from a group; opens what a
 * run needs, and lets it go at the end.
 */
import { readBoundUser } from '../../../../contract/readers.ts';
import { deviceTypes } from '../../../../contract/values.ts';
import { type Person, readUserId } from '../../../../enrollment/line/people.ts';
import { type Roster, type RosterFault, readRoster, rosterBounds } from '../../../../enrollment/line/roster.ts';
import type { EnrollmentOutcome } from '../../../../enrollment/outcome.ts';
import { personFields } from '../../../../tables/fields.ts';
import { openPersons } from '../../../../tables/persons.ts';
import type { Client } from '../../../client/client.ts';
import { itemsOf } from '../../../client/pages.ts';
import { count } from '../../../count.ts';
import { Fault, usage } from '../../../fault.ts';
import { type Context, notify } from '../../../framework/context.ts';
import { personsOf } from '../../../framework/persons.ts';
import { nameOf } from '../../../jobs/input-file.ts';
import { lockInHome } from '../../../jobs/run-lock.ts';
import { bytesOf, encodingFault, readable, type TableWords } from '../../../jobs/table-file.ts';
import { keepMap, tableChoices } from '../../../jobs/table-flags.ts';
import { previewTable } from '../../../jobs/table-preview.ts';
import type { FileLock } from '../../../settings/file-lock.ts';
import { safe } from '../../../terminal/text.ts';
import { withOpened } from '../enroll/enroll-run.ts';
import type { BoundKey } from '../enroll/results.ts';
import type { SpoolOutbox } from '../spool/outbox.ts';
import { type RosterOptions, RosterRun } from './run.ts';

/** Resolves to the exit code: 7 if people were skipped. Exit code 10 if no key comes in time. */
export async function enrollRoster(context: Context, options: RosterOptions): Promise<number> {
  const { group, type, dryRun } = options;
  const read = group === null ? await readFile(context, options) : await readGroup(context.registry, group);
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

const words: TableWords = {
  none: 'has no people',
  needs: 'the columns are userId, name, count, type and printedNumber; only userId is required',
  flagOf: {},
};

/**
 * The people of the file, in its order; those whom it marks as gone, and rows that repeat one, are named. Throws a usage fault that
 * names the first invalid line.
 */
async function readFile(context: Context, { roster: file, table: flags }: RosterOptions): Promise<readonly Person[]> {
  const name = nameOf(file);
  const choices = tableChoices(context, flags!, personFields);
  const source = { file, stdin: context.io.stdin };
  return readable(file, words, async () => {
    const opened = await openPersons(bytesOf(source), { ...choices, file });
    const read = await readRoster(opened);
    const unreadable = encodingFault(file, opened.table);
    if (unreadable !== null) throw unreadable;
    if ('fault' in read) {
      const [problem, hint] = wordsOf(read.fault as RosterFault);
      throw usage(`${name}, line ${read.line}: ${problem}`, hint ?? null);
    }
    previewTable(context, name, opened.table, { given: {} });
    await keepMap(context, flags!);
    for (const words of leftOutWords(read)) notify(context, safe(`${name}: ${words}`));
    if (read.people.length === 0) throw usage(`${name} has no people who can get a key`, words.needs);
    return read.people;
  });
}

/** Rows that are named. */
const mostNamed = 10;

/** Who gets no key, in words. */
function* leftOutWords({ gone, repeated }: Roster): Generator<string> {
  const named = gone.slice(0, mostNamed).map(({ line, userId, mark }) => `${userId} (line ${line}, ${mark})`);
  const more = gone.length > named.length ? `, and ${count(gone.length - named.length)} more` : '';
  if (gone.length > 0) yield `no key for persons whom the file marks as gone: ${named.join(', ')}${more}`;
  const again = repeated.slice(0, mostNamed).map(({ line, earlier }) => `line ${line} repeats line ${earlier}`);
  const others = repeated.length > again.length ? `, and ${count(repeated.length - again.length)} more` : '';
  if (repeated.length > 0) yield `${again.join(', ')}${others}`;
}

/** A problem, and the hint for it. */
type Words = readonly [problem: string, hint?: string];

function wordsOf(fault: RosterFault): Words {
  switch (fault.what) {
    case 'unread':
      return [fault.problem];
    case 'userId':
      return [userIdWords(fault.text)];
    case 'name':
      return [`name has more than ${rosterBounds.name} characters`];
    case 'type':
      return [`type must be ${deviceTypes.join(' or ')}`];
    case 'count':
      return [`count must be a whole number from 1 to ${rosterBounds.keys}`];
    case 'printedNumber':
      return ['printedNumber must be the number of one key: a valid serial number, and count 1'];
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
  const people: Person[] = [];
  const query = { group, active: true, sortOrder: 'asc' } as const;
  for await (const { userName, name } of itemsOf(registry, 'listPeople', { query })) {
    const userId = readUserId(userName);
    if (userId === null || people.length === rosterBounds.lines)
      throw usage(`the group "${group}" cannot be a roster: ${userName}`, 'use --roster with a file');
    people.push({ userId, name: name || null, type: null, wanted: 1 });
  }
  if (people.length > 0) return people;
  throw new Fault('absent', `the group "${group}" has no active member`, 'see: devmgr people list');
}
