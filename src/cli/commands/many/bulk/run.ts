/** A run that changes many devices: selects them, sends batches, and keeps a result for each. */
import { sizes } from '../../../../contract/limits.ts';
import type { BatchOperation } from '../../../../contract/values.ts';
import { newKey } from '../../../client/keyed-write.ts';
import type { Context } from '../../../framework/context.ts';
import { count } from '../../../framework/count.ts';
import { Fault, interrupted } from '../../../framework/fault.ts';
import type { ResultWriter } from '../../../jobs/result-writer.ts';
import { type Answer, BatchSender, errorAfter } from '../../../jobs/send.ts';
import { spent } from '../../../terminal/when.ts';
import { encodingOf } from '../import/encoding.ts';
import { notify } from '../import/start.ts';
import type { BulkFlags } from './flags.ts';
import { devices, operations } from './operations.ts';
import type { Pending, RunRecord } from './record.ts';
import { type BulkResult, invalidResult, namesOf, resultOf, type ServerResult, writerOf } from './results.ts';
import { namedDevices, previewOf, selectedDevices } from './selection.ts';
import { type Item, itemsOfFile, nameOf } from './source.ts';

/** One run over the devices that `select` finds. */
export class BulkRun {
  readonly #context: Context;
  readonly #operation: BatchOperation;
  readonly #common: Readonly<Record<string, unknown>>;
  readonly #record: RunRecord | null;
  readonly #writer: ResultWriter<BulkResult>;
  readonly #sender: BatchSender;
  #items: AsyncIterable<Item> | Iterable<Item> = [];
  #total: number | null = null;
  #success = 0;
  #failed = 0;
  /** The batch of an interrupted run without a response: it is sent first. */
  #pending: Pending | null = null;
  /** Names of its devices. */
  #sentBefore: ReadonlySet<string> = new Set();

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
    this.#writer = writerOf(context, record !== null);
    this.#sender = new BatchSender(context);
  }

  /** Opens the results. */
  async open(): Promise<void> {
    this.#pending = (await this.#record?.open()) ?? null;
    this.#sentBefore = new Set(this.#pending?.items.flatMap(({ target }) => namesOf(target)));
  }

  /** Finds the devices. How many will be sent; null if they are read from a file that is not counted first. */
  async select(names: readonly string[], flags: BulkFlags): Promise<number | null> {
    const found = await this.#find(names, flags);
    this.#total = found === null ? null : found + (this.#pending?.items.length ?? 0);
    if (this.#total === 0 && flags.filter.length === 0)
      notify(
        this.#context,
        `Nothing to do: every device ${flags.file === undefined ? '' : `in ${nameOf(flags.file)} `}is done.`,
      );
    return this.#total;
  }

  async #find(names: readonly string[], flags: BulkFlags): Promise<number | null> {
    const { file, filter, yes } = flags;
    const context = this.#context;
    const operation = this.#operation;
    const isNew = (item: Item) => !this.#isDone(item);
    if (file !== undefined) {
      const userId = this.#common.userId as string | undefined;
      const said = new Set<string>();
      // The file is read twice if it is counted first.
      const notice = (text: string) => {
        if (!said.has(text)) notify(context, text);
        said.add(text);
      };
      const encoding = encodingOf(flags.encoding);
      const read = () => itemsOfFile({ file, stdin: context.io.stdin, encoding, notice, operation, userId });
      this.#items = read();
      return yes ? null : this.#count(read(), isNew);
    }
    if (filter.length > 0) {
      const selection = await selectedDevices(context, filter, operation, item => this.#isDone(item));
      const preview = previewOf(selection, operation);
      if (context.globals.json) notify(context, preview);
      else await context.out.prose(preview);
      return this.#take(selection.items);
    }
    return this.#take((await namedDevices(context, names, operation)).filter(isNew));
  }

  #take(items: readonly Item[]): number {
    this.#items = items;
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
    return (this.#record?.hasChanged(target) ?? false) || namesOf(target).some(name => this.#sentBefore.has(name));
  }

  async run(confirmPassword: string | undefined): Promise<number> {
    const { io, out } = this.#context;
    const started = performance.now();
    try {
      if (this.#pending !== null) await this.#repeat(this.#pending, confirmPassword);
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

  /** Sends the batch of an interrupted run: with its key, the server returns the results if it has carried the batch out. */
  async #repeat(pending: Pending, confirmPassword: string | undefined): Promise<void> {
    const { results, isReplay } = await this.#send(pending, true, confirmPassword);
    const changed = isReplay ? results.filter(({ status }) => status === 'success').length : 0;
    notify(
      this.#context,
      `The interrupted run had sent ${devices(results.length)} without an answer; ${count(changed)} of them were changed.`,
    );
    await this.#keep(pending.items.map(({ target }, index) => resultOf(this.#operation, target, results[index]!)));
  }

  async #change(items: readonly Item[], confirmPassword: string | undefined): Promise<void> {
    const sent = items.filter(({ problem }) => problem === null);
    const pending = { key: newKey(), items: sent, common: this.#common };
    const answered = sent.length ? (await this.#send(pending, false, confirmPassword)).results : [];
    let next = 0;
    const results = items.map(item =>
      item.problem === null
        ? resultOf(this.#operation, item.target, answered[next++]!)
        : invalidResult(this.#operation, item, item.problem),
    );
    await this.#keep(results);
  }

  #send(pending: Pending, sentBefore: boolean, confirmPassword: string | undefined): Promise<Answer<ServerResult>> {
    // If the program is killed after this, --resume sends the same batch with the same key.
    this.#record?.begin(pending);
    const { key, items, common } = pending;
    const body = {
      operation: this.#operation,
      items: items.map(({ target: { line: _, ...target }, fields }) => ({ ...target, ...common, ...fields })),
      ...(confirmPassword === undefined ? {} : { confirmPassword }),
    };
    return this.#sender.send({
      key,
      count: items.length,
      sentBefore,
      isRepeatable: false,
      send: (client, attemptKey) =>
        client.send({ operation: 'batchUpdateDevices', key: attemptKey, input: { body }, retry: 'unsent' }),
    });
  }

  /** The file comes first: what is in it is not lost if the program is killed. */
  async #keep(results: readonly BulkResult[]): Promise<void> {
    this.#record?.write(results);
    this.#sender.isUncertain = false;
    const success = results.filter(({ status }) => status === 'success').length;
    this.#success += success;
    this.#failed += results.length - success;
    await this.#writer.write(results);
  }

  /** The error, with what was done before it. */
  #withProgress(error: unknown): unknown {
    const { isUncertain } = this.#sender;
    if (this.#success + this.#failed === 0 && !isUncertain) {
      this.#record?.discard();
      return error;
    }
    const { done } = operations[this.#operation];
    const upTo = `${devices(this.#success)} ${done} and ${count(this.#failed)} failed before that`;
    const open = isUncertain ? '; the devices that were sent last may have been changed' : '';
    return errorAfter(error, upTo + open, this.#record && 'to continue, repeat the command with --resume');
  }

  #summary(seconds: number): number {
    const { done } = operations[this.#operation];
    const total = this.#success + this.#failed;
    if (this.#failed > 0)
      throw new Fault(
        'partial',
        `${count(this.#failed)} of ${devices(total)} failed, ${count(this.#success)} ${done}`,
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
