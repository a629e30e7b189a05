/**
 * Challenges for security keys. They are not stored until they are answered: each carries its expiry and a code of a secret that all
 * daemons of the registry have.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { passkeyBounds } from '../../src/contract/limits.ts';
import { MemoryCounters } from '../store/memory/counters.ts';
import type { Counters } from '../store/short-lived.ts';
import type { UsedChallenge } from './passkey.ts';

const TIME = 6;
const NONCE = 16;
const CODE = 16;
const SIZE = TIME + NONCE + CODE;

/**
 * Counts the answer to a challenge, which takes one. Remembered for twice the time that a challenge is valid: the clocks of
 * daemons differ. If memory has forgotten it, the row of a key still refuses what it has answered.
 */
const once = {
  scope: 'answered challenge',
  most: 1,
  milliseconds: 2 * passkeyBounds.challengeSeconds * 1000,
};

/** A challenge that an answer names. */
export interface NamedChallenge {
  readonly challenge: UsedChallenge;
  /** False if the challenge was answered before, right or wrong. */
  readonly isFirst: boolean;
}

/** Makes challenges for a purpose and recognizes its own. */
export class SignedChallenges {
  readonly #secret: Uint8Array;
  readonly #counters: Counters;

  constructor(secret: Uint8Array, counters: Counters = new MemoryCounters()) {
    this.#secret = secret;
    this.#counters = counters;
  }

  /** A challenge that can be answered for this purpose until it expires. Base64url. Times are milliseconds since 1970. */
  create(purpose: string, expiresAt: number): string {
    const content = Buffer.alloc(TIME + NONCE);
    content.writeUIntBE(expiresAt, 0, TIME);
    randomBytes(NONCE).copy(content, TIME);
    return Buffer.concat([content, this.#code(purpose, content)]).toString('base64url');
  }

  /** Null if the challenge was not made here for this purpose, or has expired. */
  open(purpose: string, challenge: string, now: number): UsedChallenge | null {
    const bytes = Buffer.from(challenge, 'base64url');
    // A challenge has one spelling: with two it could be answered twice.
    if (bytes.length !== SIZE || bytes.toString('base64url') !== challenge) return null;
    const content = bytes.subarray(0, SIZE - CODE);
    if (!timingSafeEqual(this.#code(purpose, content), bytes.subarray(SIZE - CODE))) return null;
    const expiresAt = bytes.readUIntBE(0, TIME);
    return expiresAt > now ? { id: challenge, expiresAt } : null;
  }

  /**
   * Like `open`, and uses the challenge up: no further answer is accepted, whether this one is right or wrong, from any key and at any
   * daemon. Of several calls one is the first. Rejects with `StoreFailure`.
   */
  async answer(purpose: string, challenge: string, now: number): Promise<NamedChallenge | null> {
    const opened = this.open(purpose, challenge, now);
    return (
      opened && { challenge: opened, isFirst: (await this.#counters.take({ ...once, key: opened.id })).granted > 0 }
    );
  }

  /**
   * The user handle: the name of an account that a key stores. Base64url, the same on all nodes; it reveals nothing about the
   * account.
   */
  userHandle(user: number): string {
    return createHmac('sha256', this.#secret).update(`user\0${user}`).digest('base64url');
  }

  #code(purpose: string, content: Uint8Array): Buffer {
    return createHmac('sha256', this.#secret).update(`${purpose}\0`).update(content).digest().subarray(0, CODE);
  }
}
