/**
 * Bounds what people without a token make the registry ask of the provider. Many people may have one address, and strangers may
 * have that address too: who is beyond a bound waits, and is refused only if too many wait.
 */
import { SignInDenied, TokenRefused } from '../base/errors.ts';
import { clientOf } from '../base/loopback.ts';
import { secretDigest } from '../base/single-use.ts';
import { WithParts } from '../requests/context.ts';
import type { Counters } from '../store/short-lived.ts';
import { ClientTurns, type TurnBounds } from './client-turns.ts';

const ALL = 'all';

/** Requests of one daemon that wait for the provider, which may take 5 s for each. */
const usual: TurnBounds = {
  client: 16,
  total: 32,
  waiting: { client: 250, total: 1000 },
  patience: 20_000,
  pause: 0,
};
/** Bounds of clients that have used a window up: one request a second. */
const slow: TurnBounds = { ...usual, client: 1, total: 4, waiting: { client: 30, total: 250 }, pause: 1000 };

/** Requests that one client and all of them may cause in a window, on all daemons, before requests become slow. */
interface Window {
  readonly scope: string;
  readonly client: number;
  readonly total: number;
  readonly milliseconds: number;
}

/** Terminals that ask for a code of the provider. */
const starts: Window = { scope: 'sso device start', client: 10, total: 60, milliseconds: 60_000 };
/** Codes of the provider that it has refused. What it has accepted does not count. */
const refusals: Window = { scope: 'sso refused code', client: 30, total: 300, milliseconds: 10 * 60_000 };
/** Polls of terminals. */
const polls: Window = { scope: 'sso polls', client: 180, total: 600, milliseconds: 60_000 };
/** Codes of terminals that the provider has accepted or refused: it is not asked again. */
const ended = { scope: 'sso poll ended', most: 1, milliseconds: 60 * 60_000 };
/** A terminal that the provider has found too fast. */
const slowed = { scope: 'sso poll slowed', most: 1, milliseconds: 10_000 };

/** A code of the provider for a terminal, and the seconds between two polls with it. */
export interface DeviceCode {
  readonly code: string;
  readonly interval: number;
}

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

/** `client`: the address, or what names a browser that has signed in before. Refuses with 429 and `Retry-After` if too many wait. */
export class ProviderRequests extends WithParts<ProviderRequestsParts> {
  readonly #usual = new ClientTurns(usual);
  readonly #slow = new ClientTurns(slow);

  /** Asks for a code of the provider for a terminal. */
  async start<T>(address: string, ask: () => Promise<T>): Promise<T> {
    const client = clientOf(address);
    const isSlow = await this.#isBeyond(starts, client);
    await this.#count(starts, client);
    return (isSlow ? this.#slow : this.#usual).run(client, ask);
  }

  /** Asks with a code that came from the client. Codes that the provider refuses are counted. */
  async withCode<T>(name: string, ask: () => Promise<T>): Promise<T> {
    const client = clientOf(name);
    const isSlow = await this.#isBeyond(refusals, client);
    return (isSlow ? this.#slow : this.#usual).run(client, async () => {
      try {
        return await ask();
      } catch (error) {
        if (isRefusal(error)) await this.#count(refusals, client);
        throw error;
      }
    });
  }

  /**
   * Asks whether the person of a terminal has signed in: with one code once in `interval` seconds, however many ask and at
   * whichever daemon. Null: it was asked a moment ago. Rejects with `SignInDenied` if the provider has accepted or refused the
   * code before.
   */
  async poll<T extends object>(
    address: string,
    { code, interval }: DeviceCode,
    ask: () => Promise<T | PollWaits>,
  ): Promise<T | PollWaits | null> {
    const { counters } = this.parts;
    const key = secretDigest(code);
    if ((await counters.blockedFor(ended.scope, key, ended.most)) > 0) throw new SignInDenied('the code was used');
    if ((await counters.blockedFor(slowed.scope, key, slowed.most)) > 0) return null;
    const own = { scope: `sso poll every ${interval} s`, key, most: 1, milliseconds: interval * 1000 };
    const client = clientOf(address);
    for (const window of [own, ...windowsOf(polls, client)])
      if ((await counters.take(window)).granted === 0) return null;
    const answer = await this.#usual.run(client, ask).catch(async error => {
      if (isRefusal(error)) await counters.take({ ...ended, key });
      throw error;
    });
    if (!('waits' in answer)) await counters.take({ ...ended, key });
    else if (answer.slower) await counters.take({ ...slowed, key });
    return answer;
  }

  /** Whether a client has used its window up, or all together theirs and the client a part of it. */
  async #isBeyond({ scope, client: most, total }: Window, client: string): Promise<boolean> {
    const { counters, limited } = this.parts;
    if (!limited) return false;
    const hasUsed = async (part: number) => (await counters.blockedFor(scope, client, part)) > 0;
    if (await hasUsed(most)) return true;
    return (await hasUsed(1)) && (await counters.blockedFor(`${scope} of all`, ALL, total)) > 0;
  }

  async #count(window: Window, client: string): Promise<void> {
    if (!this.parts.limited) return;
    for (const taking of windowsOf(window, client)) if ((await this.parts.counters.take(taking)).granted === 0) return;
  }
}

const isRefusal = (error: unknown): boolean => error instanceof TokenRefused || error instanceof SignInDenied;

/** The window of the client comes first: one that is beyond it uses nothing up that others have. */
const windowsOf = ({ scope, client: most, total, milliseconds }: Window, client: string) => [
  { scope, key: client, most, milliseconds },
  { scope: `${scope} of all`, key: ALL, most: total, milliseconds },
];
