/** Reads the directory every few minutes. One daemon of a registry does it at a time. */
import type { DueTask } from '../background/due-work.ts';
import type { Logger } from '../base/logger.ts';
import type { Clock } from '../base/time.ts';
import { WithParts } from '../requests/context.ts';
import type { DirectorySettingsService } from './settings.ts';
import type { DirectorySync } from './sync.ts';

interface DirectoryRunsParts extends Clock {
  readonly log: Logger;
  readonly settings: Pick<DirectorySettingsService, 'read' | 'lastRun'>;
  readonly sync: Pick<DirectorySync, 'run'>;
}

const unknown = { version: 0, run: 0, all: 0 } as const;

export class DirectoryRuns extends WithParts<DirectoryRunsParts> implements DueTask {
  readonly work = 'directory';
  readonly undone = 'the directory was not read';
  /** The settings, when their next run is due, and when their next run that reads all entries is due. */
  #due: { readonly version: number; readonly run: number; readonly all: number } = unknown;
  #problem: string | null = null;

  begin(): void {
    this.#due = unknown;
  }

  async look(signal: AbortSignal): Promise<boolean> {
    const { settings, sync, log } = this.parts;
    const { version, config } = await settings.read();
    if (!config) return false;
    const at = this.parts.now();
    if (version !== this.#due.version) {
      // After a change of the settings, the person who changed them first reviews a dry run.
      const last = this.#due.version === 0 ? await settings.lastRun() : null;
      const first = (last?.settings === version ? last.at : at) + config.everyMinutes * 60_000;
      this.#due = { version, run: first, all: first };
    }
    if (at < this.#due.run && at < this.#due.all) return false;
    const isAll = at >= this.#due.all;
    const next = (minutes: number) => at + minutes * 60_000;
    this.#due = { version, run: next(config.everyMinutes), all: isAll ? next(config.fullEveryMinutes) : this.#due.all };
    const { problem, counts } = await sync.run({ isAll }, signal);
    // A run that failed has not read all entries.
    if (isAll && problem !== null) this.#due = { ...this.#due, all: this.#due.run };
    if (problem !== null && problem !== this.#problem) log.warn({ problem, counts }, 'the directory changes nothing');
    this.#problem = problem;
    return false;
  }
}
