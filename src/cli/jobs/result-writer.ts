/** Writes the results of batches to standard output: as JSON lines, as CSV, as ids alone, or for people. */
import type { Context } from '../framework/context.ts';
import { safe } from '../terminal/text.ts';

/** Failures shown to a person if the results go to a file. */
const maxShown = 20;

/** Fields of every result. */
export interface AnyResult {
  readonly status: string;
  readonly deviceId?: string;
}

/** How results are shown. */
interface Form<Result> {
  /** Whether a file has the results: people see only the failures. */
  readonly toFile: boolean;
  /** The columns, if standard output is CSV. */
  readonly columns?: ((results: readonly Result[]) => readonly string[]) | null;
  /** At a terminal, the lines of each status that people see; absent for all. */
  readonly mostEach?: number;
  /** A line for people. */
  readonly line: (result: Result) => string;
}

/** Writes the results of one run. */
export class ResultWriter<Result extends AnyResult> {
  readonly #context: Context;
  readonly #form: Form<Result>;
  #header = true;
  #shown = 0;
  readonly #seen = new Map<string, number>();
  #hidden = 0;

  constructor(context: Context, form: Form<Result>) {
    this.#context = context;
    this.#form = form;
  }

  /** Results that people do not see because of `mostEach`. */
  get hidden(): number {
    return this.#hidden;
  }

  async write(results: readonly Result[]): Promise<void> {
    const { out, globals } = this.#context;
    const { toFile, columns, line } = this.#form;
    if (globals.json) await out.rows(results);
    else if (columns) {
      await out.csv(columns(results), results, this.#header);
      this.#header = false;
    } else if (globals.quiet) await out.text(results.map(idOfSuccess).join(''));
    else if (toFile) this.#showFailures(results);
    else
      await out.text(
        this.#visible(results)
          .map(result => `${line(result)}\n`)
          .join(''),
      );
  }

  #visible(results: readonly Result[]): readonly Result[] {
    const { mostEach = Number.POSITIVE_INFINITY } = this.#form;
    if (!this.#context.io.stdoutIsTerminal) return results;
    const visible = results.filter(({ status }) => {
      const seen = (this.#seen.get(status) ?? 0) + 1;
      this.#seen.set(status, seen);
      return seen <= mostEach;
    });
    this.#hidden += results.length - visible.length;
    return visible;
  }

  #showFailures(results: readonly Result[]): void {
    const { out } = this.#context;
    for (const result of results) {
      if (result.status !== 'failed' && result.status !== 'invalid') continue;
      this.#shown++;
      if (this.#shown <= maxShown) out.notice(this.#form.line(result).trimEnd());
      else if (this.#shown === maxShown + 1) out.notice('… further failures are in the results');
    }
  }
}

const idOfSuccess = ({ status, deviceId }: AnyResult): string =>
  deviceId && status === 'success' ? `${safe(deviceId)}\n` : '';
