import { createHash, randomBytes } from 'node:crypto';
import { createSigner, createVerifier, TokenError } from 'fast-jwt';
import { ApiError, Code } from '../../src/contract/codes.ts';
import { userIds } from '../../src/contract/ids.ts';
import { sessionDays, tokenSeconds } from '../../src/contract/limits.ts';
import type { UserRecord } from '../requests/callers.ts';
import type { Caller, Session } from '../requests/context.ts';
import { keyOfSession } from '../store/caller.ts';
import type { Accounts } from './accounts.ts';
import { endOfKey, type SigningKey, type SigningKeys, wasCurrent } from './signing-keys.ts';
import { type Claims, claimsOf, sessionOf } from './token-claims.ts';

/** A signed token. */
interface IssuedToken {
  readonly token: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

/** Facts about its login in a checked token. */
export interface VerifiedToken {
  /** Null for the role LOCAL. */
  readonly user: number | null;
  readonly epoch: number;
  /** Seconds since 1970. */
  readonly expiresAt: number;
  /** Seconds since 1970. */
  readonly loginAt: number;
  /** Digest of the key that signed it. */
  readonly keyId: string;
  readonly session: Session;
}

/** Checks the sessions that came from the provider of single sign-on, by the number of the user and the id of the session. */
interface SessionGate {
  /** Whether a session was checked a moment ago. */
  isFresh(user: number, id: string): boolean;
  /** Refuses with 1004 one that has ended. */
  check(user: number, id: string): Promise<void>;
}

/** Number of tokens whose checked signature is cached; saves 20 µs a request (measured). */
const MAX_CACHED = 10_000;

/** Signs and checks JWTs (HS256). Each check also looks up whether the token's user still has access. */
export class Tokens {
  readonly #accounts: Accounts;
  readonly #now: () => number;
  readonly #sessionSeconds: number;
  #renew: (() => Promise<boolean>) | null = null;
  #gate: SessionGate | null = null;
  #current!: SigningKey;
  #sign!: (claims: Record<string, unknown>) => string;
  #verifiers!: readonly {
    readonly key: SigningKey;
    readonly id: string;
    readonly verify: (token: string) => Claims;
  }[];
  readonly #cache = new Map<string, VerifiedToken>();
  /** Daemons with the same signing key must not accept each other's local tokens: they are for the hardware of one machine. */
  readonly #process = randomBytes(12).toString('base64url');

  /** The first key signs; all of them check. No token is valid for longer than `days` after its login. */
  constructor(signingKeys: SigningKeys, accounts: Accounts, now: () => number, days: number = sessionDays.default) {
    this.#sessionSeconds = days * 24 * 60 * 60;
    this.#accounts = accounts;
    this.#now = now;
    this.useKeys(signingKeys);
  }

  /** Replaces the keys. Tokens signed with other keys are invalid from now on. Returns whether another key signs now. */
  useKeys(keys: SigningKeys): boolean {
    const before: SigningKey | undefined = this.#current;
    this.#cache.clear();
    this.#current = keys[0];
    this.#sign = createSigner({ key: Buffer.from(keys[0].key), algorithm: 'HS256' }) as (
      claims: Record<string, unknown>,
    ) => string;
    // The expiry is checked at each use, against the injected clock.
    this.#verifiers = keys.map(key => ({
      key,
      id: createHash('sha256').update(key.key).digest('base64url'),
      verify: createVerifier({
        key: Buffer.from(key.key),
        algorithms: ['HS256'],
        ignoreExpiration: true,
        cache: false,
      }) as (token: string) => Claims,
    }));
    return before !== undefined && Buffer.compare(before.key, keys[0].key) !== 0;
  }

  /**
   * A token for a user, valid for `tokenSeconds`, but not beyond the end of the session. `loginAt` is the time of the login that
   * is renewed, in seconds since 1970; absent for a new login. `session`: see there; absent for that of a program.
   */
  issue(user: UserRecord, loginAt?: number, session?: Partial<Session>): IssuedToken {
    const { username, role, tokenEpoch: epoch } = user;
    return this.#issue({ sub: userIds.format(user.number), username, role, epoch, ...claimsOf(session) }, loginAt);
  }

  /** A token for programs of the same user on this machine: it only gives access to the hardware, and only in this process. */
  issueLocal(): IssuedToken {
    return this.#issue({ sub: 'LOCAL', username: 'local', role: 'LOCAL', epoch: 0, process: this.#process });
  }

  /** `renew` is called if a token is signed with an unknown key; it resolves with whether `useKeys` was called with other keys. */
  renewWith(renew: () => Promise<boolean>): void {
    this.#renew = renew;
  }

  /** Without it, tokens of sessions that came from the provider are refused. */
  checkSessionsWith(gate: SessionGate): void {
    this.#gate = gate;
  }

  /** Who the token belongs to. Refuses with 1004 or 1005. */
  async check(token: string): Promise<Caller> {
    const verified = await this.#verifiedWithNewKeys(token);
    await this.#checkSession(verified);
    return this.#callerOf(token, verified, verified.user === null ? null : await this.#accounts.get(verified.user));
  }

  /** Like `check`, but synchronous; null if it must read something first: then call `check`. */
  checkNow(token: string): Caller | null {
    const verified = this.#unlessUnknown(token);
    if (verified === null) return null;
    if (verified.user === null) return this.#callerOf(token, verified, null);
    const { sso } = verified.session;
    if (sso !== undefined && !this.#gate?.isFresh(verified.user, sso)) return null;
    const user = this.#accounts.peek(verified.user);
    return user ? this.#callerOf(token, verified, user) : null;
  }

  /** The claims of a valid token, for `checkAgain`. */
  verified(token: string): Promise<VerifiedToken> {
    return this.#verifiedWithNewKeys(token);
  }

  /**
   * Like `check`, without the token: for the claims of a token that was checked before, here or by another daemon of the
   * registry.
   */
  async checkAgain(verified: VerifiedToken): Promise<Caller> {
    const isKnown = () => this.#verifiers.some(({ id }) => id === verified.keyId);
    if (!isKnown()) await this.#renew?.();
    if (!isKnown()) throw invalid();
    if (verified.expiresAt * 1000 <= this.#now()) throw expired();
    await this.#checkSession(verified);
    return this.#callerOf('', verified, verified.user === null ? null : await this.#accounts.get(verified.user));
  }

  /** Before the account is read: what the provider reports may change it. */
  async #checkSession({ user, session: { sso } }: VerifiedToken): Promise<void> {
    if (user === null || sso === undefined) return;
    if (!this.#gate) throw invalid();
    await this.#gate.check(user, sso);
  }

  async #verifiedWithNewKeys(token: string): Promise<VerifiedToken> {
    const verified = this.#unlessUnknown(token);
    if (verified !== null) return verified;
    await this.#renew?.();
    return this.#verified(token);
  }

  /** Null if the token may be signed with a key that another daemon has created. */
  #unlessUnknown(token: string): VerifiedToken | null {
    try {
      return this.#verified(token);
    } catch (error) {
      if (this.#renew === null || !(error instanceof UnknownKey)) throw error;
      return null;
    }
  }

  /** The content of a token that has not expired. */
  #verified(token: string): VerifiedToken {
    const verified = this.#cache.get(token) ?? this.#verifyNew(token);
    if (verified.expiresAt * 1000 > this.#now()) return verified;
    this.#cache.delete(token);
    throw expired();
  }

  #callerOf(
    token: string,
    { user: number, epoch, expiresAt, loginAt, session }: VerifiedToken,
    user: UserRecord | null,
  ): Caller {
    const times = { expiresAt, loginAt };
    if (number === null) return { role: 'LOCAL', user: null, serviceToken: null, ...times };
    // A key alone opens sessions of the role HOLDER: one that the provider gives the person later needs a sign-in there.
    const isOfKey = session.sso !== undefined && keyOfSession(session.sso) !== null;
    if (user && !user.disabled && user.tokenEpoch === epoch && (!isOfKey || user.role === 'HOLDER'))
      return { role: user.role, user, serviceToken: null, session, ...times };
    this.#cache.delete(token);
    throw new ApiError(Code.tokenInvalid, 'the token is no longer valid; log in again');
  }

  #issue(claims: Omit<Claims, 'iat' | 'exp' | 'jti' | 'login'>, loginAt?: number): IssuedToken {
    // After the clock was set back, a token must not have an issue time before that of its key: it would be refused.
    const iat = Math.floor(Math.max(this.#now(), this.#current.createdAt ?? 0) / 1000);
    const login = loginAt ?? iat;
    const exp = Math.min(iat + tokenSeconds, login + this.#sessionSeconds);
    const token = this.#sign({ ...claims, iat, exp, login, jti: randomBytes(12).toString('base64url') });
    return { token, expiresAt: exp * 1000 };
  }

  #verifyNew(token: string): VerifiedToken {
    const { claims, key, keyId } = this.#claims(token);
    const { sub, iat, exp, epoch, login = iat } = claims;
    const user = sub === 'LOCAL' ? null : userIds.parse(sub);
    if (user === null && (sub !== 'LOCAL' || claims.process !== this.#process)) throw invalid();
    if (typeof iat !== 'number' || typeof exp !== 'number' || typeof login !== 'number' || exp - iat > tokenSeconds)
      throw invalid();
    // Otherwise the holder of a replaced key could continue to issue tokens.
    if (!wasCurrent(key, iat)) throw invalid();
    const loginAt = Math.min(login, iat);
    const expiresAt = Math.min(exp, endOfKey(key) / 1000, loginAt + this.#sessionSeconds);
    const session = sessionOf(claims, loginAt);
    const verified = { user, epoch, expiresAt, loginAt, keyId, session };
    if (this.#cache.size >= MAX_CACHED) this.#cache.delete(this.#cache.keys().next().value!);
    this.#cache.set(token, verified);
    return verified;
  }

  /** The claims of a token, and the key that signed it. */
  #claims(token: string): { readonly claims: Claims; readonly key: SigningKey; readonly keyId: string } {
    for (const { key, id: keyId, verify } of this.#verifiers) {
      try {
        const claims: unknown = verify(token);
        if (typeof claims === 'object' && claims !== null && typeof (claims as Claims).sub === 'string')
          return { claims: claims as Claims, key, keyId };
      } catch (error) {
        if (!(error instanceof TokenError)) throw error;
      }
    }
    throw new UnknownKey();
  }
}

const INVALID = 'the token is invalid; log in again';
const expired = () => new ApiError(Code.tokenExpired, 'the token has expired; log in again');
const invalid = () => new ApiError(Code.tokenInvalid, INVALID);

/** No key verifies the token. */
class UnknownKey extends ApiError {
  constructor() {
    super(Code.tokenInvalid, INVALID);
  }
}
