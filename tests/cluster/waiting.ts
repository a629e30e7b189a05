/** Waiting for a state of the cluster, and random numbers that can be repeated. */
import { setTimeout as sleep } from 'node:timers/promises';

/** Between two looks: neither HAProxy, Patroni nor etcd tells of changes. */
const LOOK_MS = 100;

/** Resolves with the first value that is not null, undefined or false. Rejects after so many seconds. A look that throws is repeated. */
export async function until<T>(
  what: string,
  seconds: number,
  look: () => Promise<T | null | undefined | false> | T | null | undefined | false,
): Promise<T> {
  let why = '';
  for (const deadline = performance.now() + seconds * 1000; performance.now() < deadline; await sleep(LOOK_MS)) {
    try {
      const found = await look();
      if (found !== null && found !== undefined && found !== false) return found;
      why = '';
    } catch (error) {
      why = `: ${(error as Error).message}`;
    }
  }
  throw new Error(`${what}: not within ${seconds} s${why}`);
}

/** JSON from a small HTTP server of the cluster. Rejects if there is no answer within two seconds. */
export async function getJson<T>(url: string): Promise<T> {
  const response = await fetch(url, { signal: AbortSignal.timeout(2000) });
  return (await response.json()) as T;
}

/** Random choices that a seed repeats. */
export class Chance {
  readonly #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
  }

  /** From `least` up to, but not including, `most`. */
  between(least: number, most: number): number {
    return least + this.#random() * (most - least);
  }

  /** A random element. */
  of<T>(list: readonly T[]): T {
    const one = list[Math.floor(this.#random() * list.length)];
    if (one === undefined) throw new Error('the list is empty');
    return one;
  }

  /** Waits for a random time, in milliseconds. */
  async pause(least: number, most: number): Promise<void> {
    await sleep(this.between(least, most));
  }
}
