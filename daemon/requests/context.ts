import { ApiError, Code } from '../../src/contract/codes.ts';
import { deviceIds, tokenIds, userIds } from '../../src/contract/ids.ts';
import { type CallerRole, permissionsWithoutRole } from '../../src/contract/values.ts';
import { retry } from '../../src/delivery/retry.ts';
import { schedules } from '../../src/delivery/schedules.ts';
import { Refusal } from '../base/decision.ts';
import type { Clock } from '../base/time.ts';
import { type CallerGuard, versionOfSession } from '../store/caller.ts';
import { CallerRefused, type ChangeResult, type Commit, Conflict, type ResponsePart } from '../store/commit.ts';
import type { Store } from '../store/store.ts';
import type { UserRecord } from './callers.ts';
import { actorName, localHolder, type ServiceTokenRecord, tokenHolder, userHolder } from './callers.ts';
import { RetryLater } from './limiter.ts';

/** Dependencies that nearly every service has. `S`: the reads that it needs. */
export interface ServiceParts<S = Store> extends Clock {
  readonly store: S;
}

/** A class with what it depends on. */
export abstract class WithParts<P> {
  protected readonly parts: P;

  constructor(parts: P) {
    this.parts = parts;
  }
}

/** A service of the registry. */
export abstract class Service<P extends ServiceParts<unknown> = ServiceParts> extends WithParts<P> {
  protected readonly store: P['store'];

  constructor(parts: P) {
    super(parts);
    this.store = parts.store;
  }

  /** Milliseconds since 1970. */
  protected now(): number {
    return this.parts.now();
  }
}

/** How a session was opened. It is in the claims of its tokens. */
export interface Session {
  /** When the person last gave a password or a key, in seconds since 1970; 0 if the provider does not say. */
  readonly signedInAt: number;
  /** Whether a page in a browser keeps the token. */
  readonly console: boolean;
  /** Whether a security key was used. */
  readonly withKey: boolean;
  /** Whether the token may do nothing but register a security key. */
  readonly mustRegisterKey: boolean;
  /** Id of the session at the provider that it came from; absent for a local sign-in. */
  readonly sso?: string | undefined;
}

/** Who makes a request. The role is the user's at this moment, not the one in the token. */
export interface Caller {
  readonly role: CallerRole;
  /** Null for a service token and for the role LOCAL, which are not users. */
  readonly user: UserRecord | null;
  /** Null for a user and for the role LOCAL. */
  readonly serviceToken: ServiceTokenRecord | null;
  /** When the token expires, in seconds since 1970. */
  readonly expiresAt: number;
  /** Seconds since 1970 of the user's login. A renewed token has that of the first one; a service token that of its creation. */
  readonly loginAt: number;
  /** Of a user; absent for a service token and for the role LOCAL. */
  readonly session?: Session;
}

/** A request as the services see it. */
export interface Context {
  readonly caller: Caller;
  readonly requestId: string;
  /** Address of the client; a forwarded one only if it comes from a trusted proxy. */
  readonly address: string;
  /** Present if the request has an idempotency key. */
  readonly keyed?: KeyedRequest | undefined;
  /** Present if the request changes a device only in this version. */
  readonly version?: number | undefined;
}

/** A request whose response is stored in the commit that carries it out. */
export interface KeyedRequest {
  /** The response that the commit stores. `data` makes the data of the response, or throws the `ApiError` of a refusal. */
  part(data: (results: readonly ChangeResult[]) => unknown): ResponsePart;
  /** Called when the commit has succeeded. */
  committed(): void;
}

/** 429: the first request with the same idempotency key is not finished. */
export class StillRunning extends RetryLater {
  constructor() {
    super('the first request with this Idempotency-Key is still running', 1);
  }
}

/** 412: the device has another version than the request names. */
export class VersionChanged extends ApiError {
  /** The version that it has. */
  readonly version: number;
  constructor({ number, version }: { readonly number: number; readonly version: number }) {
    super(412, `device ${deviceIds.format(number)} was changed: it has version ${version} now. Read it again`);
    this.version = version;
  }
}

/**
 * Refuses with 2007 a service token for doors, hosts or a provider of persons: its permissions need no role, so with the role VIEWER it
 * does not read what people with that role do.
 */
export function refuseConfined({ serviceToken }: Pick<Caller, 'serviceToken'>): void {
  if (serviceToken?.role !== 'VIEWER' || !serviceToken.may.some(one => permissionsWithoutRole.includes(one))) return;
  const may = serviceToken.may.join(', ');
  throw new ApiError(Code.noPermission, `this service token is for ${may} alone: use one without these permissions`);
}

/** Name of a user or service token; null for the role LOCAL. */
export function nameOf({ user, serviceToken }: Caller): string | null {
  return user?.username ?? (serviceToken ? actorName(serviceToken) : null);
}

/** Name of the user or service token that makes the request; null for the role LOCAL. */
export const actorOf = (context: Context): string | null => nameOf(context.caller);

/** Id of the user or service token that makes the request, because a name can be used again; null for the role LOCAL. */
export function idOf({ caller: { user, serviceToken } }: Context): string | null {
  if (user) return userIds.format(user.number);
  return serviceToken ? tokenIds.format(serviceToken.number) : null;
}

/** Who a caller's rate limits and streams are counted for. */
export function holderOf({ user, serviceToken }: Caller): string {
  if (user) return userHolder(user.number);
  return serviceToken ? tokenHolder(serviceToken.number) : localHolder;
}

/** The state of the caller that the commit requires; undefined for the role LOCAL, whose tokens cannot be revoked. */
function guardOf({ user, serviceToken, session }: Caller): CallerGuard | undefined {
  if (user) {
    const ssoSessions = session?.sso === undefined ? undefined : versionOfSession(session.sso);
    return { kind: 'user', user: user.number, tokenEpoch: user.tokenEpoch, role: user.role, ssoSessions };
  }
  return serviceToken ? { kind: 'service-token', token: serviceToken.number, owner: serviceToken.owner } : undefined;
}

/**
 * Makes a commit on behalf of the caller of a request. Another daemon may have revoked the token since it was checked here: then
 * refuses with 1004, and with 2007 if the user has another role now.
 */
export const commitFor = (
  store: Pick<Store, 'commit'>,
  context: Context,
  what: Omit<Commit, 'actor' | 'requestId' | 'caller'>,
): Promise<readonly ChangeResult[]> => store.commit(onBehalfOf(context, what)).catch(refuseCaller);

const onBehalfOf = (context: Context, what: Omit<Commit, 'actor' | 'requestId' | 'caller'>): Commit => ({
  at: what.at,
  actor: actorOf(context),
  requestId: context.requestId,
  changes: what.changes,
  guards: what.guards,
  caller: guardOf(context.caller),
  response: what.response,
});

function refuseCaller(error: unknown): never {
  if (!(error instanceof CallerRefused)) throw error;
  if (error.lost === 'role') throw new ApiError(Code.noPermission, 'your role was changed; try again');
  throw new ApiError(Code.tokenInvalid, 'the token is no longer valid; log in again');
}

/** The time of the record that a commit has added, or of the use it has recorded: `at`, unless the store has raised it. */
export const timeOf = (result: ChangeResult | undefined, at: number): number =>
  (result && 'at' in result ? result.at : undefined) ?? at;

/**
 * Makes the commit that ends a request, and returns what `data` makes of its results. If the request has an idempotency key, its
 * response is stored in the same commit. `data` must not have side effects: it may run inside the transaction, and more than once.
 */
export function commitLast<T>(
  store: Pick<Store, 'commit'>,
  context: Context,
  what: Pick<Commit, 'at' | 'changes' | 'guards'>,
  data: (results: readonly ChangeResult[]) => T,
): Promise<T> {
  const { keyed } = context;
  // Most requests have no key: a promise less is 1 % of a registration.
  return keyed
    ? commitKeyed(store, context, what, data, keyed)
    : store.commit(onBehalfOf(context, what)).then(data, refuseCaller);
}

async function commitKeyed<T>(
  store: Pick<Store, 'commit'>,
  context: Context,
  what: Pick<Commit, 'at' | 'changes' | 'guards'>,
  data: (results: readonly ChangeResult[]) => T,
  keyed: KeyedRequest,
): Promise<T> {
  let made: T | undefined;
  const response = keyed.part(results => {
    made = undefined;
    made = data(results);
    return made;
  });
  const results = await commitFor(store, context, { ...what, response });
  keyed.committed();
  return made ?? data(results);
}

/** The error that a refusal of the domain is reported with. */
export const refused = ({ code, message, details }: Refusal): ApiError => new ApiError(code, message, null, details);

/** Returns what the domain has decided; throws its refusal as an `ApiError`. */
export function accept<T>(decided: T | Refusal): T {
  if (decided instanceof Refusal) throw refused(decided);
  return decided;
}

/** Reads, decides and commits; tries again after a `Conflict`, as often as its schedule allows. Then refuses with 500. */
export const retrying = <T>(attempt: () => Promise<T>): Promise<T> =>
  retry(attempt, async (error, failures) => {
    if (!(error instanceof Conflict)) throw error;
    if (failures === schedules.conflict.retries)
      throw new ApiError(500, 'other requests keep changing the same record; try again');
  });
