/** `enroll --roster`: opens what a run needs, and lets it go at the end. */
import { dirname } from 'node:path';
import type { Person } from '../../../../enrollment/line/people.ts';
import { type Context, notify } from '../../../framework/context.ts';
import { personsOf } from '../../../framework/persons.ts';
import { homeFile, lockRunIfPossible } from '../../../jobs/run-lock.ts';
import type { FileLock } from '../../../settings/file-lock.ts';
import { makeFolder } from '../../../settings/files.ts';
import { withOpened } from '../enroll/enroll-run.ts';
import { readGroup, readRoster } from './people.ts';
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
    return await withOpened(context, options, true, async ({ file, outbox, lacking, skipped }) => {
      const bound = file === null || dryRun ? [] : await file.bound();
      const counting = bound.filter(({ serialNumber }) => !lacking.has(serialNumber));
      return new RosterRun(context, options, { people, file, bound: counting, skipped, outbox }).run();
    });
  } finally {
    reader?.release();
  }
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
  const file = homeFile(context, 'readers', [address]);
  try {
    makeFolder(dirname(file));
  } catch {
    // A home that is not writable has no lock either.
  }
  const name = `the keys of ${address} for a roster`;
  return lockRunIfPossible({ file, name, hint: 'wait until it ends, or end it' });
}
