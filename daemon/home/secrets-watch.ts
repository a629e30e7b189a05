/** Notices keys that another daemon on the same secrets, or a person, has replaced. */
import { lstat } from 'node:fs/promises';
import { every } from '../base/concurrency.ts';
import type { Home } from './home.ts';

/** Milliseconds between two looks: a network file system sends no events. */
const EVERY_MS = 1000;
/** Not the next key of the journal: it waits until all machines have it, and `rotate-key` shows when. */
const watched = ['signingKey', 'journalKey'] as const;

/** Dependencies of the watch. */
interface SecretsWatchParts {
  readonly home: Home;
  /** Reads the keys again and uses them. */
  readonly renew: () => Promise<void>;
  /** Receives why the keys could not be used, once for each series of failures. */
  readonly warn: (message: string, error: unknown) => void;
}

/** Looks every second, and on request. */
export class SecretsWatch {
  readonly #parts: SecretsWatchParts;
  readonly #stopLooks: () => void;
  /** The state of the files whose keys are in use. */
  #used = '';
  #renewing: Promise<boolean> | null = null;
  #failed = false;

  /** The first look uses the keys that the files have by then. */
  constructor(parts: SecretsWatchParts) {
    this.#parts = parts;
    this.#stopLooks = every(EVERY_MS, () => void this.look());
  }

  /** Uses keys that have changed. Resolves with whether there were any. Never rejects. */
  async look(): Promise<boolean> {
    const present = await stateOf(this.#parts.home);
    if (present === this.#used) return false;
    this.#renewing ??= this.#renew(present).finally(() => {
      this.#renewing = null;
    });
    return this.#renewing;
  }

  async stop(): Promise<void> {
    this.#stopLooks();
    await this.#renewing;
  }

  async #renew(present: string): Promise<boolean> {
    try {
      await this.#parts.renew();
      this.#used = present;
      this.#failed = false;
      return true;
    } catch (error) {
      if (!this.#failed) this.#parts.warn('new keys could not be used; trying again every second', error);
      this.#failed = true;
      return false;
    }
  }
}

async function stateOf(home: Home): Promise<string> {
  const stats = await Promise.all(watched.map(name => lstat(home.path(name)).catch(() => null)));
  return stats.map(stat => (stat ? `${stat.ino} ${stat.mtimeMs} ${stat.size}` : '-')).join();
}
