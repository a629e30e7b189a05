import { KeyedMutex } from '../base/concurrency.ts';

/** Files whose digest is remembered: about 3 MB. */
const MOST_KNOWN = 10_000;

/** Digests of files that were read, each as long as the state of the file (inode, size, times) is the same. */
export class KnownDigests {
  readonly #known = new Map<string, { readonly state: string; readonly sha256: string }>();
  readonly #reading = new KeyedMutex<string>();

  /** The digest of a file in this state. Several requests for one file read it once. */
  of(name: string, state: string, read: () => Promise<string>): Promise<string> {
    return this.#reading.run(name, async () => {
      const known = this.#known.get(name);
      if (known?.state === state) return known.sha256;
      const sha256 = await read();
      this.#known.delete(name);
      this.#known.set(name, { state, sha256 });
      if (this.#known.size > MOST_KNOWN) this.#known.delete(this.#known.keys().next().value!);
      return sha256;
    });
  }
}
