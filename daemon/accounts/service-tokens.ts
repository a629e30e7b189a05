import { ApiError, Code } from '../../src/contract/codes.ts';
import { serviceTokenPrefix } from '../../src/contract/values.ts';
import { insideOf } from '../base/networks.ts';
import type { ServiceTokenRecord, UserRecord } from '../requests/callers.ts';
import { type Caller, refused, Service, type ServiceParts } from '../requests/context.ts';
import type { TokenCheck } from '../requests/token-check.ts';
import type { CommitNotice, Store } from '../store/store.ts';
import { AccountCache } from './accounts.ts';
import type { LastUses } from './last-uses.ts';
import { hasLostOwner, type OwnerState, refusalOf } from './service-token.ts';
import { isServiceTokenText, serviceTokenDigest } from './service-token-text.ts';
import type { Tokens } from './tokens.ts';

interface Entry {
  readonly record: ServiceTokenRecord;
  readonly isOwnerLost: boolean;
  readonly isInside: (address: string) => boolean;
}

/** Tokens that are cached. */
const MAX_CACHED = 10_000;

/** Absent: a registry without persons. */
interface OwnerStates {
  readonly personByName?: (userName: string) => Promise<OwnerState | null>;
}

/** Dependencies of the check. */
interface ServiceTokensParts
  extends ServiceParts<
    Pick<Store, 'serviceTokenByDigest' | 'user' | 'userByName' | 'onCommit' | 'behind'> & OwnerStates
  > {
  readonly lastUses: Pick<LastUses, 'note'>;
}

/**
 * Checks service tokens. A token that was found is cached until a token or a user is changed; see `Accounts` for other daemons. One that is
 * refused because of its owner is not: the person of the owner may be back.
 */
export class ServiceTokens extends Service<ServiceTokensParts> {
  /** By digest, so that no text of a token stays in memory. */
  readonly #cache: AccountCache<string, Entry>;

  constructor(parts: ServiceTokensParts) {
    super(parts);
    const changed = ({ serviceTokens, users, everything }: CommitNotice) =>
      everything || serviceTokens.length || users.length ? null : [];
    const read = async (digest: string): Promise<Entry | null> => {
      const record = await parts.store.serviceTokenByDigest(digest);
      if (!record) return null;
      const isInside = record.allowedFrom === null ? anywhere : insideOf(record.allowedFrom);
      const owner = await ownerOf(parts.store, record);
      const known = { ...record, owner: owner?.number ?? null };
      return { record: known, isInside, isOwnerLost: await isOwnerLost(parts.store, owner) };
    };
    this.#cache = new AccountCache(parts.store, read, changed, MAX_CACHED, known => !known.isOwnerLost);
  }

  /** The caller to whom the token belongs. Refuses with 1004 or 1005. `address` is that of the client. */
  async check(text: string, address: string): Promise<Caller> {
    return this.checkDigest(digestOf(text), address);
  }

  /** Like `check`, for the token whose text has this SHA-256. */
  async checkDigest(digest: string, address: string): Promise<Caller> {
    const known = await this.#cache.get(digest);
    if (!known) throw invalid();
    return this.#callerOf(known, address);
  }

  /** Like `check`, but synchronous; null if the token is not cached: then call `check`. */
  checkNow(text: string, address: string): Caller | null {
    const known = this.#cache.peek(digestOf(text));
    return known ? this.#callerOf(known, address) : null;
  }

  #callerOf({ record, isInside, isOwnerLost }: Entry, address: string): Caller {
    const refusal = refusalOf(record, this.now(), { isInside: isInside(address), isOwnerLost });
    if (refusal) throw refused(refusal);
    this.parts.lastUses.note(record.number);
    const { role, createdAt, expiresAt } = record;
    return { role, user: null, serviceToken: record, expiresAt: expiresAt / 1000, loginAt: createdAt / 1000 };
  }
}

/** The user with whose account a token ends; null if that is unknown. */
export const ownerOf = (
  store: Pick<Store, 'user' | 'userByName'>,
  { owner, createdBy }: Pick<ServiceTokenRecord, 'owner' | 'createdBy'>,
): Promise<UserRecord | null> => (owner === null ? store.userByName(createdBy) : store.user(owner));

/** Whether a token ends with this owner. */
export const isOwnerLost = async (
  store: Pick<Store, 'user'> & OwnerStates,
  owner: UserRecord | null,
): Promise<boolean> => hasLostOwner(owner, (owner && (await store.personByName?.(owner.userKey))) ?? null);

const anywhere = () => true;
const invalid = () => new ApiError(Code.tokenInvalid, 'the service token is invalid');

function digestOf(text: string): string {
  if (!isServiceTokenText(text)) throw invalid();
  return serviceTokenDigest(text);
}

/** Accepts the tokens of logins and service tokens alike. The prefix of a token identifies its kind. */
export const authentication = (logins: Tokens, services: ServiceTokens): TokenCheck => ({
  // The address of a request is found when it is read: logins do not need it.
  check: (token, client) => (isServiceToken(token) ? services.check(token, client.ip) : logins.check(token)),
  checkNow: (token, client) => (isServiceToken(token) ? services.checkNow(token, client.ip) : logins.checkNow(token)),
});

const isServiceToken = (token: string): boolean => token.startsWith(serviceTokenPrefix);
