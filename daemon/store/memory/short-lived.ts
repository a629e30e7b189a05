import type { ShortLived, SingleUseCodes } from '../short-lived.ts';
import { type MemoryCounterOptions, MemoryCounters } from './counters.ts';
import { MemoryTerminalLogins } from './terminal-logins.ts';

/** The state of one daemon: it ends by a clock that never goes back, and with the daemon. */
export const memoryState = (options: MemoryCounterOptions = {}): ShortLived => ({
  counters: new MemoryCounters(options),
  codes: new MemoryCodes(options.monotonic),
  terminalLogins: new MemoryTerminalLogins(options.monotonic),
});

/** Codes that are kept: 3 MB. Beyond that, the oldest are forgotten. */
const MOST_CODES = 10_000;

class MemoryCodes implements SingleUseCodes {
  /** In the order in which they were made, which is about the order in which they end. */
  readonly #codes = new Map<string, { readonly session: string; readonly endsAt: number }>();
  readonly #now: () => number;

  constructor(now = () => performance.now()) {
    this.#now = now;
  }

  async put(digest: string, session: string, milliseconds: number): Promise<void> {
    const now = this.#now();
    for (const [oldest, { endsAt }] of this.#codes) {
      if (endsAt > now && this.#codes.size < MOST_CODES) break;
      this.#codes.delete(oldest);
    }
    this.#codes.set(digest, { session, endsAt: now + milliseconds });
  }

  async take(digest: string): Promise<string | null> {
    const found = this.#codes.get(digest);
    this.#codes.delete(digest);
    return found && found.endsAt > this.#now() ? found.session : null;
  }
}
