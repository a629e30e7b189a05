/** SHA-256 of content that is too large for memory: WebCrypto has no digest of a stream. */
import { sha256 } from '@noble/hashes/sha2.js';

/** A digest that grows with each piece. */
export interface Digest {
  add(piece: Uint8Array): void;
  /** The SHA-256 of all pieces in lower-case hex. Called once, at the end. */
  hex(): string;
}

/** Begins a digest. */
export function beginDigest(): Digest {
  const hash = sha256.create();
  return {
    add(piece) {
      hash.update(piece);
    },
    hex: () => [...hash.digest()].map(byte => byte.toString(16).padStart(2, '0')).join(''),
  };
}

/** The SHA-256 of a file, which is read piece by piece. Throws AbortError if `signal` aborts. */
export async function digestOf(file: Blob, signal: AbortSignal): Promise<string> {
  const digest = beginDigest();
  const pieces = new WritableStream<Uint8Array>({
    write(piece) {
      digest.add(piece);
    },
  });
  await file.stream().pipeTo(pieces, { signal });
  return digest.hex();
}
