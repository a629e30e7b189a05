/** Reads the directory every few minutes. One daemon of a registry does it at a time. */
import { sleep } from '../../src/delivery/wait.ts';
import { inTurn } from '../delivery/turns.ts';
import type { Logger } from '../logger.ts';
import type { DirectorySettingsService } from '../services/directory/settings.ts';
import type { DirectorySync } from '../services/directory/sync.ts';
import type { Store } from '../store/store.ts';
import { BackgroundWork } from './background-work.ts';

/** The name of the work that daemons share. */
const WORK = 'directory';
const LOOK_MS = 5000;

interface DirectoryRunsParts {
  readonly store: Pick<Store, 'sharedWork'>;
  readonly settings: Pick<DirectorySettingsService, 'read' | 'lastRun'>;
  readonly sync: Pick<DirectorySync, 'run'>;
  readonly log: Logger;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Milliseconds between two looks at the settings; 5,000 if absent. */
  readonly lookMs?: number;
}

/** Works in the background until it is stopped. */
export class DirectoryRuns extends BackgroundWork {
  readonly #parts: DirectoryRunsParts;
  /** The settings that the times are of, when the next run is due, and the next one that reads all entries. */
  #due = { version: 0, run: 0, all: 0 };
  #problem: string | null = null;

  constructor(parts: DirectoryRunsParts) {
    super();
    this.#parts = parts;
  }

  /** The turn occupies a connection to the database: without a directory no daemon takes it. */
  protected async run(signal: AbortSignal): Promise<void> {
    const { store, settings } = this.#parts;
    while (!signal.aborted) {
      const record = await settings.read().catch(() => null);
      if (record?.config) await inTurn(store.sharedWork, WORK, signal, turn => this.#look(turn));
      else await sleep(this.#parts.lookMs ?? LOOK_MS, signal);
    }
  }

  async #look(signal: AbortSignal): Promise<void> {
    // Another daemon may have had the work since then.
    this.#due = { version: 0, run: 0, all: 0 };
    for (let isSetUp = true; isSetUp && !signal.aborted; ) {
      isSetUp = await this.runDue(signal).catch(err => {
        this.#parts.log.warn({ err }, 'the directory was not read');
        return true;
      });
      await sleep(this.#parts.lookMs ?? LOOK_MS, signal);
    }
  }

  /** Does the run that is due, if one is. Resolves with whether a directory is set up. */
  async runDue(signal: AbortSignal): Promise<boolean> {
    const { settings, sync, now, log } = this.#parts;
    const { version, config } = await settings.read();
    if (!config) return false;
    const at = now();
    if (version !== this.#due.version) {
      // Settings that have just changed are first looked at by the person who changed them.
      const last = this.#due.version === 0 ? await settings.lastRun() : null;
      const first = (last?.settings === version ? last.at : at) + config.everyMinutes * 60_000;
      this.#due = { version, run: first, all: first };
    }
    if (at < this.#due.run && at < this.#due.all) return true;
    const isAll = at >= this.#due.all;
    const next = (minutes: number) => at + minutes * 60_000;
    this.#due = { version, run: next(config.everyMinutes), all: isAll ? next(config.fullEveryMinutes) : this.#due.all };
    const { problem, counts } = await sync.run({ isAll }, signal);
    // A run that failed has not read all entries.
    if (isAll && problem !== null) this.#due = { ...this.#due, all: this.#due.run };
    if (problem !== null && problem !== this.#problem) log.warn({ problem, counts }, 'the directory changes nothing');
    this.#problem = problem;
    return true;
  }
}
