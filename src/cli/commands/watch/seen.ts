/** The last event that was shown: `--since last` continues after it. */
import { join } from 'node:path';
import type { Context } from '../../context.ts';
import { usage } from '../../fault.ts';
import { readJsonFile, writeJsonFile } from '../../settings/files.ts';

/** The id that `--since` names; null if it is `last` and nothing was shown yet. Throws a usage fault. */
export function startOf(text: string, seen: Seen): number | null {
  if (text === 'last') return seen.last();
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw usage(`--since must be the id of an event or "last", not "${text}"`);
}

const saveEveryMs = 2_000;

/** The last event seen from each server, stored in the home folder. */
export class Seen {
  readonly #file: string;
  readonly #name: string;
  #id: number | null = null;
  #savedAt = Date.now();

  constructor(context: Context) {
    this.#file = join(context.settings.home, 'watched.json');
    this.#name = `${context.settings.profile}@${context.identity()}`;
  }

  /** Whether this run has no event to continue after. */
  get isEmpty(): boolean {
    return this.#id === null;
  }

  /** Null if there is none. */
  last(): number | null {
    const id = readJsonFile(this.#file)?.[this.#name];
    return typeof id === 'number' && Number.isSafeInteger(id) ? id : null;
  }

  note(id: number): void {
    this.#id = id;
    if (Date.now() - this.#savedAt > saveEveryMs) this.save();
  }

  save(): void {
    if (this.#id === null) return;
    this.#savedAt = Date.now();
    writeJsonFile(this.#file, { ...readJsonFile(this.#file), [this.#name]: this.#id });
  }
}
