/** Arithmetic of SCP11b with P-256 and AES-128 (GlobalPlatform Card Specification 2.3, Amendment F 1.3). */
import { createCipheriv, createECDH, createHash } from 'node:crypto';

const CURVE = 'prime256v1';
/** Key usage, key type AES and length 16: what the keys are for. */
const SHARED_INFO = Buffer.from('3c8810', 'hex');
/** Five keys of 16 bytes are derived; the first one makes the receipt. */
const DERIVED = 80;
const BLOCK = 16;
/** Parameters of the key agreement: SCP11b without extras, then usage, type and length; last the header of the host's key. */
const AGREEMENT = Buffer.from('a60d9002110095013c8001888101105f4941', 'hex');
/** Header of the card's key in its answer. */
const CARD_KEY = Buffer.from('5f4941', 'hex');

/** Data of INTERNAL AUTHENTICATE with the host's ephemeral public key. */
export function agreementData(publicKey: Uint8Array): Uint8Array {
  return Buffer.concat([AGREEMENT, publicKey]);
}

/** The receipt that a card with the static key `cardStatic` answers. Throws if a point is not on the curve. */
export function expectedReceipt(privateKey: Uint8Array, cardEphemeral: Uint8Array, cardStatic: Uint8Array): Uint8Array {
  const host = createECDH(CURVE);
  host.setPrivateKey(privateKey);
  const secret = Buffer.concat([host.computeSecret(cardEphemeral), host.computeSecret(cardStatic)]);
  const data = Buffer.concat([agreementData(host.getPublicKey()), CARD_KEY, cardEphemeral]);
  return receipt(secret, data);
}

/** The receipt over `data` for the secrets of both key agreements. */
function receipt(secret: Uint8Array, data: Uint8Array): Uint8Array {
  return aesCmac(x963Kdf(secret, SHARED_INFO, DERIVED).subarray(0, BLOCK), data);
}

/** The key derivation of ANSI X9.63 with SHA-256. `length` in bytes. */
export function x963Kdf(secret: Uint8Array, sharedInfo: Uint8Array, length: number): Uint8Array {
  const blocks: Uint8Array[] = [];
  for (let counter = 1; blocks.length * 32 < length; counter++) {
    const number = Buffer.alloc(4);
    number.writeUInt32BE(counter);
    blocks.push(createHash('sha256').update(secret).update(number).update(sharedInfo).digest());
  }
  return Buffer.concat(blocks).subarray(0, length);
}

/** AES-CMAC (RFC 4493) with a key of 16 bytes. */
export function aesCmac(key: Uint8Array, message: Uint8Array): Uint8Array {
  const blocks = Math.max(1, Math.ceil(message.length / BLOCK));
  const padded = Buffer.alloc(blocks * BLOCK);
  padded.set(message);
  const full = message.length === padded.length;
  if (!full) padded[message.length] = 0x80;
  const once = doubled(encrypted(key, Buffer.alloc(BLOCK), 'aes-128-ecb'));
  const subkey = full ? once : doubled(once);
  for (let at = 0; at < BLOCK; at++) padded[padded.length - BLOCK + at]! ^= subkey[at]!;
  return encrypted(key, padded, 'aes-128-cbc').subarray(-BLOCK);
}

/** Whole blocks, without padding; the first vector of CBC is zero. */
function encrypted(key: Uint8Array, blocks: Uint8Array, mode: 'aes-128-ecb' | 'aes-128-cbc'): Buffer {
  const cipher = createCipheriv(mode, key, mode === 'aes-128-ecb' ? null : Buffer.alloc(BLOCK));
  return cipher.setAutoPadding(false).update(blocks);
}

/** Multiplication by two in the field of CMAC. */
function doubled(block: Uint8Array): Buffer {
  const result = Buffer.alloc(BLOCK);
  for (let at = 0; at < BLOCK; at++) result[at] = ((block[at]! << 1) | ((block[at + 1] ?? 0) >> 7)) & 0xff;
  if (block[0]! & 0x80) result[BLOCK - 1]! ^= 0x87;
  return result;
}
