import { every } from '../base/concurrency.ts';
import { Service, type ServiceParts } from '../requests/context.ts';
import { StoreFailure } from '../store/commit.ts';
import type { Store } from '../store/store.ts';

/** Milliseconds between two writes. */
const INTERVAL_MS = 60_000;

/** Dependencies of `LastUses`. */
interface LastUsesParts extends ServiceParts<Pick<Store, 'commit'>> {
  /** Calls periodically until the returned function is called. Tests replace it. */
  readonly every?: (milliseconds: number, call: () => void) => () => void;
}

/** When service tokens were last used. Noted in memory, and written once a minute in one commit: a request writes nothing. */
export class LastUses extends Service<LastUsesParts> {
  readonly #stopTimer: () => void;
  /** By token number: uses that are not written yet. */
  readonly #unwritten = new Map<number, number>();

  constructor(parts: LastUsesParts) {
    super(parts);
    this.#stopTimer = (parts.every ?? every)(INTERVAL_MS, () => void this.write());
  }

  /** Notes a use of a token. */
  note(token: number): void {
    this.#unwritten.set(token, this.now());
  }

  /** The last use of a token, given the one that is stored; null if there is none. */
  latest(token: number, stored: number | null): number | null {
    return this.#unwritten.get(token) ?? stored;
  }

  /** Writes what is not written yet. If the store cannot write, the uses are kept for the next time. */
  async write(): Promise<void> {
    const uses = this.#unwritten;
    if (uses.size === 0) return;
    const changes = [...uses].map(([token, usedAt]) => ({ kind: 'token.use', token, usedAt }) as const);
    try {
      await this.store.commit({ at: this.now(), actor: null, requestId: null, changes });
    } catch (error) {
      if (!(error instanceof StoreFailure)) throw error;
      return;
    }
    for (const { token, usedAt } of changes) if (uses.get(token) === usedAt) uses.delete(token);
  }

  /** Writes for the last time. */
  async stop(): Promise<void> {
    this.#stopTimer();
    await this.write();
  }
}
