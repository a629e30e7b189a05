/** The questions that sign-ins ask of single sign-on. */
import type { UserRecord } from '../requests/callers.ts';

/** Judges sign-ins with a password or a key. */
export interface LocalJudge {
  /** Refuses with 2007 a sign-in without the provider that the settings do not allow. */
  demandLocal(user: UserRecord, address: string): Promise<void>;
}

/** Judges the sessions that came from the provider. */
export interface SessionJudge {
  /** Checks the session now, before it is renewed. Rejects with `ProviderAway`. */
  demand(user: number, id: string): Promise<void>;
}
