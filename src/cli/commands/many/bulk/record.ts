/** Record of the changes of a run, in a file of the home: with it the run can be undone, whatever has become of its output. */
import { dirname, join } from 'node:path';
import { homeFiles } from '../../../../contract/local.ts';
import type { BatchOperation } from '../../../../contract/values.ts';
import { systemWords } from '../../../fault.ts';
import { type Context, commandLine, notify } from '../../../framework/context.ts';
import { ResultFile } from '../../../jobs/result-file.ts';
import { makeFolder } from '../../../settings/files.ts';
import { shellWord } from '../../../terminal/text.ts';
import { mostUnasked } from './operations.ts';
import { type BulkResult, resultFields } from './results.ts';

/** The command that takes back what an operation did; the others cannot be undone. */
const undo: Partial<Record<BatchOperation, string>> = {
  LOCK: 'unlock',
  UNLOCK: 'lock --reason undo',
};

/** The record of one run: the changes alone, not what failed. */
export class BulkRecord {
  readonly #context: Context;
  readonly #operation: BatchOperation;
  readonly #path: string;
  #file: ResultFile<BulkResult> | null = null;
  #changed = 0;
  #failure: unknown = null;

  constructor(context: Context, operation: BatchOperation) {
    this.#context = context;
    this.#operation = operation;
    const time = new Date().toISOString().replace(/[-:]|\.\d+/g, '');
    const name = `${time}-${operation.toLowerCase().replace('_', '-')}-${process.pid}.csv`;
    this.#path = join(context.settings.home, homeFiles.changes, name);
  }

  /** Returns when the disk has the changes. A failure does not end the run: `end` reports it. */
  add(results: readonly BulkResult[]): void {
    const changes = results.filter(({ status }) => status === 'success');
    if (changes.length === 0 || this.#failure !== null) return;
    try {
      if (this.#file === null) makeFolder(dirname(this.#path));
      this.#file ??= new ResultFile(this.#path, false, 0, resultFields);
      this.#file.write(changes);
      this.#changed += changes.length;
    } catch (error) {
      this.#failure = error;
    }
  }

  /** Closes the file, and shows how to undo the changes. */
  end(): void {
    this.#file?.close();
    if (this.#failure !== null)
      this.#context.out.warn(`${this.#path} does not have all changes of this run: ${systemWords(this.#failure)}`);
    if (this.#changed === 0) return;
    const reverse = undo[this.#operation];
    if (reverse === undefined) {
      notify(this.#context, `What was changed is in ${this.#path}.`);
      return;
    }
    const max = this.#changed > mostUnasked ? ` --max ${this.#changed}` : '';
    const line = commandLine(this.#context, `${reverse} --file ${shellWord(this.#path)} --yes${max}`);
    notify(this.#context, `To undo it: ${line}`);
  }
}
