/** Sends batches, each with an idempotency key: a batch that is sent again is carried out once and gets the same response. */
import { Code } from '../../contract/codes.ts';
import { retry, waitMs } from '../../delivery/retry.ts';
import { schedules } from '../../delivery/schedules.ts';
import type { Client } from '../client/client.ts';
import { isServerRefusal, ServerRefusal, Unreachable } from '../client/failures.ts';
import { newKey } from '../client/request-retry.ts';
import { Fault, failure } from '../fault.ts';
import type { Context } from '../framework/context.ts';

/** The response to one attempt. */
interface BatchResponse<Result> {
  readonly data: { readonly results: readonly Result[] };
  /** It is the stored response to an earlier request with this key. */
  readonly isReplay: boolean;
}

/** One batch. */
interface Batch<Result> {
  readonly key: string;
  /** Number of items. */
  readonly count: number;
  /** An interrupted run may have sent it with this key. */
  readonly sentBefore: boolean;
  /** Whether it may also be sent again to a server that does not accept keys. */
  readonly isRepeatable: boolean;
  readonly send: (client: Client, key: string) => Promise<BatchResponse<Result>>;
}

/** The response to a batch. */
export interface BatchAnswer<Result> {
  /** In the order of the items. */
  readonly results: readonly Result[];
  /** They are those of an earlier attempt. */
  readonly isReplay: boolean;
  /** An earlier attempt may have carried the batch out; these are not its results. */
  readonly isRepeat: boolean;
}

/** Sends the batches of a run. */
export class BatchSender {
  readonly #context: Context;
  /** The last batch may have been carried out, and its results are not stored. The run sets it to false when they are. */
  isUncertain = false;

  constructor(context: Context) {
    this.#context = context;
  }

  /** Sends the batch, and again after a pause while the server is unreachable. Ctrl-C ends only the pauses. */
  async send<Result extends { readonly status: string }>(batch: Batch<Result>): Promise<BatchAnswer<Result>> {
    const client = this.#context.registry.with({ finish: true });
    const attempts = new BatchAttempts(batch, client);
    this.isUncertain = true;
    const attempt = () => attempts.next();
    return retry(attempt, async (error, failures) => {
      this.isUncertain = attempts.maybeDone || !isRefusal(error);
      const wait = attempts.canRepeat(error) ? waitMs(schedules.batch, failures) : null;
      if (wait === null) throw error;
      this.#context.out.notice(`${(error as Error).message}; retrying in ${wait / 1000} s`);
      await client.pause(wait);
    });
  }
}

const isRefusal = (error: unknown): boolean =>
  error instanceof ServerRefusal || (error instanceof Unreachable && !error.maybeDone);

/** The attempts to send one batch. */
class BatchAttempts<Result extends { readonly status: string }> {
  readonly #batch: Batch<Result>;
  readonly #client: Client;
  #key: string;
  /** Every server that was asked before an attempt accepts keys. */
  #isSafe = true;
  /** The first attempt that may have been carried out without a response. */
  #lost: Unreachable | null = null;

  constructor(batch: Batch<Result>, client: Client) {
    this.#batch = batch;
    this.#client = client;
    this.#key = batch.key;
  }

  /** An attempt before the next one may have been carried out. */
  get maybeDone(): boolean {
    return this.#batch.sentBefore || this.#lost !== null;
  }

  async next(): Promise<BatchAnswer<Result>> {
    const { isRepeatable, sentBefore, key, count } = this.#batch;
    // An earlier version would carry the batch out twice, also one that is upgraded after the first attempt.
    if (!isRepeatable) this.#isSafe &&= await this.#client.acceptsKeys();
    if (this.#lost !== null && !isRepeatable && !this.#isSafe) throw this.#lost;
    const { data, isReplay } = await this.#send().catch(error => {
      // The interrupted run had other flags: its batch is not the same request.
      if (!sentBefore || this.#key !== key || !isServerRefusal(error, Code.parameterError)) throw error;
      this.#key = newKey();
      return this.#send();
    });
    const { results } = data;
    if (results.length !== count)
      throw failure(
        `the server returned ${results.length} results for ${count} devices`,
        'check what was changed: devmgr events',
      );
    // A batch is carried out as a whole: if one of its items succeeds now, none did before.
    const isFirst = this.#key === key && results.some(({ status }) => status === 'success');
    return { results, isReplay, isRepeat: this.maybeDone && !isReplay && !isFirst };
  }

  async #send(): Promise<BatchResponse<Result>> {
    try {
      return await this.#batch.send(this.#client, this.#key);
    } catch (error) {
      if (error instanceof Unreachable && error.maybeDone) this.#lost ??= error;
      throw error;
    }
  }

  canRepeat(error: unknown): boolean {
    return error instanceof Unreachable && (this.#batch.isRepeatable || this.#isSafe || this.#lost === null);
  }
}

/** The error of a run that stops, with what was done before it. `hint` null keeps that of the error. */
export function errorAfter(error: unknown, done: string, hint: string | null): unknown {
  if (error instanceof ServerRefusal)
    return new ServerRefusal(error.code, `${error.message}; ${done}`, { ...error, request: {}, hint });
  if (error instanceof Fault && error.kind !== 'closed')
    return new Fault(error.kind, `${error.message}; ${done}`, hint ?? error.hint);
  return error;
}
