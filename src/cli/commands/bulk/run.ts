/** A run that changes many devices: selects them, sends batches, and keeps a result for each. */
import { sizes } from '../../../contract/limits.ts';
import type { BatchOperation } from '../../../contract/values.ts';
import { ServerRefusal, Unreachable } from '../../client/failures.ts';
import type { Context } from '../../context.ts';
import { Fault, interrupted } from '../../fault.ts';
import { spent } from '../../terminal/when.ts';
import { notify } from '../import/start.ts';
import type { BulkFlags } from './flags.ts';
import { devices, operations } from './operations.ts';
import type { RunRecord } from './record.ts';
import { type BulkResult, BulkWriter, invalidResult, resultOf } from './results.ts';
import { namedDevices, previewOf, selectedDevices } from './selection.ts';
import { earlierChanges, newestEvent, type ServerResult, sendBatch } from './send.ts';
import { type Item, itemsOfFile, nameOf } from './source.ts';

/** One run over the devices that `select` finds. */
export class BulkRun {
  readonly #context: Context;
  readonly #operation: BatchOperation;
  readonly #common: Readonly<Record<string, unknown>>;
  readonly #record: RunRecord | null;
  readonly #writer: BulkWriter;
  #items: AsyncIterable<Item> | Iterable<Item> = [];
  #total: number | null = null;
  #success = 0;
  #failed = 0;
  #isPooled = false;
  /** The last batch may have been executed, and its results are not kept. */
  #uncertain = false;
  /** Names of the devices that an unanswered batch of an earlier run has changed. */
  #recovered: ReadonlySet<string> = new Set();

  constructor(
    context: Context,
    operation: BatchOperation,
    common: Readonly<Record<string, unknown>>,
    record: RunRecord | null,
  ) {
    this.#context = context;
    this.#operation = operation;
    this.#common = common;
    this.#record = record;
    this.#writer = new BulkWriter(context, record !== null);
  }

  /** Opens the results, and adds those of a batch that an interrupted run has sent without an answer. */
  async open(): Promise<void> {
    const pending = (await this.#record?.open()) ?? null;
    if (pending === null) return;
    const changes = await earlierChanges(this.#context, this.#operation, pending.head, pending.targets);
    const results = [...changes].map(([index, result]) => this.#resultOf(pending.targets[index]!, result));
    await this.#keep(results);
    notify(
      this.#context,
      `The interrupted run had sent ${devices(pending.targets.length)} without an answer; ${results.length} of them were changed.`,
    );
    this.#recovered = new Set(results.flatMap(result => [`id ${result.deviceId}`, `serial ${result.serialNumber}`]));
  }

  /** Finds the devices. How many they are; null if they are read from a file that is not counted first. */
  async select(names: readonly string[], flags: BulkFlags): Promise<number | null> {
    const { file, filter, yes } = flags;
    const context = this.#context;
    const operation = this.#operation;
    const isNew = (item: Item) => !this.#isDone(item);
    if (file !== undefined) {
      const userId = this.#common.userId as string | undefined;
      const read = () => itemsOfFile({ file, stdin: context.io.stdin, operation, userId });
      this.#items = read();
      this.#total = yes ? null : await this.#count(read(), isNew);
      if (this.#total === 0) notify(context, `Nothing to do: every device in ${nameOf(file)} is done.`);
      return this.#total;
    }
    if (filter.length > 0) {
      const selection = await selectedDevices(context, filter, operation);
      notify(context, selection.items.length === 0 ? 'No device matches.' : previewOf(selection, operation));
      return this.#take(selection.items.filter(isNew));
    }
    const items = (await namedDevices(context, names, operation)).filter(isNew);
    if (items.length === 0) notify(context, 'Nothing to do: every device is done.');
    return this.#take(items);
  }

  #take(items: readonly Item[]): number {
    this.#items = items;
    this.#total = items.length;
    return items.length;
  }

  async #count(items: AsyncIterable<Item>, isCounted: (item: Item) => boolean): Promise<number> {
    let total = 0;
    let invalid = 0;
    for await (const item of items) {
      if (isCounted(item)) total++;
      if (item.problem !== null) invalid++;
    }
    if (invalid > 0) notify(this.#context, `${invalid} of ${total} lines cannot be sent and will fail.`);
    return total;
  }

  #isDone({ target }: Item): boolean {
    const { deviceId, serialNumber } = target;
    return (
      (this.#record?.hasChanged(target) ?? false) ||
      this.#recovered.has(`id ${deviceId}`) ||
      this.#recovered.has(`serial ${serialNumber}`)
    );
  }

  async run(confirmPassword: string | undefined): Promise<number> {
    const { io, out } = this.#context;
    const started = performance.now();
    try {
      for await (const items of this.#batches()) {
        if (io.interrupt.aborted) break;
        await this.#change(items, confirmPassword);
        if (!io.stdoutIsTerminal || this.#record !== null)
          out.progress.show(operations[this.#operation].progress, this.#success + this.#failed, this.#total);
      }
      if (io.interrupt.aborted) throw interrupted();
      this.#record?.finish();
    } catch (error) {
      throw this.#withProgress(error);
    } finally {
      out.end();
    }
    return this.#summary((performance.now() - started) / 1000);
  }

  async *#batches(): AsyncGenerator<readonly Item[]> {
    let batch: Item[] = [];
    for await (const item of this.#items) {
      if (this.#isDone(item)) continue;
      batch.push(item);
      if (batch.length < sizes.batchUpdateItems) continue;
      yield batch;
      batch = [];
    }
    if (batch.length) yield batch;
  }

  async #change(items: readonly Item[], confirmPassword: string | undefined): Promise<void> {
    const sent = items.filter(({ problem }) => problem === null);
    const answered = sent.length ? await this.#send(sent, confirmPassword) : [];
    let next = 0;
    const results = items.map(item =>
      item.problem === null
        ? this.#resultOf(item.target, answered[next++]!)
        : invalidResult(this.#operation, item, item.problem),
    );
    await this.#keep(results);
    this.#uncertain = false;
  }

  async #send(items: readonly Item[], confirmPassword: string | undefined): Promise<readonly ServerResult[]> {
    const { registry } = this.#context;
    const head = await newestEvent(this.#context);
    // If the program is killed after this, --resume needs the record to find what the batch changed.
    this.#record?.begin(
      head,
      items.map(({ target }) => target),
    );
    const client = (this.#isPooled ? registry.pooled() : registry).uninterruptible();
    this.#isPooled = true;
    let lost = false;
    const onLost = () => {
      lost = true;
    };
    const common = this.#common;
    const operation = this.#operation;
    this.#uncertain = true;
    try {
      return await sendBatch(this.#context, { client, operation, items, common, confirmPassword, head, onLost });
    } catch (error) {
      const isRefused = error instanceof ServerRefusal || (error instanceof Unreachable && !error.maybeDone);
      this.#uncertain = lost || !isRefused;
      throw error;
    }
  }

  #resultOf(target: Item['target'], result: ServerResult): BulkResult {
    return resultOf(this.#operation, target, result);
  }

  /** The file comes first: what is in it is not lost if the program is killed. */
  async #keep(results: readonly BulkResult[]): Promise<void> {
    if (results.length) this.#record?.write(results);
    const success = results.filter(({ status }) => status === 'success').length;
    this.#success += success;
    this.#failed += results.length - success;
    await this.#writer.write(results);
  }

  /** The error, with what was done before it. */
  #withProgress(error: unknown): unknown {
    if (this.#success + this.#failed === 0 && !this.#uncertain) {
      this.#record?.discard();
      return error;
    }
    const { done } = operations[this.#operation];
    const upTo = `${devices(this.#success)} ${done} and ${this.#failed} failed before that`;
    const open = this.#uncertain ? '; the devices that were sent last may have been changed' : '';
    if (error instanceof ServerRefusal)
      return new ServerRefusal(error.code, `${error.message}; ${upTo}${open}`, error.waitSeconds, error.requestId);
    if (error instanceof Fault && error.kind !== 'closed')
      return new Fault(
        error.kind,
        `${error.message}; ${upTo}${open}`,
        this.#record === null ? error.hint : 'to continue, repeat the command with --resume',
      );
    return error;
  }

  #summary(seconds: number): number {
    const { done } = operations[this.#operation];
    const total = this.#success + this.#failed;
    if (this.#failed > 0)
      throw new Fault(
        'partial',
        `${this.#failed.toLocaleString('en')} of ${devices(total)} failed, ${this.#success.toLocaleString('en')} ${done}`,
        this.#record === null
          ? 'each failure has a reason; fix it and repeat the command for those devices'
          : 'each failure has a reason; fix it and repeat the command with --resume, which skips the others',
      );
    notify(
      this.#context,
      total === 0 ? 'Nothing to do: every device is done.' : `${devices(total)} ${done}${spent(seconds)}.`,
    );
    return 0;
  }
}
