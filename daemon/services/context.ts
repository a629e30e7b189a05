import { ApiError } from '../../src/contract/codes.ts';
import type { CallerRole } from '../../src/contract/define.ts';
import { Conflict, type UserRecord } from '../store/store.ts';

/** Who asks, as of now: roles are those of the user at this moment, not those in the token. */
export interface Caller {
  readonly role: CallerRole;
  /** Null for the role LOCAL, which is no user. */
  readonly user: UserRecord | null;
  /** When the token ends, in seconds since 1970. */
  readonly expiresAt: number;
}

/** One request as the services see it. */
export interface Context {
  readonly caller: Caller;
  readonly requestId: string;
  /** Client address, behind trusted proxies only. */
  readonly address: string;
}

export const actorOf = (context: Context): string | null => context.caller.user?.username ?? null;

const ATTEMPTS = 3;

/** Reads, decides and commits; again where another commit came between, at most three times. */
export async function retrying<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof Conflict)) throw error;
      if (tries === ATTEMPTS) throw new ApiError(500, 'others keep changing the same record; try again');
    }
  }
}
