/** A security key that a user signs in with: the record, its changes, and what an assertion must not repeat. Decisions only, no I/O. */
import { Code } from '../../src/contract/codes.ts';
import { userIds } from '../../src/contract/ids.ts';
import { Refusal } from '../base/decision.ts';
import type { UserRecord } from '../requests/callers.ts';
import type { Entry } from '../store/journal.ts';

/** A challenge that a key has answered. */
export interface UsedChallenge {
  readonly id: string;
  /** Milliseconds since 1970 (UTC), as all times here. */
  readonly expiresAt: number;
}

/** A registered key as it is stored. It stays stored when it is removed. */
export interface PasskeyRecord {
  /** The number in the id PSK-n: from 1, without gaps. */
  readonly number: number;
  /** Number of the user. */
  readonly owner: number;
  readonly name: string;
  /** Base64url. Unique among all keys, also removed ones. */
  readonly credentialId: string;
  /** COSE key in base64url. */
  readonly publicKey: string;
  /** Name of the site that the key was registered for: it answers to no other. */
  readonly rpId: string;
  /** How a browser reaches the key, as it has said. */
  readonly transports: readonly string[];
  /** The model as a UUID in lower case; zeros if the key does not say. */
  readonly aaguid: string;
  /** The signature counter of the last assertion; 0 if the key has none. */
  readonly signCount: number;
  readonly createdAt: number;
  /** Null if the key was never used. */
  readonly lastUsedAt: number | null;
  readonly removedAt: number | null;
  /** Ascends with each use, from 0. */
  readonly version: number;
  /** Challenges that the key has answered and that have not expired. */
  readonly used: readonly UsedChallenge[];
}

/** Fields of a new key. */
export type NewPasskey = Omit<PasskeyRecord, 'number' | 'createdAt' | 'lastUsedAt' | 'removedAt' | 'version' | 'used'>;

/** The result is `duplicate` if a key has the credential id. */
interface PasskeyAdd {
  readonly kind: 'passkey.add';
  readonly passkey: NewPasskey;
  readonly entry: Entry;
}

/** A `Conflict` if the key does not exist or is removed. */
interface PasskeyRemove {
  readonly kind: 'passkey.remove';
  readonly passkey: number;
  readonly entry: Entry;
}

/** Stores a sign-in. A `Conflict` if the version is not `before`, or the key is removed. The sign-in has an entry of its own. */
interface PasskeyUse {
  readonly kind: 'passkey.use';
  readonly passkey: number;
  readonly before: number;
  readonly signCount: number;
  readonly usedAt: number;
  readonly used: readonly UsedChallenge[];
}

/** The user has exactly these keys, by number in ascending order. Removed keys do not count. */
export interface PasskeysGuard {
  readonly kind: 'passkeys';
  readonly owner: number;
  readonly numbers: readonly number[];
}

/** Requires that the keys on which a decision is based have not changed. `keys`: all of the user, in ascending order. */
export const passkeysUnchanged = (owner: number, keys: readonly Pick<PasskeyRecord, 'number'>[]): PasskeysGuard => ({
  kind: 'passkeys',
  owner,
  numbers: keys.map(({ number }) => number),
});

/** Whether the guard holds. `present`: the numbers of the user's keys, in ascending order. */
export const guardHolds = ({ numbers }: PasskeysGuard, present: readonly number[]): boolean =>
  numbers.length === present.length && numbers.every((number, i) => number === present[i]);

/** Every change of a key. */
export type PasskeyChange = PasskeyAdd | PasskeyRemove | PasskeyUse;

/** Adds a key. The journal gets all that decides who signs in with it, so that the row can be checked against it. */
export function create(passkey: NewPasskey, { username }: Pick<UserRecord, 'username'>): PasskeyAdd {
  const { owner, name, credentialId, publicKey, rpId, aaguid } = passkey;
  const detail = { user: userIds.format(owner), username, name, credentialId, publicKey, rpId, aaguid };
  return { kind: 'passkey.add', passkey, entry: { type: 'PASSKEY_ADDED', detail } };
}

/** Removes a key permanently. `detail` goes into the journal. */
export function remove({ number, owner, name }: PasskeyRecord, detail: object = {}): PasskeyRemove {
  const entry: Entry = { type: 'PASSKEY_REMOVED', detail: { user: userIds.format(owner), name, ...detail } };
  return { kind: 'passkey.remove', passkey: number, entry };
}

/** The content of a verified assertion. */
interface Assertion {
  /** Id of the challenge that was answered. */
  readonly challenge: UsedChallenge;
  readonly signCount: number;
  readonly at: number;
}

/**
 * Stores a verified assertion. Refuses one that answers a challenge again, and one whose counter does not ascend: the key may have been
 * copied. Keys without a counter send 0.
 */
export function use(passkey: PasskeyRecord, { challenge, signCount, at }: Assertion): PasskeyUse | Refusal {
  if (passkey.removedAt !== null) return new Refusal(Code.tokenInvalid, 'removed key');
  if (passkey.used.some(({ id }) => id === challenge.id)) return new Refusal(Code.tokenInvalid, 'repeated assertion');
  const counts = signCount > 0 || passkey.signCount > 0;
  if (counts && signCount <= passkey.signCount) return new Refusal(Code.tokenInvalid, 'counter of the key went back');
  const used = [...passkey.used.filter(({ expiresAt }) => expiresAt > at), challenge];
  return { kind: 'passkey.use', passkey: passkey.number, before: passkey.version, signCount, usedAt: at, used };
}
