import { ApiError } from '../../src/contract/codes.ts';
import type { CallerRole } from '../../src/contract/values.ts';
import { Refusal } from '../domain/decision.ts';
import { localHolder, tokenHolder, userHolder } from '../domain/holder.ts';
import { actorName, type ServiceTokenRecord } from '../domain/service-token.ts';
import type { UserRecord } from '../domain/user.ts';
import { type Commit, Conflict } from '../store/store.ts';

/** Who makes a request. The role is the user's at this moment, not the one in the token. */
export interface Caller {
  readonly role: CallerRole;
  /** Null for a service token and for the role LOCAL, which are not users. */
  readonly user: UserRecord | null;
  /** Null for a user and for the role LOCAL. */
  readonly serviceToken: ServiceTokenRecord | null;
  /** When the token expires, in seconds since 1970. */
  readonly expiresAt: number;
  /** When the user logged in, in seconds since 1970. A renewed token has the time of the first one; a service token that of its creation. */
  readonly loginAt: number;
}

/** A request as the services see it. */
export interface Context {
  readonly caller: Caller;
  readonly requestId: string;
  /** Address of the client; a forwarded one only if it comes from a trusted proxy. */
  readonly address: string;
}

/** Name of a user or service token; null for the role LOCAL. */
export function nameOf({ user, serviceToken }: Caller): string | null {
  return user?.username ?? (serviceToken ? actorName(serviceToken) : null);
}

/** Name of the user or service token that makes the request; null for the role LOCAL. */
export const actorOf = (context: Context): string | null => nameOf(context.caller);

/** Who a caller's rate limits and streams are counted for. */
export function holderOf({ user, serviceToken }: Caller): string {
  if (user) return userHolder(user.number);
  return serviceToken ? tokenHolder(serviceToken.number) : localHolder;
}

/** The parts of a commit that say when and on whose behalf it is made. */
export const originOf = (context: Context, at: number): Pick<Commit, 'at' | 'actor' | 'requestId'> => ({
  at,
  actor: actorOf(context),
  requestId: context.requestId,
});

/** The error that a refusal of the domain is reported with. */
export const refused = ({ code, message }: Refusal): ApiError => new ApiError(code, message);

/** Returns what the domain has decided; throws its refusal as an `ApiError`. */
export function accept<T>(decided: T | Refusal): T {
  if (decided instanceof Refusal) throw refused(decided);
  return decided;
}

const ATTEMPTS = 3;

/** Reads, decides and commits; tries again after a `Conflict`, at most three times in all. Then refuses with 500. */
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
