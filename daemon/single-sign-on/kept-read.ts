/** A value that is read from the provider and cached for ten minutes. */
import { ProviderAway } from '../base/errors.ts';

const KEEP_MS = 10 * 60_000;
/** Limit of reads in a minute, with failed ones: anyone can send tokens, and these must not cause unlimited requests. */
const perMinute = 6;

export class KeptRead<T> {
  readonly #fetch: () => Promise<T>;
  readonly #now: () => number;
  #kept: { readonly value: T; readonly until: number } | null = null;
  #reading: Promise<T> | null = null;
  #reads: number[] = [];

  /** `now`: milliseconds since 1970. */
  constructor(fetch: () => Promise<T>, now: () => number) {
    this.#fetch = fetch;
    this.#now = now;
  }

  /** Value that was read within ten minutes. */
  async get(): Promise<T> {
    return this.#kept && this.#kept.until > this.#now() ? this.#kept.value : this.again();
  }

  /** Reads again. Rejects with `ProviderAway` if it was read too often in the last minute. */
  async again(): Promise<T> {
    const now = this.#now();
    this.#reads = this.#reads.filter(at => at > now - 60_000);
    if (this.#reading || this.#reads.length < perMinute) return this.read();
    throw new ProviderAway(`asked ${perMinute} times within a minute`);
  }

  /** Reads again; calls at the same time share one read. */
  read(): Promise<T> {
    if (!this.#reading) {
      this.#reads.push(this.#now());
      this.#reading = this.#fetch()
        .then(value => {
          this.#kept = { value, until: this.#now() + KEEP_MS };
          return value;
        })
        .finally(() => {
          this.#reading = null;
        });
    }
    return this.#reading;
  }
}
