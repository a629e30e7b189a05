/** Carries out an operation on many devices, one batch after another. */
import { signal } from '@preact/signals';
import type { DataOf } from '../../../../src/contract/define.ts';
import { sizes } from '../../../../src/contract/limits.ts';
import type { Routes } from '../../../../src/contract/routes.ts';
import { type Problem, problemOf } from '../../../api/problem.ts';
import { call, newKey } from '../../../api/request.ts';
import type { EnteredFields } from '../operations.tsx';
import type { BulkName } from '../selection.ts';

/** What has happened to one device. */
export type ItemResult = DataOf<Routes['batchUpdateDevices']>['results'][number];

/** `paused`: a batch has failed as a whole and can be sent again. `done`: nothing is left, or the person has stopped it. */
type BulkRunState = 'ready' | 'running' | 'stopping' | 'paused' | 'done';

/** An operation on many devices. */
export class BatchRun {
  readonly state = signal<BulkRunState>('ready');
  /** Results of the batches that were sent, in the order of the devices. */
  readonly results = signal<readonly ItemResult[]>([]);
  /** Why the last batch has failed as a whole; null if it has not. */
  readonly problem = signal<Problem | null>(null);
  readonly name: BulkName;
  readonly ids: readonly string[];
  /** The same for each attempt at one batch: a batch whose response was lost is not carried out twice. */
  #key = newKey();
  readonly #waits = new AbortController();

  constructor(name: BulkName, ids: readonly string[]) {
    this.name = name;
    this.ids = ids;
  }

  /** Starts, or continues with the batch that has failed. */
  async start(entries: EnteredFields): Promise<void> {
    this.state.value = 'running';
    this.problem.value = null;
    while (this.state.value === 'running' && this.results.value.length < this.ids.length)
      if (!(await this.#sendNext(entries))) return;
    this.state.value = 'done';
  }

  /** Ends after the batch that is under way; at once without one, also while one waits for the rate limit. */
  stop(): void {
    this.#waits.abort();
    this.state.value = this.state.value === 'running' ? 'stopping' : 'done';
  }

  async #sendNext({ confirmPassword, ...fields }: EnteredFields): Promise<boolean> {
    const from = this.results.value.length;
    const items = this.ids.slice(from, from + sizes.batchUpdateItems).map(deviceId => ({ deviceId, ...fields }));
    const body = { operation: this.name, items, ...(confirmPassword !== undefined && { confirmPassword }) };
    try {
      const { results } = await call(
        'batchUpdateDevices',
        { body },
        { key: this.#key, waitSignal: this.#waits.signal },
      );
      this.results.value = [...this.results.value, ...results];
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
