/** How a commit writes a person: the record, its entry, and the devices that follow. */
import { personIds } from '../../src/contract/ids.ts';
import { personKey } from '../../src/contract/person-key.ts';
import type { Change } from '../store/commit.ts';
import type { Entry } from '../store/journal.ts';
import type { EntryContext } from '../store/journal-end.ts';
import type { Draft } from '../store/write/draft.ts';
import { withFields } from '../store/write/rule.ts';
import { searchTextOf } from './decisions.ts';
import { setOwned } from './device-bindings.ts';
import { personDigest } from './person-digest.ts';
import type { PersonRecord, PersonSet } from './records.ts';
import { people } from './tables.ts';

/** Changes a device of a person. */
export function apply(draft: Draft, deviceChange: Change, context: EntryContext): void {
  // PINs of devices that a leave retires are removed later: which devices these are is not known before the reads.
  if (deviceChange.kind === 'device.set') setOwned(draft, deviceChange, context);
}

/** Changes a person; the version follows. */
export function change(draft: Draft, before: PersonRecord, set: PersonSet, context: EntryContext): PersonRecord {
  const after = { ...withFields(before, set), version: before.version + 1, updatedAt: context.at };
  const record = { ...after, userKey: personKey(after.userName), search: searchTextOf(after) };
  draft.of(people).change(record);
  return record;
}

/** An entry about a person proves the record without showing it. */
export function enter(draft: Draft, person: PersonRecord, { type, data, detail }: Entry, context: EntryContext): void {
  const proved = { ...detail, personId: personIds.format(person.number), personDigest: personDigest(person) };
  draft.enter(context, { type, ...(data && { data }), detail: proved }, null, person.number);
}
