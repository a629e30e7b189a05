import { type AnswerRecord, type ReadsOf, type RecordQueries, withAnswer } from '../store/read/records.ts';
import { subject } from '../store/subject.ts';
import type { Lookup } from '../store/table.ts';
import type { PasskeyChange, PasskeyRecord, PasskeysGuard } from './passkey.ts';
import { passkeyChanges, passkeyGuards, passkeyReplay } from './rules.ts';
import { keysOfUser, passkeys } from './tables.ts';

declare module '../store/document.ts' {
  interface SubjectDocuments {
    signIn: 'sign-in-policy';
  }
}
declare module '../store/commit.ts' {
  interface SubjectChanges {
    signIn: PasskeyChange;
  }
  interface SubjectGuards {
    signIn: PasskeysGuard;
  }
}
declare module '../store/store.ts' {
  interface SubjectReads extends ReadsOf<typeof reads> {}
}

const ownedKeys: Lookup<PasskeyRecord, 'removedAt'> = { ...keysOfUser, select: ['removedAt'] };
const formerKeys: Lookup<PasskeyRecord, 'number' | 'removedAt'> = {
  table: passkeys,
  by: ['owner'],
  select: ['number', 'removedAt'],
};

const reads = (queries: RecordQueries) => ({
  passkey: (number: number) => queries.one(passkeys.byKey, number),
  /** The key with this credential id, also if it is removed. */
  passkeyByCredential: (credentialId: string) => queries.one(passkeys.unique, credentialId),
  /** The keys of a user that are not removed, in order of creation. */
  passkeysOf: (owner: number) => queries.all(keysOfUser, owner),
  /** All keys of a user, also removed ones. */
  passkeysOwnedBy: (owner: number) => queries.all(formerKeys, owner),
  /** Whether the user has a key or had one that was removed. */
  hadPasskey: (owner: number) => withAnswer(queries.many(formerKeys, [owner]), found => found.size > 0),
  /** Which of these users have a key that is not removed. */
  keyOwners: (owners: readonly number[]) =>
    withAnswer(queries.many(ownedKeys, owners), found => new Set(found.keys())) as AnswerRecord<ReadonlySet<number>>,
});

/** The keys that users sign in with. */
export const signIn = subject({
  tables: [passkeys],
  changes: passkeyChanges,
  guards: passkeyGuards,
  replays: () => [{ takes: 'passkey', replay: passkeyReplay() }],
  reads,
});
