/**
 * The PIN/UV auth protocols one and two: how a PIN reaches an authenticator, and how commands carry that it was entered. Keys of an
 * exchange are used once and then overwritten. Source: FIDO CTAP 2.1, 6.5.6 (one) and 6.5.7 (two).
 */
import {
  createCipheriv,
  createDecipheriv,
  createECDH,
  createHash,
  createHmac,
  hkdfSync,
  randomBytes,
} from 'node:crypto';
import { HardwareError } from '../hardware-error.ts';
import type { CborMap } from './cbor.ts';
import type { CborInput } from './cbor-write.ts';
import { concat } from './hex.ts';

export type PinProtocol = 1 | 2;

const BLOCK = 16;
const KEY = 32;
/** A coordinate of P-256. */
const COORDINATE = 32;
const UNCOMPRESSED = 0x04;
/** Labels of COSE keys, and the algorithm with which CTAP2 marks keys that are agreed on (ECDH-ES + HKDF-256). */
const COSE = { kty: 1, alg: 3, crv: -1, x: -2, y: -3 } as const;
const ECDH_ES = -25;

/** The parameter that authenticates `message`, by the key of an exchange or by a token. */
export function authenticate(protocol: PinProtocol, key: Uint8Array, message: Uint8Array): Uint8Array {
  const mac = createHmac('sha256', key.subarray(0, KEY)).update(message).digest();
  return protocol === 1 ? mac.subarray(0, BLOCK) : mac;
}

/** A key that both sides agreed on for one exchange. */
export class PinExchange {
  readonly protocol: PinProtocol;
  /** The COSE key of this side, which the authenticator needs. */
  readonly platformKey: CborInput;
  readonly #macKey: Uint8Array;
  readonly #cipherKey: Uint8Array;

  /** `theirs` is the COSE key of the authenticator. Throws a HardwareError `protocol` if it is not a point of P-256. */
  constructor(protocol: PinProtocol, theirs: CborMap) {
    const own = createECDH('prime256v1');
    const point = own.generateKeys();
    const shared = agree(() => own.computeSecret(concat(Uint8Array.of(UNCOMPRESSED), ...coordinates(theirs))));
    this.protocol = protocol;
    this.platformKey = new Map<number, CborInput>([
      [COSE.kty, 2],
      [COSE.alg, ECDH_ES],
      [COSE.crv, 1],
      [COSE.x, point.subarray(1, 1 + COORDINATE)],
      [COSE.y, point.subarray(1 + COORDINATE)],
    ]);
    if (protocol === 1) {
      this.#cipherKey = createHash('sha256').update(shared).digest();
      this.#macKey = this.#cipherKey;
    } else {
      this.#macKey = derived(shared, 'CTAP2 HMAC key');
      this.#cipherKey = derived(shared, 'CTAP2 AES key');
    }
    shared.fill(0);
  }

  /** `plain` has whole blocks of 16 bytes. */
  encrypt(plain: Uint8Array): Uint8Array {
    const iv = this.protocol === 1 ? Buffer.alloc(BLOCK) : randomBytes(BLOCK);
    const cipher = createCipheriv('aes-256-cbc', this.#cipherKey, iv).setAutoPadding(false);
    const encrypted = concat(cipher.update(plain), cipher.final());
    return this.protocol === 1 ? encrypted : concat(iv, encrypted);
  }

  /** Throws a HardwareError `protocol` if the bytes are not whole blocks. */
  decrypt(bytes: Uint8Array): Uint8Array {
    const from = this.protocol === 1 ? 0 : BLOCK;
    const encrypted = bytes.subarray(from);
    if (bytes.length < from + BLOCK || encrypted.length % BLOCK !== 0)
      throw new HardwareError('protocol', 'the key sent an encrypted value of a wrong length');
    const iv = this.protocol === 1 ? Buffer.alloc(BLOCK) : bytes.subarray(0, BLOCK);
    const decipher = createDecipheriv('aes-256-cbc', this.#cipherKey, iv).setAutoPadding(false);
    return concat(decipher.update(encrypted), decipher.final());
  }

  authenticate(message: Uint8Array): Uint8Array {
    return authenticate(this.protocol, this.#macKey, message);
  }

  /** Overwrites the keys. */
  end(): void {
    this.#macKey.fill(0);
    this.#cipherKey.fill(0);
  }
}

const derived = (secret: Uint8Array, use: string): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', secret, Buffer.alloc(KEY), use, KEY));

function coordinates(key: CborMap): Uint8Array[] {
  return [COSE.x, COSE.y].map(label => {
    const value = key.get(label);
    if (value instanceof Uint8Array && value.length === COORDINATE) return value;
    throw new HardwareError('protocol', 'the key sent no key for the exchange of the PIN');
  });
}

/** OpenSSL refuses points that are not on the curve. */
function agree(secret: () => Buffer): Buffer {
  try {
    return secret();
  } catch (cause) {
    throw new HardwareError('protocol', 'the key sent an invalid key for the exchange of the PIN', { cause });
  }
}
