/** SHA-256 of content that is too large for memory: WebCrypto has no digest of a stream. */
import { sha256 } from '@noble/hashes/sha2.js';
import { rest } from '../../parts/slices.ts';

/** Bytes between two looks at the clock: streams deliver pieces that are there without a task in between. */
const STEP = 256 * 1024;

/** A digest that grows with each piece. */
interface Digest {
  /** Resolves when the piece is part of the digest. The next piece is added after that. */
  add(piece: Uint8Array): Promise<void>;
  /** The SHA-256 of all pieces in lower-case hex. Called once, at the end. */
  hex(): string;
}

/** Begins a digest. */
export function beginDigest(): Digest {
  const hash = sha256.create();
  return {
    async add(piece) {
      for (let at = 0; at < piece.length; at += STEP) {
        hash.update(piece.subarray(at, at + STEP));
        await rest();
      }
    },
    hex: () => [...hash.digest()].map(byte => byte.toString(16).padStart(2, '0')).join(''),
  };
}

/** The SHA-256 of a file, which is read piece by piece. `onRead` gets the bytes that were read. Throws AbortError if `signal` aborts. */
export async function digestOf(file: Blob, onRead: (bytes: number) => void, signal: AbortSignal): Promise<string> {
  const digest = beginDigest();
  let read = 0;
  const pieces = new WritableStream<Uint8Array>({
    async write(piece) {
      await digest.add(piece);
      read += piece.length;
      onRead(read);
    },
  });
  await file.stream().pipeTo(pieces, { signal });
  return digest.hex();
}
