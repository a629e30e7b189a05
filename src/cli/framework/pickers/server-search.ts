/** A search that asks the server, while a person types. */
import { minuteMs } from '../../../contract/durations.ts';
import { retry } from '../../../delivery/retry.ts';
import type { Client } from '../../client/client.ts';
import { isServerRefusal } from '../../client/failures.ts';
import { pause } from '../../retry.ts';
import type { ChoiceSource, Search, SearchMatches } from '../../terminal/search-prompts.ts';

/** Asks the server for a text, in at most two requests. */
export type SearchLookup<T> = (typed: string, client: Client) => Promise<SearchMatches<T>>;

/** Milliseconds without a key before the server is asked: the texts in between are skipped. */
const typingPauseMs = 250;
/** Pause in milliseconds while a person keeps on searching. */
const longPauseMs = 1_000;
/** Searches in a minute after which the pause is the long one. */
const quickSearches = 15;
/** Searches in a minute. With two requests each they leave a fifth of the limit of the interface to other commands. */
const mostSearches = 40;
/** If the server does not say when its limit ends. */
const defaultWaitSeconds = 15;

/** Milliseconds to wait before a search, by the times of the searches before it, oldest first. */
export function pauseBefore(times: readonly number[], now: number): number {
  const recent = times.filter(time => now - time < minuteMs);
  if (recent.length < quickSearches) return typingPauseMs;
  if (recent.length < mostSearches) return longPauseMs;
  return Math.max(longPauseMs, recent.at(-mostSearches)! + minuteMs - now);
}

/** One question's searches. What was found for a text is kept until the question is answered. */
export class ServerSearch<T> {
  readonly #client: Client;
  readonly #lookup: SearchLookup<T>;
  readonly #found = new Map<string, SearchMatches<T>>();
  readonly #times: number[] = [];

  constructor(client: Client, lookup: SearchLookup<T>) {
    this.#client = client;
    this.#lookup = lookup;
  }

  /** Items that are offered before anything is typed. Waits for limits and fails as any other request does. */
  async first(): Promise<SearchMatches<T>> {
    const found = await this.#lookup('', this.#client);
    this.#found.set('', found);
    return found;
  }

  readonly find: ChoiceSource<T> = async (typed, search) => {
    const known = this.#found.get(typed);
    if (known) return known;
    await this.#wait(pauseBefore(this.#times, Date.now()), search);
    const client = this.#client.with({ signal: search.signal, wait: false, start: false });
    const lookup = () => {
      this.#times.push(Date.now());
      return this.#lookup(typed, client);
    };
    const found = await retry(lookup, async error => {
      if (!isServerRefusal(error, 429)) throw error;
      await this.#wait((error.waitSeconds ?? defaultWaitSeconds) * 1000 + 50, search);
    });
    this.#found.set(typed, found);
    return found;
  };

  async #wait(milliseconds: number, { signal, note }: Search): Promise<void> {
    const isLong = milliseconds > longPauseMs;
    if (isLong) note(`the server's limit is reached: searching in ${Math.ceil(milliseconds / 1000)} s`);
    await pause(milliseconds, signal);
    if (isLong) note('');
  }
}
