/** What the readers of DER, CBOR and other formats throw, and nothing else: the input is not what it should be. */
export class MalformedError extends Error {
  /** What could not be read, for example `CBOR` or `certificate`. */
  readonly format: string;

  constructor(format: string, problem: string, options?: ErrorOptions) {
    super(`${format}: ${problem}`, options);
    this.name = 'MalformedError';
    this.format = format;
  }
}

/** Bytes of unpadded base64url. Throws MalformedError if the text is anything else. */
export function fromBase64url(text: string, what: string): Uint8Array {
  const bytes = Buffer.from(text, 'base64url');
  // Buffer skips what it does not know; only an exact round trip shows that there was nothing to skip.
  if (bytes.toString('base64url') !== text) throw new MalformedError(what, 'it is not base64url without padding');
  return bytes;
}
