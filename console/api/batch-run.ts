/** Sends many items, one batch after another. */
import { signal } from '@preact/signals';
import { type Problem, problemOf } from './problem.ts';
import { newKey } from './request.ts';

/** `paused`: a batch has failed as a whole and can be sent again. `done`: nothing is left, or the person has stopped it. */
type BatchRunState = 'ready' | 'running' | 'stopping' | 'paused' | 'done';

/** How a batch is sent. */
export interface BatchOptions {
  /** Idempotency-Key of all attempts at one batch: a batch whose response was lost is not carried out twice. */
  readonly key: string;
  /** Aborts a wait for the rate limit. */
  readonly waitSignal: AbortSignal;
}

/** A run over batches of items `I`, with a result `R` for each item. `E` is what the person has entered. */
export class BatchRun<I, R, E = void> {
  readonly state = signal<BatchRunState>('ready');
  readonly results = signal<readonly R[]>([]);
  /** Why the last batch has failed as a whole; null if it has not. */
  readonly problem = signal<Problem | null>(null);
  readonly total: number;
  readonly #batches: readonly (readonly I[])[];
  readonly #send: (batch: readonly I[], entered: E, options: BatchOptions, number: number) => Promise<readonly R[]>;
  #next = 0;
  #key = newKey();
  readonly #waits = new AbortController();

  constructor(
    batches: readonly (readonly I[])[],
    send: (batch: readonly I[], entered: E, options: BatchOptions, number: number) => Promise<readonly R[]>,
  ) {
    this.#batches = batches;
    this.#send = send;
    this.total = batches.reduce((sum, { length }) => sum + length, 0);
  }

  /** Starts, or continues with the batch that has failed. */
  async start(entered: E): Promise<void> {
    this.state.value = 'running';
    this.problem.value = null;
    while (this.state.value === 'running' && this.#next < this.#batches.length)
      if (!(await this.#sendNext(entered))) return;
    this.state.value = 'done';
  }

  /** Ends after the batch that is under way; at once without one, also while one waits for the rate limit. */
  stop(): void {
    this.#waits.abort();
    this.state.value = this.state.value === 'running' ? 'stopping' : 'done';
  }

  async #sendNext(entered: E): Promise<boolean> {
    const options = { key: this.#key, waitSignal: this.#waits.signal };
    try {
      const results = await this.#send(this.#batches[this.#next] ?? [], entered, options, this.#next);
      this.results.value = [...this.results.value, ...results];
      this.#next++;
      this.#key = newKey();
      return true;
    } catch (error) {
      const problem = problemOf(error);
      // Without a response, or with an internal error, the batch may have been carried out. Any other refusal was not.
      if (problem?.code !== 0 && problem?.code !== 500) this.#key = newKey();
      this.problem.value = problem;
      this.state.value = this.state.value === 'stopping' ? 'done' : 'paused';
      return false;
    }
  }
}
