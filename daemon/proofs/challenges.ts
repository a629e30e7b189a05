/** Challenges for keys. They are not stored: each is derived from its id and a secret that all daemons of the registry have. */
import { createECDH, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { ApiError, inputError } from '../../src/contract/codes.ts';
import { proofBounds } from '../../src/contract/limits.ts';

/** Challenges for keys. */
export interface Challenge {
  readonly proofId: string;
  /** 32 bytes. */
  readonly challenge: Buffer;
  /** Scalar of P-256, 32 bytes. */
  readonly ephemeralPrivateKey: Buffer;
  /** An uncompressed point. */
  readonly ephemeralPublicKey: Buffer;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

const TIME = 6;
const HOLDER = 8;
const NONCE = 16;
const CODE = 16;
const SIZE = TIME + HOLDER + NONCE + CODE;

/** Makes challenges and recognizes its own. */
export class Challenges {
  readonly #secret: Uint8Array;

  constructor(secret: Uint8Array) {
    this.#secret = secret;
  }

  /** A challenge for `holder`, which can be answered until it expires. */
  create(holder: string, now: number): Challenge {
    const time = Buffer.alloc(TIME);
    time.writeUIntBE(now + 1000 * proofBounds.challengeSeconds, 0, TIME);
    const content = Buffer.concat([time, this.#holderTag(holder), randomBytes(NONCE)]);
    return this.#from(Buffer.concat([content, this.#code(content)]));
  }

  /** Refuses with 404 an id that was not created here, and with 1001 one that has expired or was given to another caller. */
  open(proofId: string, holder: string, now: number): Challenge {
    const id = Buffer.from(proofId, 'base64url');
    const content = id.subarray(0, SIZE - CODE);
    // One text only for each id: it must not be answered twice under two names.
    const isOwn =
      id.length === SIZE &&
      id.toString('base64url') === proofId &&
      timingSafeEqual(this.#code(content), id.subarray(SIZE - CODE));
    if (!isOwn) throw new ApiError(404, 'no such challenge: proofId is unknown');
    if (!this.#holderTag(holder).equals(id.subarray(TIME, TIME + HOLDER)))
      throw inputError('proofId', ': this challenge was given to another caller, or for another action');
    const challenge = this.#from(id);
    if (now >= challenge.expiresAt) throw inputError('proofId', ': this challenge has expired; request another one');
    return challenge;
  }

  #from(id: Buffer): Challenge {
    const ephemeral = createECDH('prime256v1');
    const ephemeralPrivateKey = this.#scalar(id, scalar => ephemeral.setPrivateKey(scalar));
    return {
      proofId: id.toString('base64url'),
      challenge: this.#derive('challenge', id),
      ephemeralPrivateKey,
      ephemeralPublicKey: ephemeral.getPublicKey(),
      expiresAt: id.readUIntBE(0, TIME),
    };
  }

  /** About one of 2^32 numbers of 32 bytes is not a scalar of the curve; then the next one is used. */
  #scalar(id: Buffer, use: (scalar: Buffer) => void): Buffer {
    for (let attempt = 0; ; attempt++) {
      const scalar = this.#derive(`ephemeral ${attempt}`, id);
      try {
        use(scalar);
        return scalar;
      } catch (error) {
        if (attempt === 3) throw error;
      }
    }
  }

  #derive(purpose: string, id: Uint8Array): Buffer {
    return createHmac('sha256', this.#secret).update(`${purpose}\0`).update(id).digest();
  }

  #code(content: Uint8Array): Buffer {
    return this.#derive('code', content).subarray(0, CODE);
  }

  #holderTag(holder: string): Buffer {
    return this.#derive('holder', Buffer.from(holder)).subarray(0, HOLDER);
  }
}
