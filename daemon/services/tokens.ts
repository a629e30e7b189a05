import { randomBytes } from 'node:crypto';
import { createSigner, createVerifier, TokenError } from 'fast-jwt';
import { ApiError } from '../../src/contract/codes.ts';
import { userIds } from '../../src/contract/ids.ts';
import { tokenSeconds } from '../../src/contract/limits.ts';
import type { UserRecord } from '../store/store.ts';
import type { Accounts } from './accounts.ts';
import type { Caller } from './context.ts';

export interface IssuedToken {
  readonly token: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

interface Claims {
  readonly sub: string;
  readonly username: string;
  readonly role: string;
  readonly exp: number;
  readonly iat: number;
  readonly jti: string;
  /** `tokenEpoch` of the user at the time of issue. */
  readonly epoch: number;
}

interface Verified {
  readonly user: number | null;
  readonly epoch: number;
  readonly expiresAt: number;
}

/** Tokens whose signature has been checked are remembered up to this many (measured: 20 µs saved a request). */
const REMEMBERED = 10_000;

/** Signs and checks JWTs (HS256). Whether a user may still come in is asked anew at each check. */
export class Tokens {
  readonly #accounts: Accounts;
  readonly #now: () => number;
  #sign!: (claims: Record<string, unknown>) => string;
  #verify!: readonly ((token: string) => Claims)[];
  readonly #known = new Map<string, Verified>();

  /** The first key signs; all of them check. */
  constructor(signingKeys: readonly [Uint8Array, ...Uint8Array[]], accounts: Accounts, now: () => number) {
    this.#accounts = accounts;
    this.#now = now;
    this.useKeys(signingKeys);
  }

  useKeys(keys: readonly [Uint8Array, ...Uint8Array[]]): void {
    this.#known.clear();
    this.#sign = createSigner({ key: Buffer.from(keys[0]), algorithm: 'HS256' }) as (
      claims: Record<string, unknown>,
    ) => string;
    // The expiry is checked at each use and against the injected clock, not here.
    this.#verify = keys.map(
      key =>
        createVerifier({ key: Buffer.from(key), algorithms: ['HS256'], ignoreExpiration: true, cache: false }) as (
          token: string,
        ) => Claims,
    );
  }

  issue(user: UserRecord): IssuedToken {
    return this.#issue({
      sub: userIds.format(user.number),
      username: user.username,
      role: user.role,
      epoch: user.tokenEpoch,
    });
  }

  /** For programs of the same user on this machine: hardware alone. */
  issueLocal(): IssuedToken {
    return this.#issue({ sub: 'LOCAL', username: 'local', role: 'LOCAL', epoch: 0 });
  }

  /** Who holds the token now. Refuses with 1004 or 1005. */
  async check(token: string): Promise<Caller> {
    const verified = this.#verified(token);
    return this.#holder(token, verified, verified.user === null ? null : await this.#accounts.get(verified.user));
  }

  /** The same without waiting; null where the store has to be asked, for which there is `check`. */
  checkNow(token: string): Caller | null {
    const verified = this.#verified(token);
    if (verified.user === null) return this.#holder(token, verified, null);
    const user = this.#accounts.peek(verified.user);
    return user ? this.#holder(token, verified, user) : null;
  }

  /** What a token that has not expired says. */
  #verified(token: string): Verified {
    const verified = this.#known.get(token) ?? this.#remember(token);
    if (verified.expiresAt * 1000 > this.#now()) return verified;
    this.#known.delete(token);
    throw new ApiError(1005, 'the token has expired; log in again');
  }

  #holder(token: string, { user: number, epoch, expiresAt }: Verified, user: UserRecord | null): Caller {
    if (number === null) return { role: 'LOCAL', user: null, expiresAt };
    if (user && !user.disabled && user.tokenEpoch === epoch) return { role: user.role, user, expiresAt };
    this.#known.delete(token);
    throw new ApiError(1004, 'the token is no longer good; log in again');
  }

  #issue(claims: Omit<Claims, 'iat' | 'exp' | 'jti'>): IssuedToken {
    const iat = Math.floor(this.#now() / 1000);
    const exp = iat + tokenSeconds;
    const token = this.#sign({ ...claims, iat, exp, jti: randomBytes(12).toString('base64url') });
    return { token, expiresAt: exp * 1000 };
  }

  #remember(token: string): Verified {
    const claims = this.#claims(token);
    const user = claims.sub === 'LOCAL' ? null : userIds.parse(claims.sub);
    if (typeof claims.exp !== 'number' || (user === null && claims.sub !== 'LOCAL')) throw invalid();
    const verified = { user, epoch: claims.epoch, expiresAt: claims.exp };
    if (this.#known.size >= REMEMBERED) this.#known.delete(this.#known.keys().next().value!);
    this.#known.set(token, verified);
    return verified;
  }

  #claims(token: string): Claims {
    for (const verify of this.#verify) {
      try {
        const claims: unknown = verify(token);
        if (typeof claims === 'object' && claims !== null && typeof (claims as Claims).sub === 'string')
          return claims as Claims;
      } catch (error) {
        if (!(error instanceof TokenError)) throw error;
      }
    }
    throw invalid();
  }
}

const invalid = () => new ApiError(1004, 'the token is invalid; log in again');
