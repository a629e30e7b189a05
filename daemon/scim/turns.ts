/** The requests of a SCIM token that are carried out at once, and those that wait for their turn. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { scimBounds } from '../../src/contract/limits.ts';
import { type LimitFunction, limitConcurrency } from '../base/concurrency.ts';
import { RetryLater } from '../requests/limiter.ts';

/** Turns of this daemon: another one that shares the registry has turns of its own. */
export class ScimTurns {
  /** By number of the token; those that have requests. */
  readonly #ofTokens = new Map<number, LimitFunction>();

  /** Resolves when the request has its turn, which ends when its response is closed. Refuses with 429 if too many wait already. */
  take(token: number, response: ServerResponse): Promise<void> {
    const limit = this.#ofTokens.get(token) ?? limitConcurrency(scimBounds.atOnce);
    if (limit.activeCount + limit.pendingCount >= scimBounds.atOnce + scimBounds.waiting)
      throw new RetryLater(`${scimBounds.waiting} requests of this token wait already`, 1);
    this.#ofTokens.set(token, limit);
    return new Promise(resolve => {
      // A response that is read slowly takes memory until its end, so its turn lasts as long.
      const turn = async (): Promise<void> => {
        const closed = response.closed ? undefined : once(response, 'close');
        resolve();
        await closed;
      };
      void limit(turn).then(() => {
        if (limit.activeCount + limit.pendingCount === 0) this.#ofTokens.delete(token);
      });
    });
  }
}
