/** Checks a signed receipt with a public key: bytes in, a verdict out. The registry and `devmgr receipts verify` use it. */
import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';
import { identityParty, relyingParty } from '../key-values.ts';
import type { Receipt } from '../receipts.ts';
import { type ReceiptFacts, readReceiptText } from './text.ts';

/** Signed data of a key. Bytes are base64url without padding. */
type SignedText = Pick<Receipt, 'text' | 'authenticatorData' | 'signature'>;

/** Data that the key signs for a text: its client data hash. */
export const receiptHash = (text: string): Buffer => createHash('sha256').update(text).digest();

/** SHA-256 of the relying party, flags, counter. An assertion of these receipts has no extensions. */
const DATA_BYTES = 37;
const FLAGS_AT = 32;
const TOUCHED = 0x01;
/** Flags without extra data: user present, user verified, backup eligible, backed up. Others need more bytes. */
const ALLOWED = 0x1d;

/** The relying party of the credential that signed: that of proofs, or that by which the registry recognizes keys. Null: neither. */
export function signedFor(authenticatorData: string, registryId: string): string | null {
  const site = Buffer.from(authenticatorData, 'base64url').subarray(0, FLAGS_AT);
  const isFor = (party: string) => site.equals(createHash('sha256').update(party).digest());
  return [relyingParty, identityParty(registryId)].find(isFor) ?? null;
}

/** Why the receipt is not valid; else its facts. */
export function checkReceipt({ text, ...signed }: SignedText, publicKey: KeyObject): ReceiptFacts | string {
  // Lone surrogates have the same bytes as the replacement character: two texts would have one signature.
  if (!text.isWellFormed()) return 'the text is not the text of a receipt';
  const data = Buffer.from(signed.authenticatorData, 'base64url');
  const signature = Buffer.from(signed.signature, 'base64url');
  if (data.toString('base64url') !== signed.authenticatorData || signature.toString('base64url') !== signed.signature)
    return 'its bytes are not in base64url';
  if (data.length !== DATA_BYTES) return 'the authenticator data has another length';
  const facts = readReceiptText(text);
  if (signedFor(signed.authenticatorData, facts?.registryId ?? '') === null)
    return 'it was signed for another relying party';
  const flags = data[FLAGS_AT]!;
  if (!(flags & TOUCHED)) return 'it was signed without a touch';
  if (flags & ~ALLOWED) return 'the authenticator data has unknown flags';
  const { asymmetricKeyType, asymmetricKeyDetails } = publicKey;
  if (asymmetricKeyType !== 'ec' || asymmetricKeyDetails?.namedCurve !== 'prime256v1')
    return 'the public key is not of P-256';
  if (!verify('sha256', Buffer.concat([data, receiptHash(text)]), publicKey, signature))
    return 'the signature does not match the public key and the text';
  return facts ?? 'the text is not the text of a receipt';
}

/** A public key in PEM, without the surrounding white space; null if the text is none. */
export function readPublicKey(pem: string): KeyObject | null {
  try {
    return createPublicKey(pem);
  } catch {
    return null;
  }
}

/** SHA-256 of the public key (DER) in hex: how people compare public keys. */
export const fingerprintOf = (key: KeyObject): string =>
  createHash('sha256')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest('hex');
