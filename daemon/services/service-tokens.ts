import { ApiError, Code } from '../../src/contract/codes.ts';
import { refusalOf, type ServiceTokenRecord } from '../domain/service-token.ts';
import { insideOf } from '../networks.ts';
import type { CommitNotice, Store } from '../store/store.ts';
import { AccountCache } from './accounts.ts';
import { type Caller, refused } from './context.ts';
import type { LastUses } from './last-uses.ts';
import { isServiceTokenText, serviceTokenDigest } from './service-token-text.ts';

interface ServiceTokensKnown {
  readonly record: ServiceTokenRecord;
  readonly isInside: (address: string) => boolean;
}

/** Tokens that are cached. */
const MAX_CACHED = 10_000;

/** Dependencies of the check. */
interface ServiceTokensParts {
  readonly store: Pick<Store, 'serviceTokenByDigest' | 'onCommit' | 'behind'>;
  readonly lastUses: Pick<LastUses, 'note'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Checks service tokens. A token that was found is cached until a token is created or revoked; see `Accounts` for other daemons. */
export class ServiceTokens {
  readonly #parts: ServiceTokensParts;
  /** By digest, so that no text of a token stays in memory. */
  readonly #cache: AccountCache<string, ServiceTokensKnown>;

  constructor(parts: ServiceTokensParts) {
    this.#parts = parts;
    const changed = ({ serviceTokens, everything }: CommitNotice) => (everything || serviceTokens.length ? null : []);
    const read = async (digest: string) => {
      const record = await parts.store.serviceTokenByDigest(digest);
      return record && { record, isInside: record.allowedFrom === null ? anywhere : insideOf(record.allowedFrom) };
    };
    this.#cache = new AccountCache(parts.store, read, changed, MAX_CACHED);
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

  #callerOf({ record, isInside }: ServiceTokensKnown, address: string): Caller {
    const { now, lastUses } = this.#parts;
    const refusal = refusalOf(record, now(), isInside(address));
    if (refusal) throw refused(refusal);
    lastUses.note(record.number);
    const { role, createdAt, expiresAt } = record;
    return { role, user: null, serviceToken: record, expiresAt: expiresAt / 1000, loginAt: createdAt / 1000 };
  }
}

const anywhere = () => true;
const invalid = () => new ApiError(Code.tokenInvalid, 'the service token is invalid');

function digestOf(text: string): string {
  if (!isServiceTokenText(text)) throw invalid();
  return serviceTokenDigest(text);
}
