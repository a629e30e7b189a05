/** One run of a job: batch by batch, each with its results on the disk before they are shown. */
import { interrupted } from '../fault.ts';
import type { Context } from '../framework/context.ts';
import type { JobFiles } from './job-files.ts';
import type { AnyResult, ResultWriter } from './result-writer.ts';
import { BatchSender, errorAfter } from './send.ts';

/** Work of a run. */
interface Work<Batch> {
  readonly batches: AsyncIterable<Batch>;
  readonly carryOut: (batch: Batch) => Promise<void>;
  /** Finished work, in words; null if there is none. `isUncertain`: the last batch may have been carried out as well. */
  readonly done: (isUncertain: boolean) => string | null;
  /** How to continue after an error, if the files of the job allow it. */
  readonly hint?: (error: unknown) => string;
}

/** The items in groups of at most `size`; the first group has at most `first`. */
export async function* inGroups<T>(items: AsyncIterable<T>, size: number, first = size): AsyncGenerator<readonly T[]> {
  let group: T[] = [];
  let limit = first;
  for await (const item of items) {
    if (group.push(item) < limit) continue;
    yield group;
    group = [];
    limit = size;
  }
  if (group.length > 0) yield group;
}

const repeatCommand = () => 'to continue, repeat the command with --resume';

/** Stores and shows the results of a run. What is done with a batch is up to the job. */
export class JobRun<Result extends AnyResult, Progress extends object> {
  readonly sender: BatchSender;
  /** Null if nothing is stored. */
  readonly #files: JobFiles<Result, Progress> | null;
  readonly #context: Context;
  readonly #writer: ResultWriter<Result>;

  constructor(context: Context, files: JobFiles<Result, Progress> | null, writer: ResultWriter<Result>) {
    this.#context = context;
    this.#files = files;
    this.#writer = writer;
    this.sender = new BatchSender(context);
  }

  /** Resolves when all batches are carried out. Ctrl-C ends the run after a batch. An error has what was done before it. */
  async run<Batch>({ batches, carryOut, done, hint = repeatCommand }: Work<Batch>): Promise<void> {
    const { io, out } = this.#context;
    const { sender } = this;
    const files = this.#files;
    try {
      for await (const batch of batches) {
        if (!io.interrupt.aborted) await carryOut(batch);
        if (io.interrupt.aborted) break;
      }
      if (io.interrupt.aborted) throw interrupted();
      files?.finish();
    } catch (error) {
      const words = done(sender.isUncertain);
      if (words !== null) throw errorAfter(error, words, files?.canContinue ? hint(error) : null);
      files?.discard();
      throw error;
    } finally {
      out.end();
    }
  }

  /** Stores the results, if they have a file. */
  keep(results: readonly Result[], progress: Progress): void {
    if (!this.#files?.hasFile) return;
    this.#files.write(results);
    this.#files.store(progress);
    this.sender.isUncertain = false;
  }

  /** Writes the results to standard output. Without a file, only its reader has them: they count once they are written. */
  async show(results: readonly Result[], progress: Progress): Promise<void> {
    await this.#writer.write(results);
    if (!this.#files?.hasFile) this.#files?.store(progress);
    this.sender.isUncertain = false;
  }
}
