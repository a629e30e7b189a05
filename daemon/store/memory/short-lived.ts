import {
  type PendingTerminalLogin,
  type ShortLived,
  type SingleUseCodes,
  type WaitingTerminals,
  waitingBounds,
} from '../short-lived.ts';
import { type MemoryCounterOptions, MemoryCounters } from './counters.ts';

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

interface KeptLogin extends PendingTerminalLogin {
  readonly endsAt: number;
  /** Null until a person approves it. */
  login: string | null;
}

/** A few thousand requests at most: the bounds hold for those that wait, and approvals are limited. So each call may look at all. */
export class MemoryTerminalLogins implements WaitingTerminals {
  /** By code, in the order in which they were made and in which they end. */
  readonly #requests = new Map<string, KeptLogin>();
  readonly #now: () => number;

  /** `now`: milliseconds since any moment. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** How many are stored, expired ones too. */
  get size(): number {
    return this.#requests.size;
  }

  async add(request: PendingTerminalLogin, milliseconds: number): Promise<void> {
    const now = this.#now();
    for (const { code, endsAt } of this.#requests.values()) {
      if (endsAt > now) break;
      this.#requests.delete(code);
    }
    this.#requests.set(request.code, { ...request, endsAt: now + milliseconds, login: null });
    const waiting = [...this.#requests.values()].filter(({ login }) => login === null);
    const own = waiting.filter(({ network }) => network === request.network);
    if (own.length > waitingBounds.perNetwork) this.#requests.delete(own[0]!.code);
    else if (waiting.length > waitingBounds.total) this.#requests.delete(oldestOfTheLargest(waiting).code);
  }

  async find(code: string): Promise<string | null> {
    return this.#waiting(code)?.shown ?? null;
  }

  async approve(code: string, login: string): Promise<string | null> {
    const request = this.#waiting(code);
    if (!request) return null;
    request.login = login;
    return request.shown;
  }

  async take(terminal: string): Promise<string | null> {
    const request = [...this.#requests.values()].find(one => one.terminal === terminal);
    if (!request || request.login === null) return null;
    this.#requests.delete(request.code);
    return request.endsAt > this.#now() ? request.login : null;
  }

  #waiting(code: string): KeptLogin | undefined {
    const found = this.#requests.get(code);
    return found && found.login === null && found.endsAt > this.#now() ? found : undefined;
  }
}

/** The oldest request of the networks that have the most. */
function oldestOfTheLargest(waiting: readonly KeptLogin[]): KeptLogin {
  const counts = new Map<string, number>();
  for (const { network } of waiting) counts.set(network, (counts.get(network) ?? 0) + 1);
  const most = Math.max(...counts.values());
  return waiting.find(({ network }) => counts.get(network) === most)!;
}
