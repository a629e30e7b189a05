import type { CommitNotice } from './store.ts';

type CommitListener = (notice: CommitNotice) => void;

/** Listeners that a store notifies of commits: see `Store.onCommit`. `log` receives lines for the log. */
export class CommitListeners {
  readonly #listeners = new Set<CommitListener>();
  readonly #log: (message: string) => void;

  constructor(log: (message: string) => void = () => {}) {
    this.#log = log;
  }

  /** Returns the function that removes the listener. */
  add(listener: CommitListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  notify(notice: CommitNotice): void {
    for (const listener of this.#listeners) {
      try {
        listener(notice);
      } catch (error) {
        // A commit stays committed, even if a listener fails.
        this.#log(
          `a listener failed after a commit: ${error instanceof Error ? (error.stack ?? error.message) : error}`,
        );
      }
    }
  }
}
