/** `--jq`: an expression that selects parts of JSON. Strings are written as they are, other results as JSON. */
import { type Context, createContext, Script } from 'node:vm';
import { compile, type Filter } from '@michaelhomer/jqjs';
import { interrupted, systemCode, usage } from '../fault.ts';
import { harmless, safe, safeJson } from './text.ts';

/** Results that are found before they are written. */
const batch = 1000;
/** Characters of a message about a wrong expression. */
const longestMessage = 300;

/** A jq expression, ready to be applied. Loaded only with `--jq`. */
export class Selection {
  readonly #filter: Filter;
  #isEndable = false;

  /** A fault of kind `usage` if the expression is wrong. */
  constructor(expression: string) {
    try {
      this.#filter = compile(expression);
    } catch (error) {
      throw wrong(error);
    }
  }

  /** Text of the results for each of the values, a line for each result; `indent` as in JSON. */
  async *textOf(values: readonly unknown[], indent: number, signal: AbortSignal): AsyncGenerator<string> {
    const results = this.#results(values);
    for (let isDone = false; !isDone; ) {
      // An endless result must leave the program time for signals.
      await new Promise(setImmediate);
      if (signal.aborted) throw interrupted();
      this.#letSigtermEnd();
      const found = untilInterrupt(() => next(results));
      isDone = found.length < batch;
      if (found.length > 0) yield found.map(result => `${lineOf(result, indent)}\n`).join('');
    }
  }

  *#results(values: readonly unknown[]): Generator<unknown> {
    for (const value of values) yield* this.#filter(value);
  }

  /** An expression can run forever, and a listener would never be called meanwhile: the signal then ends the process itself. */
  #letSigtermEnd(): void {
    if (!this.#isEndable) process.removeAllListeners('SIGTERM');
    this.#isEndable = true;
  }
}

function next(results: Generator<unknown>): unknown[] {
  const found: unknown[] = [];
  while (found.length < batch) {
    const { done, value } = results.next();
    if (done) break;
    found.push(value);
  }
  return found;
}

const script = new Script('work()');
let context: Context | undefined;

/** Node ends a script at Ctrl-C, and with it everything that the script calls. */
function untilInterrupt(work: () => unknown[]): unknown[] {
  context ??= createContext();
  context.work = work;
  try {
    return script.runInContext(context, { breakOnSigint: true }) as unknown[];
  } catch (error) {
    if (systemCode(error) === 'ERR_SCRIPT_EXECUTION_INTERRUPTED') throw interrupted();
    throw wrong(error);
  }
}

function wrong(error: unknown) {
  const message = error instanceof Error ? error.message : String(error);
  return usage(`--jq: ${safe(message).slice(0, longestMessage)}`);
}

const lineOf = (result: unknown, indent: number): string =>
  typeof result === 'string' ? harmless(result, false) : safeJson(result ?? null, indent);
