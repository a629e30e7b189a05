/**
 * The card's part of SCP11b: certificates and key agreement of a YubiKey's security domain. Nothing on the key changes. Sources:
 * GlobalPlatform Card Specification 2.3, Amendment F 1.3 (SCP11); Yubico/yubikey-manager (yubikit/securitydomain.py), which reads
 * key information and certificates without the tags E0 and BF21 around them. Both forms are read here.
 */
import type { KeyEvidence } from '../driver.ts';
import { HardwareError } from '../hardware-error.ts';
import { type CardResponse, CLA, commandApdu, exchange, INS, query, selectApplication, succeeded } from './apdu.ts';
import type { CardConnection } from './connection.ts';
import { concat, fromHex } from './hex.ts';

const SECURITY_DOMAIN = 'A000000151000000';
/** Number of the key of SCP11b. */
const KID = 0x13;
const KEY_INFORMATION = commandApdu({ ins: INS.GET_DATA, p1: 0x00, p2: 0xe0, le: 0 });
const certificates = (kvn: number) =>
  commandApdu({ ins: INS.GET_DATA, p1: 0xbf, p2: 0x21, data: Uint8Array.of(0xa6, 4, 0x83, 2, KID, kvn), le: 0 });
/** Key usage, key type AES and length 16, and the header of the host's key. */
const AGREEMENT = fromHex('A60D9002110095013C8001888101105F4941');

const TAG = { keyInformation: 0xe0, keyEntry: 0xc0, store: 0xbf21, certificate: 0x30, cardKey: 0x5f49, receipt: 0x86 };
const POINT_BYTES = 65;
const RECEIPT_BYTES = 16;
/** Bounds of what is passed on. */
const MAX_CERTIFICATES = 8;
const MAX_CERTIFICATE_BYTES = 4096;
const MAX_KVN = 0x7f;

const invalid = (what: string): HardwareError =>
  new HardwareError('protocol', `the security domain of the key answered with ${what}`);

/**
 * Has the card agree on keys with `hostPublicKey`. `beforeAttempt` is called before the one command that counts as an attempt, and
 * may throw. Null if the key has no key of SCP11b. Fails with a HardwareError.
 */
export async function agreeScp11b(
  card: CardConnection,
  hostPublicKey: Uint8Array,
  signal: AbortSignal,
  beforeAttempt: () => void,
): Promise<Extract<KeyEvidence, { method: 'scp11b' }> | null> {
  if ((await query(card, selectApplication(SECURITY_DOMAIN), signal)) === null) return null;
  const information = await query(card, KEY_INFORMATION, signal);
  const kvn = information && findKvn(information);
  if (kvn === null) return null;
  const stored = await query(card, certificates(kvn), signal);
  if (stored === null) return null;
  const chain = parseChain(stored);
  beforeAttempt();
  const data = concat(AGREEMENT, hostPublicKey);
  const apdu = commandApdu({ cla: CLA.PROPRIETARY, ins: INS.INTERNAL_AUTHENTICATE, p1: kvn, p2: KID, data });
  return { method: 'scp11b', kvn, chain, ...parseAgreement(await exchange(card, apdu, signal)) };
}

/** The version of the key of SCP11b; null if it is not in the list. Throws HardwareError `protocol`. */
export function findKvn(information: Uint8Array): number | null {
  const entries = unwrapped(information, TAG.keyInformation).filter(({ tag }) => tag === TAG.keyEntry);
  const found = entries.find(({ value }) => value.length >= 2 && value[0] === KID)?.value[1];
  if (found === undefined) return null;
  if (found === 0 || found > MAX_KVN) throw invalid('an impossible version of its key');
  return found;
}

/** The certificates in DER, leaf last. Throws HardwareError `protocol`. */
export function parseChain(stored: Uint8Array): Uint8Array[] {
  const found = unwrapped(stored, TAG.store);
  if (found.some(({ tag }) => tag !== TAG.certificate)) throw invalid('an element that is not a certificate');
  if (found.length === 0 || found.length > MAX_CERTIFICATES) throw invalid(`${found.length} certificates`);
  if (found.some(({ whole }) => whole.length > MAX_CERTIFICATE_BYTES)) throw invalid('a certificate that is too long');
  return found.map(({ whole }) => whole);
}

/** The card's ephemeral key and its receipt. Throws HardwareError `protocol`. */
export function parseAgreement(response: CardResponse) {
  if (!succeeded(response)) throw invalid(`status ${response.status.toString(16)} to the key agreement`);
  const [key, receipt, ...rest] = parseTlvs(response.data);
  const valid =
    key?.tag === TAG.cardKey &&
    key.value.length === POINT_BYTES &&
    receipt?.tag === TAG.receipt &&
    receipt.value.length === RECEIPT_BYTES &&
    rest.length === 0;
  if (!valid) throw invalid('elements other than a key and a receipt');
  return { cardPublicKey: key.value, receipt: receipt.value };
}

interface Tlv {
  readonly tag: number;
  readonly value: Uint8Array;
  /** Tag, length and value. */
  readonly whole: Uint8Array;
}

/** The elements, or those inside the only element if it has the tag `wrapper`. */
function unwrapped(bytes: Uint8Array, wrapper: number): Tlv[] {
  const found = parseTlvs(bytes);
  return found.length === 1 && found[0]!.tag === wrapper ? parseTlvs(found[0]!.value) : found;
}

/** Elements of BER with tags of one or two bytes and definite lengths below 65,536. */
function parseTlvs(bytes: Uint8Array): Tlv[] {
  const found: Tlv[] = [];
  for (let at = 0; at < bytes.length; ) {
    const start = at;
    const first = bytes[at++]!;
    const tag = (first & 0x1f) === 0x1f ? (first << 8) | (bytes[at++] ?? 0) : first;
    const short = bytes[at++] ?? 0xff;
    const size = short < 0x80 ? 0 : short & 0x7f;
    if (size > 2 || short === 0x80) throw invalid('an invalid length');
    let length = size === 0 ? short : 0;
    for (let digit = 0; digit < size; digit += 1) length = length * 256 + (bytes[at++] ?? 0);
    if (at + length > bytes.length) throw invalid('truncated data');
    found.push({ tag, value: bytes.subarray(at, at + length), whole: bytes.subarray(start, at + length) });
    at += length;
  }
  return found;
}
