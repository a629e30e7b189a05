/** A run that changes many devices: selects them, sends batches, and keeps a result for each. */
import { sizes } from '../../../../contract/limits.ts';
import type { BatchOperation } from '../../../../contract/values.ts';
import type { ListField } from '../../../../tables/fields.ts';
import type { Table } from '../../../../tables/table.ts';
import { newKey } from '../../../client/request-retry.ts';
import { count } from '../../../count.ts';
import { Fault, usage } from '../../../fault.ts';
import { type Context, notify } from '../../../framework/context.ts';
import { isRegular, nameOf } from '../../../jobs/input-file.ts';
import { inGroups, JobRun } from '../../../jobs/job-run.ts';
import type { BatchAnswer } from '../../../jobs/send.ts';
import { previewTable } from '../../../jobs/table-preview.ts';
import { spent } from '../../../terminal/when.ts';
import type { BulkFlags } from './flags.ts';
import { devices, mostUnasked, operations } from './operations.ts';
import { BulkRecord } from './record.ts';
import {
  type BulkFiles,
  type BulkProgress,
  type BulkResult,
  changedBefore,
  invalidResult,
  namesOf,
  type PendingBatch,
  resultOf,
  type ServerResult,
  writerOf,
} from './results.ts';
import { namedDevices, previewOf, selectedDevices } from './selection.ts';
import { type Item, itemsOfFile } from './source.ts';

/** One run over the devices that `select` finds. */
export class BulkChangeRun {
  readonly #context: Context;
  readonly #operation: BatchOperation;
  readonly #common: Readonly<Record<string, unknown>>;
  readonly #files: BulkFiles | null;
  readonly #run: JobRun<BulkResult, BulkProgress>;
  readonly #record: BulkRecord;
  readonly #reportChanged: ((deviceIds: readonly string[]) => Promise<void>) | undefined;
  readonly #changed: string[] = [];
  #items: AsyncIterable<Item> | Iterable<Item> = [];
  #total: number | null = null;
  #success = 0;
  #failed = 0;
  /** The batch of an interrupted run without a response: it is sent first. */
  #pending: PendingBatch | null = null;
  /** Names of its devices, and of those that earlier runs have changed. */
  #done: ReadonlySet<string> = new Set();

  constructor(
    context: Context,
    operation: BatchOperation,
    common: Readonly<Record<string, unknown>>,
    files: BulkFiles | null,
    changed?: (deviceIds: readonly string[]) => Promise<void>,
  ) {
    this.#reportChanged = changed;
    this.#context = context;
    this.#operation = operation;
    this.#common = common;
    this.#files = files;
    this.#run = new JobRun(context, files, writerOf(context, files !== null));
    this.#record = new BulkRecord(context, operation);
  }

  /** Opens the results and finds the devices. How many will be sent; null if they are read from a file that is not counted first. */
  async select(names: readonly string[], flags: BulkFlags): Promise<number | null> {
    if (flags.resume) await this.#resume();
    this.#files?.open();
    const found = await this.#find(names, flags);
    this.#total = found === null ? null : found + (this.#pending?.items.length ?? 0);
    if (this.#total === 0 && flags.filter.length === 0)
      notify(
        this.#context,
        `Nothing to do: every device ${flags.file === undefined ? '' : `in ${nameOf(flags.file)} `}is done.`,
      );
    return this.#total;
  }

  async #resume(): Promise<void> {
    const files = this.#files!;
    this.#pending = files.interrupted()?.pending ?? null;
    const sent = this.#pending?.items.flatMap(({ target }) => namesOf(target)) ?? [];
    this.#done = new Set([...(await changedBefore(files, this.#operation)), ...sent]);
  }

  async #find(names: readonly string[], flags: BulkFlags): Promise<number | null> {
    const { file, filter, yes } = flags;
    const most = flags.max ?? (this.#operation === 'ACTIVATE' ? Number.POSITIVE_INFINITY : mostUnasked);
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
      const preview = (table: Table<ListField>) => {
        if (table.shape.headerLine !== null) previewTable(context, nameOf(file), table, { given: {}, isList: true });
      };
      const source = { file, flags, notice, operation, userId };
      const read = () => itemsOfFile(context, source);
      this.#items = itemsOfFile(context, { ...source, preview });
      if (yes && most === Number.POSITIVE_INFINITY) return null;
      // A stream cannot be read twice.
      if (!isRegular(file)) return this.#take(await firstOf(this.#items, most + 1), most);
      const total = await this.#count(read(), isNew, !yes);
      this.#demandAtMost(most, total);
      return total;
    }
    if (filter.length > 0) {
      const selection = await selectedDevices(context, filter, operation, item => this.#isDone(item));
      const preview = previewOf(selection, operation);
      if (context.globals.json) notify(context, preview);
      else await context.out.prose(preview);
      return this.#take(selection.items, most);
    }
    return this.#take((await namedDevices(context, names, operation)).filter(isNew), most);
  }

  #take(items: readonly Item[], most: number): number {
    this.#demandAtMost(most, items.length);
    this.#items = items;
    return items.length;
  }

  /** A mistaken filter must not change the whole registry. */
  #demandAtMost(most: number, total: number): void {
    if (total <= most) return;
    const { done } = operations[this.#operation];
    throw usage(
      `more than ${devices(most)} would be ${done}: nothing was changed`,
      'check them with --dry-run, then raise the limit with --max N',
    );
  }

  async #count(items: AsyncIterable<Item>, isCounted: (item: Item) => boolean, isNoted: boolean): Promise<number> {
    let total = 0;
    let invalid = 0;
    for await (const item of items) {
      if (isCounted(item)) total++;
      if (item.problem !== null) invalid++;
    }
    if (invalid > 0 && isNoted) notify(this.#context, `${invalid} of ${total} lines are not valid and will fail.`);
    return total;
  }

  #isDone({ target }: Item): boolean {
    return namesOf(target).some(name => this.#done.has(name));
  }

  async run(confirmPassword: string | undefined): Promise<number> {
    const started = performance.now();
    try {
      await this.#run.run({
        batches: this.#batches(),
        carryOut: batch =>
          'key' in batch ? this.#repeat(batch, confirmPassword) : this.#change(batch, confirmPassword),
        done: isUncertain => this.#doneWords(isUncertain),
      });
      await this.#reportChanged?.(this.#changed);
      return this.#summary((performance.now() - started) / 1000);
    } finally {
      this.#record.end();
    }
  }

  async *#batches(): AsyncGenerator<PendingBatch | readonly Item[]> {
    if (this.#pending !== null) yield this.#pending;
    yield* inGroups(this.#open(), sizes.batchUpdateItems);
  }

  async *#open(): AsyncGenerator<Item> {
    for await (const item of this.#items) if (!this.#isDone(item)) yield item;
  }

  /** Sends the batch of an interrupted run: with its key, the server returns the results if it has carried the batch out. */
  async #repeat(pending: PendingBatch, confirmPassword: string | undefined): Promise<void> {
    const { results, isReplay } = await this.#send(pending, true, confirmPassword);
    const changed = isReplay ? results.filter(({ status }) => status === 'success').length : 0;
    notify(
      this.#context,
      `The interrupted run received no response for ${devices(results.length)}; ${count(changed)} of them were changed.`,
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

  #send(
    pending: PendingBatch,
    sentBefore: boolean,
    confirmPassword: string | undefined,
  ): Promise<BatchAnswer<ServerResult>> {
    // If the program is killed after this, --resume sends the same batch with the same key.
    this.#files?.store({ pending });
    const { key, items, common } = pending;
    const body = {
      operation: this.#operation,
      items: items.map(({ target: { line: _, ...target }, fields }) => ({ ...target, ...common, ...fields })),
      ...(confirmPassword === undefined ? {} : { confirmPassword }),
    };
    return this.#run.sender.send({
      key,
      count: items.length,
      sentBefore,
      isRepeatable: false,
      send: (client, attemptKey) =>
        client.send({ operation: 'batchUpdateDevices', key: attemptKey, input: { body }, retry: 'unsent' }),
    });
  }

  async #keep(results: readonly BulkResult[]): Promise<void> {
    const { io, out } = this.#context;
    this.#run.keep(results, { pending: null });
    this.#record.add(results);
    const changed = results.filter(({ status }) => status === 'success');
    if (this.#reportChanged) this.#changed.push(...changed.flatMap(({ deviceId }) => deviceId ?? []));
    this.#success += changed.length;
    this.#failed += results.length - changed.length;
    await this.#run.show(results, { pending: null });
    if (!io.stdoutIsTerminal || this.#files !== null)
      out.progress.show(operations[this.#operation].progress, this.#success + this.#failed, this.#total);
  }

  /** Work done before an error; null if none. */
  #doneWords(isUncertain: boolean): string | null {
    if (this.#success + this.#failed === 0 && !isUncertain) return null;
    const { done } = operations[this.#operation];
    const open = isUncertain ? '; the devices that were sent last may have been changed' : '';
    return `${devices(this.#success)} ${done} and ${count(this.#failed)} failed before that${open}`;
  }

  #summary(seconds: number): number {
    const { done } = operations[this.#operation];
    const total = this.#success + this.#failed;
    if (this.#failed > 0)
      throw new Fault(
        'partial',
        `${count(this.#failed)} of ${devices(total)} failed, ${count(this.#success)} ${done}`,
        this.#files === null
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

/** The first items, at most so many. */
async function firstOf(items: AsyncIterable<Item> | Iterable<Item>, most: number): Promise<readonly Item[]> {
  const first: Item[] = [];
  for await (const item of items) if (first.push(item) >= most) break;
  return first;
}
