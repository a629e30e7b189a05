/** The questions that sign-ins ask of single sign-on. */
import type { UserRecord } from '../requests/callers.ts';
import type { Guard } from '../store/commit.ts';

/** Judges sign-ins with a password or a key. */
export interface LocalJudge {
  /** Refuses with 2007 a sign-in without the provider that the settings do not allow. */
  demandLocal(user: UserRecord, address: string): Promise<void>;
}

/** Judges sign-ins with a key alone, which has verified the person. */
export interface KeyJudge {
  /**
   * Id of the session that the key of a HOLDER opens without the provider; undefined for a local account. Refuses with 2007 what the
   * settings do not allow, and every other account of a provider.
   */
  admitKey(user: UserRecord, credentialId: string, address: string): Promise<string | undefined>;
}

/** Judges the sessions that came from the provider. */
export interface SessionJudge {
  /** Checks the session now, before it is renewed. Rejects with `ProviderAway`. */
  demand(user: number, id: string): Promise<void>;
}

/** A person of the registry, as a sign-in at the provider finds one. */
export interface KnownPerson {
  readonly number: number;
  /** `personKey` of the user name. */
  readonly userKey: string;
  readonly active: boolean;
  /** `erasure`: the registry no longer knows who it was. */
  readonly endedBy: string | null;
}

/** Finds the persons of the registry. Null if there is none. */
export interface PersonFinder {
  named(userName: string): Promise<KnownPerson | null>;
  numbered(person: number): Promise<KnownPerson | null>;
  /** Demands of a commit that the person is active. */
  presence(person: KnownPerson): Guard;
}

/** Knows which person an account of a provider is that of. */
export interface HolderLinks {
  /** Number of the person; null if the account is that of none. */
  holderOf(user: UserRecord): Promise<number | null>;
}
