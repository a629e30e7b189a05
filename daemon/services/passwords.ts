import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { ApiError } from '../../src/contract/codes.ts';
import { limitConcurrency } from '../concurrency.ts';
import type { Store, UserRecord } from '../store/store.ts';
import type { Context } from './context.ts';
import type { Limiter } from './limiter.ts';
import { RateLimited } from './rate-limited.ts';

/** Cost of a hash: N=2^15, r=8, p=3 is among the equivalents OWASP recommends for scrypt; it takes 32 MiB for a moment. */
export interface Cost {
  readonly N: number;
  readonly r: number;
  readonly p: number;
}
const presentCost: Cost = { N: 2 ** 15, r: 8, p: 3 };
const KEY_BYTES = 32;
/** Hashes at once: a flood of logins leaves the other threads and the memory to the rest. */
const AT_ONCE = 2;

export class Passwords {
  readonly #store: Store;
  readonly #limiter: Limiter;
  readonly #cost: Cost;
  readonly #limited = limitConcurrency(AT_ONCE);

  constructor(store: Store, limiter: Limiter, cost: Cost = presentCost) {
    this.#store = store;
    this.#limiter = limiter;
    this.#cost = cost;
  }

  hash(password: string): Promise<string> {
    return this.#limited(() => hashPassword(password, this.#cost));
  }

  async verify(encoded: string, password: string): Promise<boolean> {
    const { cost, salt, key } = decode(encoded);
    return timingSafeEqual(await this.#limited(() => derive(password, salt, cost)), key);
  }

  /** Whether the hash was made at another cost than today's. */
  isOutdated(encoded: string): boolean {
    const { cost } = decode(encoded);
    return cost.N !== this.#cost.N || cost.r !== this.#cost.r || cost.p !== this.#cost.p;
  }

  /** `confirmPassword`: an ADMIN's own; for anybody else that of some enabled ADMIN. */
  async confirmAdministrator(context: Context, password: string): Promise<void> {
    const { user } = context.caller;
    const candidates = user?.role === 'ADMIN' ? [user] : await this.#store.admins();
    await this.confirm(context, 'confirmPassword', password, candidates);
  }

  /**
   * Refuses with 1003 where the password is none of the candidates'. A wrong one counts as a login of the caller's address;
   * the attempt is counted before the comparison, so that many at once cannot outrun the count, and given back when right.
   */
  async confirm(context: Context, field: string, password: string, candidates: readonly UserRecord[]): Promise<void> {
    const allowance = this.#limiter.count('login', context.address);
    if (allowance && !allowance.allowed) throw new RateLimited(allowance);
    for (const candidate of candidates) {
      if (!(await this.verify(candidate.passwordHash, password))) continue;
      this.#limiter.giveBack('login', context.address);
      return;
    }
    throw new ApiError(1003, `${field} is wrong`);
  }
}

/** `scrypt$N$r$p$salt$key`, the last two in base64url. */
export async function hashPassword(password: string, cost: Cost = presentCost): Promise<string> {
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
  if (scheme !== 'scrypt' || !salt || !key) throw new Error('a password hash in the store is of an unknown kind');
  return {
    cost: { N: Number(N), r: Number(r), p: Number(p) },
    salt: Buffer.from(salt, 'base64url'),
    key: Buffer.from(key, 'base64url'),
  };
}
