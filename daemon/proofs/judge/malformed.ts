import { MalformedError } from '../../../drivers/protocols/malformed.ts';

export { MalformedError };

/** Bytes of unpadded base64url. Throws MalformedError if the text is anything else. */
export function fromBase64url(text: string, what: string): Uint8Array {
  const bytes = Buffer.from(text, 'base64url');
  // Buffer skips what it does not know; only an exact round trip shows that there was nothing to skip.
  if (bytes.toString('base64url') !== text) throw new MalformedError(what, 'it is not base64url without padding');
  return bytes;
}
