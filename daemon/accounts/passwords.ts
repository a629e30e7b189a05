import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { ApiError, Code } from '../../src/contract/codes.ts';
import { limitConcurrency } from '../base/concurrency.ts';
import { clientOf } from '../base/loopback.ts';
import type { Cost } from '../home/bounds.ts';
import { type AccessJournal, accessOf } from '../requests/access-journal.ts';
import type { UserRecord } from '../requests/callers.ts';
import { actorOf, type Context } from '../requests/context.ts';
import { RateLimited, type RequestLimits } from '../requests/limiter.ts';
import { demandRecent } from '../requests/session.ts';
import type { Store } from '../store/store.ts';
import type { Guessing } from './guessing.ts';
import { isOfProvider } from './user.ts';

/** One of the settings that OWASP recommends. A hash takes 32 MiB and about 0.2 s of processor time. */
export const recommendedCost: Cost = { N: 2 ** 15, r: 8, p: 3 };
/** A random password, for an account whose user chooses another one. */
export const newPassword = (): string => randomBytes(18).toString('base64url');

const KEY_BYTES = 32;
/** Hashes computed at once: a flood of logins must leave threads and memory to other work. */
const HASHES_AT_ONCE = 2;

/** Administrators whose passwords a confirmation is compared with, in the order of their creation: each one costs a hash. */
const MOST_ADMINS = 32;

/** Hashes and checks passwords, and limits how often they can be tried. */
export class Passwords {
  readonly #store: Store;
  readonly #limiter: RequestLimits;
  readonly #guessing: Guessing;
  readonly #cost: Cost;
  readonly #access: AccessJournal | undefined;
  readonly #limited = limitConcurrency(HASHES_AT_ONCE);

  /** `access` gets the wrong confirmations. */
  constructor(
    store: Store,
    limiter: RequestLimits,
    guessing: Guessing,
    cost: Cost = recommendedCost,
    access?: AccessJournal,
  ) {
    this.#access = access;
    this.#store = store;
    this.#limiter = limiter;
    this.#guessing = guessing;
    this.#cost = cost;
  }

  /** Encodes a hash with its parameters: see `hashPassword`. */
  hash(password: string): Promise<string> {
    return this.#limited(() => hashPassword(password, this.#cost));
  }

  /** Compares in constant time. */
  async verify(encoded: string, password: string): Promise<boolean> {
    const { cost, salt, key } = isOfProvider({ passwordHash: encoded }) ? this.#noPassword() : decode(encoded);
    return timingSafeEqual(await this.#limited(() => derive(password, salt, cost)), key);
  }

  /** In the place of a password that an account does not have: a comparison takes as long, and no password matches. */
  #noPassword() {
    return { cost: this.#cost, salt: randomBytes(16), key: randomBytes(KEY_BYTES) };
  }

  /** Whether the hash was computed at a cost other than the current one. */
  isOutdated(encoded: string): boolean {
    const { cost } = decode(encoded);
    return cost.N !== this.#cost.N || cost.r !== this.#cost.r || cost.p !== this.#cost.p;
  }

  /**
   * Checks `confirmPassword`: for an ADMIN the user's own password, for others and for service tokens that of an enabled ADMIN.
   * An ADMIN of the provider has no password: a sign-in there of the last ten minutes confirms. Refuses like `confirm`. With more
   * than `MOST_ADMINS` of them, only the first ones are compared.
   */
  async confirmAdministrator(context: Context, password: string): Promise<void> {
    const { user, session } = context.caller;
    if (user?.role === 'ADMIN' && isOfProvider(user) && session?.sso !== undefined)
      return demandRecent(session, Date.now());
    const candidates = user?.role === 'ADMIN' ? [user] : (await this.#store.admins()).slice(0, MOST_ADMINS);
    await this.confirm(context, 'confirmPassword', password, candidates);
  }

  /**
   * Refuses with 1003 if the password does not match any candidate. A wrong password counts as a login attempt of the caller's
   * address, against the caller, and against the candidates: for the owner apart from others. Beyond those limits it is 429
   * without a comparison.
   */
  async confirm(context: Context, field: string, password: string, candidates: readonly UserRecord[]): Promise<void> {
    const { user } = context.caller;
    const right = await this.#guessing.confirmation(
      { name: actorOf(context) ?? context.address, user: user?.number ?? null },
      candidates.map(({ number }) => number),
      open =>
        this.#matches(
          context,
          password,
          candidates.filter(({ number }) => open.has(number)),
        ),
    );
    if (right) return;
    this.#access?.record({ type: 'CONFIRMATION_FAILED', ...accessOf(context), detail: { field } });
    throw new ApiError(Code.wrongPassword, `${field} is wrong`);
  }

  /** Counted before the comparison, so that parallel attempts cannot bypass the limit, and undone if the password is right. */
  async #matches(context: Context, password: string, candidates: readonly UserRecord[]): Promise<boolean> {
    const client = clientOf(context.address);
    const allowance = await this.#limiter.count('login', client);
    if (allowance && !allowance.allowed) throw new RateLimited(allowance);
    for (const candidate of candidates) {
      if (!(await this.verify(candidate.passwordHash, password))) continue;
      this.#limiter.giveBack('login', client);
      return true;
    }
    return false;
  }
}

/** Returns `scrypt$N$r$p$salt$key`, the last two in base64url. */
export async function hashPassword(password: string, cost: Cost = recommendedCost): Promise<string> {
  const salt = randomBytes(16);
  const key = await derive(password, salt, cost);
  return ['scrypt', cost.N, cost.r, cost.p, salt.toString('base64url'), key.toString('base64url')].join('$');
}

function derive(password: string, salt: Buffer, cost: Cost): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const options = { ...cost, maxmem: 160 * cost.N * cost.r };
    scrypt(password, salt, KEY_BYTES, options, (error, key) => (error ? reject(error) : resolve(key)));
  });
}

function decode(encoded: string): { cost: Cost; salt: Buffer; key: Buffer } {
  const [scheme, N, r, p, salt, key] = encoded.split('$');
  if (scheme !== 'scrypt' || !salt || !key) throw new Error('a password hash in the store has an unknown format');
  return {
    cost: { N: Number(N), r: Number(r), p: Number(p) },
    salt: Buffer.from(salt, 'base64url'),
    key: Buffer.from(key, 'base64url'),
  };
}
