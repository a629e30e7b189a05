/** Bounds what people without a token make the registry ask of the provider: each address, and all together. */
import { createHash } from 'node:crypto';
import { SignInDenied, TokenRefused } from '../../delivery/provider/errors.ts';
import { clientOf } from '../../loopback.ts';
import type { Counters } from '../../store/short-lived.ts';
import { RetryLater } from '../limiter.ts';

const ALL = 'all';

/** Requests of one daemon that wait for the provider. A company behind one address signs in with few at once; a provider may take 5 s for each. */
const atOnce = { client: 16, total: 32 } as const;

/** What one client and all of them may cause in a window, on all daemons. */
interface Window {
  readonly scope: string;
  readonly client: number;
  readonly total: number;
  readonly milliseconds: number;
}

/** Terminals that ask for a code of the provider. */
const starts: Window = { scope: 'sso device start', client: 10, total: 60, milliseconds: 60_000 };
/** Codes of the provider that it has refused. What it has accepted does not count: many people may have one address. */
const refusals: Window = { scope: 'sso refused code', client: 30, total: 300, milliseconds: 10 * 60_000 };
/** Polls of all terminals. */
const polls = { scope: 'sso polls', key: ALL, most: 600, milliseconds: 60_000 };
/** Codes of terminals that the provider has accepted or refused: it is not asked again. */
const ended = { scope: 'sso poll ended', most: 1, milliseconds: 60 * 60_000 };
/** A terminal that the provider has found too fast. */
const slowed = { scope: 'sso poll slowed', most: 1, milliseconds: 10_000 };

/** The person has not signed in. `slower`: the terminal asks too often. */
export interface PollWaits {
  readonly waits: true;
  readonly slower: boolean;
}

interface ProviderRequestsParts {
  readonly counters: Counters;
  /** False if the operator has turned off limits of logins. */
  readonly limited: boolean;
}

/** Beyond a bound, everything refuses with 429 and `Retry-After`, and the provider is not asked. `address`: of the client. */
export class ProviderRequests {
  readonly #parts: ProviderRequestsParts;
  /** Requests that wait for the provider, by client. */
  readonly #waiting = new Map<string, number>();
  #total = 0;

  constructor(parts: ProviderRequestsParts) {
    this.#parts = parts;
  }

  /** Asks for a code of the provider for a terminal. */
  async start<T>(address: string, ask: () => Promise<T>): Promise<T> {
    const client = clientOf(address);
    await this.#count(starts, client);
    return this.#once(client, ask);
  }

  /** Asks with a code that came from the client. Codes that the provider refuses are counted. */
  async withCode<T>(address: string, ask: () => Promise<T>): Promise<T> {
    const client = clientOf(address);
    await this.#demand(refusals, client);
    return this.#once(client, async () => {
      try {
        return await ask();
      } catch (error) {
        if (isRefusal(error)) await this.#count(refusals, client).catch(() => {});
        throw error;
      }
    });
  }

  /**
   * Asks whether the person of a terminal has signed in: with one code once in `interval` seconds, however many ask and at whichever daemon. Null:
   * it was asked a moment ago. Rejects with `SignInDenied` if the provider has accepted or refused the code before.
   */
  async poll<T extends object>(
    address: string,
    { code, interval }: { readonly code: string; readonly interval: number },
    ask: () => Promise<T | PollWaits>,
  ): Promise<T | PollWaits | null> {
    const { counters } = this.#parts;
    const key = createHash('sha256').update(code).digest('base64url');
    if ((await counters.blockedFor(ended.scope, key, ended.most)) > 0) throw new SignInDenied('the code was used');
    if ((await counters.blockedFor(slowed.scope, key, slowed.most)) > 0) return null;
    const own = { scope: `sso poll every ${interval} s`, key, most: 1, milliseconds: interval * 1000 };
    for (const window of [own, polls]) if ((await counters.take(window)).granted === 0) return null;
    const answer = await this.#once(clientOf(address), ask).catch(async error => {
      if (isRefusal(error)) await counters.take({ ...ended, key });
      throw error;
    });
    if (!('waits' in answer)) await counters.take({ ...ended, key });
    else if (answer.slower) await counters.take({ ...slowed, key });
    return answer;
  }

  async #once<T>(client: string, ask: () => Promise<T>): Promise<T> {
    const own = this.#waiting.get(client) ?? 0;
    if (own >= atOnce.client || this.#total >= atOnce.total) throw busy(5000);
    this.#waiting.set(client, own + 1);
    this.#total++;
    try {
      return await ask();
    } finally {
      const left = this.#waiting.get(client)! - 1;
      if (left > 0) this.#waiting.set(client, left);
      else this.#waiting.delete(client);
      this.#total--;
    }
  }

  /** Refuses if a window is used up. */
  async #demand(window: Window, client: string): Promise<void> {
    if (!this.#parts.limited) return;
    for (const { scope, key, most } of windowsOf(window, client)) {
      const left = await this.#parts.counters.blockedFor(scope, key, most);
      if (left > 0) throw busy(left);
    }
  }

  async #count(window: Window, client: string): Promise<void> {
    if (!this.#parts.limited) return;
    for (const taking of windowsOf(window, client)) {
      const { granted, left } = await this.#parts.counters.take(taking);
      if (granted === 0) throw busy(left);
    }
  }
}

const isRefusal = (error: unknown): boolean => error instanceof TokenRefused || error instanceof SignInDenied;

/** The window of the client comes first: one that is beyond it uses nothing up that others have. */
const windowsOf = ({ scope, client: most, total, milliseconds }: Window, client: string) => [
  { scope, key: client, most, milliseconds },
  { scope: `${scope} of all`, key: ALL, most: total, milliseconds },
];

const busy = (milliseconds: number) =>
  new RetryLater('too many sign-ins at the provider', Math.max(1, Math.ceil(milliseconds / 1000)));
