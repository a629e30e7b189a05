/** Checks a signed receipt with a public key: bytes in, a verdict out. The registry and `devmgr receipts verify` use it. */
import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';
import { identityParty, relyingParty } from '../key-values.ts';
import type { Receipt } from '../receipts.ts';
import { type ReceiptFacts, readReceiptText } from './text.ts';

/** Signed data of a key. Bytes are base64url without padding. `proof`: absent if no browser asked the key. */
type SignedText = Pick<Receipt, 'text' | 'authenticatorData' | 'signature'> & {
  readonly proof?: { readonly clientData?: string | null };
};

/** Data that the key signs for a text: its client data hash. */
export const receiptHash = (text: string): Buffer => createHash('sha256').update(text).digest();

/** SHA-256 of the relying party, flags, counter. An assertion of these receipts has no extensions. */
const DATA_BYTES = 37;
const FLAGS_AT = 32;
const TOUCHED = 0x01;
/** Flags without extra data: user present, user verified, backup eligible, backed up. Others need more bytes. */
const ALLOWED = 0x1d;

/** What a browser lets a key sign: the page that asked, and the challenge. */
interface BrowserData {
  readonly origin: string;
  readonly challenge: string;
}

/** The client data of an assertion (WebAuthn Level 3, 5.8.1); null if it is none, or of a page in a frame. */
export function readBrowserData(clientData: string): BrowserData | null {
  try {
    const data: unknown = JSON.parse(Buffer.from(clientData, 'base64url').toString());
    const { type, origin, challenge, crossOrigin = false } = data as Readonly<Record<string, unknown>>;
    if (type !== 'webauthn.get' || crossOrigin !== false) return null;
    return typeof origin === 'string' && typeof challenge === 'string' && URL.canParse(origin)
      ? { origin, challenge }
      : null;
  } catch {
    return null;
  }
}

/**
 * The relying party of the credential that signed: that of proofs, that by which the registry recognizes keys, or the name of the page
 * that asked. Null: none of them.
 */
export function signedFor(authenticatorData: string, registryId: string, clientData?: string | null): string | null {
  const site = Buffer.from(authenticatorData, 'base64url').subarray(0, FLAGS_AT);
  const isFor = (party: string) => site.equals(createHash('sha256').update(party).digest());
  const page = clientData ? readBrowserData(clientData) : null;
  if (clientData) return page && isFor(new URL(page.origin).hostname) ? new URL(page.origin).hostname : null;
  return [relyingParty, identityParty(registryId)].find(isFor) ?? null;
}

/** What the key has signed beside the authenticator data; null if the client data has another challenge than the text. */
function signedHash(text: string, clientData: string | null | undefined): Buffer | null {
  const hash = receiptHash(text);
  if (!clientData) return hash;
  const isOfText = readBrowserData(clientData)?.challenge === hash.toString('base64url');
  return isOfText ? createHash('sha256').update(Buffer.from(clientData, 'base64url')).digest() : null;
}

/** Why the receipt is not valid; else its facts. */
export function checkReceipt({ text, proof, ...signed }: SignedText, publicKey: KeyObject): ReceiptFacts | string {
  // Lone surrogates have the same bytes as the replacement character: two texts would have one signature.
  if (!text.isWellFormed()) return 'the text is not the text of a receipt';
  const data = Buffer.from(signed.authenticatorData, 'base64url');
  const signature = Buffer.from(signed.signature, 'base64url');
  if (data.toString('base64url') !== signed.authenticatorData || signature.toString('base64url') !== signed.signature)
    return 'its bytes are not in base64url';
  if (data.length !== DATA_BYTES) return 'the authenticator data has another length';
  const facts = readReceiptText(text);
  const clientData = proof?.clientData;
  if (signedFor(signed.authenticatorData, facts?.registryId ?? '', clientData) === null)
    return 'it was signed for another relying party';
  const flags = data[FLAGS_AT]!;
  if (!(flags & TOUCHED)) return 'it was signed without a touch';
  if (flags & ~ALLOWED) return 'the authenticator data has unknown flags';
  const { asymmetricKeyType, asymmetricKeyDetails } = publicKey;
  if (asymmetricKeyType !== 'ec' || asymmetricKeyDetails?.namedCurve !== 'prime256v1')
    return 'the public key is not of P-256';
  const hash = signedHash(text, clientData);
  if (!hash || !verify('sha256', Buffer.concat([data, hash]), publicKey, signature))
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
