/** The last event that was shown: `--since last` continues after it. */
import { join } from 'node:path';
import type { Context } from '../../framework/context.ts';
import { placeOf, sinceId } from '../../framework/devices/event-selection.ts';
import { readJsonFile, writeJsonFile } from '../../settings/files.ts';

/** The id after which `--since` starts; null if it is `last` and nothing was shown yet. Throws a usage fault. */
export const startOf = async (context: Context, text: string, seen: SeenEvents): Promise<number | null> =>
  text === 'last' ? seen.last() : sinceId(context, placeOf('--since', text));

const saveEveryMs = 2_000;

/** Selection of a watch: the types of events, their device, and who caused them. */
interface Selection {
  readonly types: readonly string[];
  readonly deviceId: string | undefined;
  readonly by: string | undefined;
}

/** Selections of which the file keeps the last event: those that were watched last. */
const MOST = 200;

/** The last event seen from each server, for each selection, stored in the home folder. */
export class SeenEvents {
  readonly #file: string;
  /** The name in the file, then the names that earlier runs may have used. */
  readonly #names: readonly [string, ...string[]];
  /** Names of watches without a selection: they have seen what any selection has. */
  readonly #wider: readonly string[];
  #id: number | null = null;
  #savedAt = Date.now();

  constructor(context: Context, { types, deviceId, by }: Selection) {
    this.#file = join(context.settings.home, 'watched.json');
    const chosen = JSON.stringify({ types: types.length > 0 ? [...types].sort() : undefined, deviceId, by });
    const [identity, ...others] = context.identities();
    const wholeOf = (server: string) => `${context.settings.profile}@${server}`;
    const nameOf = (server: string) => (chosen === '{}' ? wholeOf(server) : `${wholeOf(server)} ${chosen}`);
    this.#names = [nameOf(identity), ...others.map(nameOf)];
    this.#wider = [identity, ...others].map(wholeOf);
  }

  /** Whether this run has no event to continue after. */
  get isEmpty(): boolean {
    return this.#id === null;
  }

  /** Null if there is none. */
  last(): number | null {
    const stored = readJsonFile(this.#file) ?? {};
    const ids = [...this.#names, ...this.#wider]
      .map(name => stored[name])
      .filter(id => typeof id === 'number' && Number.isSafeInteger(id));
    return ids.length === 0 ? null : Math.max(...(ids as number[]));
  }

  note(id: number): void {
    this.#id = id;
    if (Date.now() - this.#savedAt > saveEveryMs) this.save();
  }

  save(): void {
    if (this.#id === null) return;
    this.#savedAt = Date.now();
    const { [this.#names[0]]: _, ...others } = readJsonFile(this.#file) ?? {};
    const kept = Object.entries(others).slice(1 - MOST);
    writeJsonFile(this.#file, { ...Object.fromEntries(kept), [this.#names[0]]: this.#id });
  }
}
