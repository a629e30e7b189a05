/** The last event that was shown: `--since last` continues after it. */
import { join } from 'node:path';
import type { Context } from '../../../framework/context.ts';
import { placeOf, sinceId } from '../../../framework/devices/event-selection.ts';
import { readJsonFile, writeJsonFile } from '../../../settings/files.ts';

/** The id after which `--since` starts; null if it is `last` and nothing was shown yet. Throws a usage fault. */
export const startOf = async (context: Context, text: string, seen: SeenEvents): Promise<number | null> =>
  text === 'last' ? seen.last() : sinceId(context, placeOf('--since', text));

const saveEveryMs = 2_000;

/** The last event seen from each server, stored in the home folder. */
export class SeenEvents {
  readonly #file: string;
  /** The name in the file, then the names that earlier runs may have used. */
  readonly #names: readonly [string, ...string[]];
  #id: number | null = null;
  #savedAt = Date.now();

  constructor(context: Context) {
    this.#file = join(context.settings.home, 'watched.json');
    const [identity, ...others] = context.identities();
    const nameOf = (server: string) => `${context.settings.profile}@${server}`;
    this.#names = [nameOf(identity), ...others.map(nameOf)];
  }

  /** Whether this run has no event to continue after. */
  get isEmpty(): boolean {
    return this.#id === null;
  }

  /** Null if there is none. */
  last(): number | null {
    const stored = readJsonFile(this.#file) ?? {};
    const ids = this.#names.map(name => stored[name]).filter(id => typeof id === 'number' && Number.isSafeInteger(id));
    return ids.length === 0 ? null : Math.max(...(ids as number[]));
  }

  note(id: number): void {
    this.#id = id;
    if (Date.now() - this.#savedAt > saveEveryMs) this.save();
  }

  save(): void {
    if (this.#id === null) return;
    this.#savedAt = Date.now();
    writeJsonFile(this.#file, { ...readJsonFile(this.#file), [this.#names[0]]: this.#id });
  }
}
