/** One run of `people import`: reads rows, sends batches, writes one result per row. A run that was interrupted can be continued. */
import { sizes } from '../../../contract/limits.ts';
import { newKey } from '../../client/request-retry.ts';
import { count, counted } from '../../count.ts';
import { exitCodes } from '../../exit-codes.ts';
import { Fault } from '../../fault.ts';
import { type Context, notify } from '../../framework/context.ts';
import { definedFields } from '../../framework/define.ts';
import { isCount, type JobFiles } from '../../jobs/job-files.ts';
import { inGroups, JobRun } from '../../jobs/job-run.ts';
import { type ImportRow, isResultOf, type PersonResult, type RowStatus, resultOf, writerOf } from './import-rows.ts';

/** How far a run got. */
export interface ImportProgress {
  /** Rows from the start of the input that have results. */
  readonly rows: number;
  readonly counts: Readonly<Partial<Record<RowStatus, number>>>;
  /** The idempotency key and the number of rows of the batch that follows; null if it was not sent. */
  readonly pending: { readonly key: string; readonly rows: number } | null;
}

/** The files of a run. */
export type PeopleFiles = JobFiles<PersonResult, ImportProgress>;

/** Whether a stored progress is that of an import. */
export function isProgress(stored: object): boolean {
  const { rows, counts, pending } = stored as Partial<ImportProgress>;
  const isPending = !pending || (typeof pending.key === 'string' && isCount(pending.rows));
  return isPending && isCount(rows) && Object.values(counts ?? { none: -1 }).every(isCount);
}

interface RunOptions {
  readonly dryRun: boolean;
  readonly adopt: boolean;
  readonly resume: boolean;
  readonly hasOut: boolean;
}

/** Lines of each kind that a dry run shows at a terminal. */
const mostEach = 20;

/** Imports the persons of an input. Used once. */
export class PeopleImportRun {
  readonly #context: Context;
  readonly #options: RunOptions;
  readonly #rows: AsyncGenerator<ImportRow>;
  readonly #files: PeopleFiles;
  readonly #run: JobRun<PersonResult, ImportProgress>;
  #state: ImportProgress = { rows: 0, counts: {}, pending: null };

  constructor(context: Context, options: RunOptions, rows: AsyncGenerator<ImportRow>, files: PeopleFiles) {
    this.#context = context;
    this.#options = options;
    this.#rows = rows;
    this.#files = files;
    const writer = writerOf(context, options.hasOut && !options.dryRun, options.dryRun ? mostEach : undefined);
    this.#run = new JobRun(context, files, writer);
  }

  /** The exit code. Throws a fault of kind `partial` if some rows failed. */
  async run(): Promise<number> {
    await this.#run.run({
      batches: this.#batches(),
      carryOut: rows => this.#carryOut(rows),
      done: isUncertain => this.#doneWords(isUncertain),
    });
    return this.#end();
  }

  async *#batches(): AsyncGenerator<readonly ImportRow[]> {
    if (this.#options.resume) await this.#resume();
    this.#files.open();
    yield* inGroups(this.#rows, sizes.batchUpdateItems, this.#state.pending?.rows);
  }

  /** Skips the rows that an earlier run has done. Throws a usage fault if its results belong to another input. */
  async #resume(): Promise<void> {
    const files = this.#files;
    const stored = files.interrupted();
    for await (const record of files.earlier()) {
      const { value: row } = await this.#rows.next();
      if (!row || !isResultOf(record, row)) throw files.foreign();
      this.#add(1, [record.status as RowStatus]);
    }
    if (files.results === null) {
      for (let row = 0; row < (stored?.rows ?? 0); row++) await this.#rows.next();
      this.#state = stored ?? this.#state;
    } else if (stored && stored.rows !== this.#state.rows) throw files.truncated();
    this.#state = { ...this.#state, pending: stored?.pending ?? null };
    const { rows } = this.#state;
    notify(this.#context, rows > 0 ? `Continuing after ${counted(rows, 'row')}.` : 'Starting with the first row.');
  }

  #add(rows: number, statuses: readonly RowStatus[]): void {
    const counts: Partial<Record<RowStatus, number>> = { ...this.#state.counts };
    for (const status of statuses) counts[status] = (counts[status] ?? 0) + 1;
    this.#state = { rows: this.#state.rows + rows, counts, pending: null };
  }

  async #carryOut(rows: readonly ImportRow[]): Promise<void> {
    const { pending } = this.#state;
    const key = pending?.key ?? newKey();
    // If the program is killed after this, --resume sends the same batch with the same key.
    if (!this.#options.dryRun) this.#files.store({ ...this.#state, pending: { key, rows: rows.length } });
    const results = await this.#send(rows, key, pending !== null);
    this.#add(
      rows.length,
      results.map(({ status }) => status),
    );
    if (!this.#options.dryRun) this.#run.keep(results, this.#state);
    await this.#run.show(results, this.#state);
    this.#context.out.progress.show('Importing', this.#state.rows, null);
  }

  async #send(rows: readonly ImportRow[], key: string, sentBefore: boolean): Promise<readonly PersonResult[]> {
    const { adopt, dryRun } = this.#options;
    const people = rows.flatMap(({ sent }) => ('item' in sent ? [sent.item] : []));
    const body = { people, ...definedFields({ adopt: adopt || undefined, dryRun: dryRun || undefined }) };
    const { results } =
      people.length === 0
        ? { results: [] }
        : await this.#run.sender.send({
            key,
            count: people.length,
            sentBefore,
            // A person is added once, and what is equal is not changed.
            isRepeatable: true,
            send: (client, attemptKey) =>
              client.send({ operation: 'importPeople', key: attemptKey, input: { body }, retry: 'unsent' }),
          });
    let next = 0;
    return rows.map(row => ('item' in row.sent ? resultOf(row, results[next++]!) : row.sent));
  }

  /** `3 created, 1 updated, 2 failed`. */
  get #words(): string {
    const words = Object.entries(this.#state.counts).map(([status, number]) => `${count(number)} ${status}`);
    return words.join(', ') || 'nothing was done';
  }

  /** Work done before an error; null if none. */
  #doneWords(isUncertain: boolean): string | null {
    if (this.#state.rows > 0) return `${this.#words} before that`;
    return isUncertain && !this.#options.dryRun ? 'the persons that were sent may have been imported' : null;
  }

  #end(): number {
    const { failed = 0, skipped = 0 } = this.#state.counts;
    if (this.#options.dryRun) {
      notify(this.#context, `Dry run: ${this.#words}. Nothing was changed.`);
      return failed > 0 ? exitCodes.partial : exitCodes.done;
    }
    if (failed > 0)
      throw new Fault(
        'partial',
        `${counted(failed, 'row')} of ${count(this.#state.rows)} failed: ${this.#words}`,
        'each result has a line number and a reason; fix those lines and import the file again',
      );
    notify(this.#context, `${counted(this.#state.rows, 'row')}: ${this.#words}.`);
    if (skipped > 0)
      notify(this.#context, 'Skipped persons are marked as gone: --leavers COLUMN=VALUE records that they have left.');
    return exitCodes.done;
  }
}
