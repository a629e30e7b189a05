import type { PasskeyChange, PasskeyRecord, PasskeysGuard } from '../domain/passkey.ts';
import { type AnswerRecord, withAnswer } from '../store/read/records.ts';
import { subject } from '../store/subject.ts';
import type { Lookup } from '../store/table.ts';
import { passkeyChanges, passkeyGuards, passkeyReplay } from './rules.ts';
import { keysOfUser, passkeys } from './tables.ts';

declare module '../store/commit.ts' {
  interface SubjectChanges {
    signIn: PasskeyChange;
  }
  interface SubjectGuards {
    signIn: PasskeysGuard;
  }
}
declare module '../store/store.ts' {
  interface SubjectReads {
    passkey(number: number): Promise<PasskeyRecord | null>;
    /** The key with this credential id, also if it is removed. */
    passkeyByCredential(credentialId: string): Promise<PasskeyRecord | null>;
    /** The keys of a user that are not removed, in order of creation. */
    passkeysOf(owner: number): Promise<readonly PasskeyRecord[]>;
    /** Whether the user has a key or had one that was removed. */
    hadPasskey(owner: number): Promise<boolean>;
    /** Which of these users have a key that is not removed. */
    keyOwners(users: readonly number[]): Promise<ReadonlySet<number>>;
  }
}

const ownedKeys: Lookup<PasskeyRecord, 'removedAt'> = { ...keysOfUser, select: ['removedAt'] };
const formerKeys: Lookup<PasskeyRecord, 'number'> = { table: passkeys, by: ['owner'], select: ['number'] };

/** The keys that users sign in with. */
export const signIn = subject({
  tables: [passkeys],
  changes: passkeyChanges,
  guards: passkeyGuards,
  replays: () => [{ takes: 'passkey', replay: passkeyReplay() }],
  reads: queries => ({
    passkey: number => queries.one(passkeys.byKey, number),
    passkeyByCredential: credentialId => queries.one(passkeys.unique, credentialId),
    passkeysOf: owner => queries.all(keysOfUser, owner),
    hadPasskey: owner => withAnswer(queries.many(formerKeys, [owner]), found => found.size > 0),
    keyOwners: owners =>
      withAnswer(queries.many(ownedKeys, owners), found => new Set(found.keys())) as AnswerRecord<ReadonlySet<number>>,
  }),
});
