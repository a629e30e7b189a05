/** `--jq`: an expression that selects parts of JSON. Strings are written as they are, other results as JSON. */
import { type Context, createContext, Script } from 'node:vm';
import { compile, compileNode, type Filter, type Node } from '@michaelhomer/jqjs';
import { errorWords, interrupted, systemCode, usage } from '../fault.ts';
import { harmless, safe, safeJson } from './text.ts';

/** Results that are found before they are written. */
const batch = 1000;
/** Characters of a message about a wrong expression. */
const longestMessage = 300;

/** Results that are neither null nor false; if there are none, those on the other side. */
function* alternative(this: Node, value: unknown, variables: unknown): Generator<unknown> {
  let isFound = false;
  for (const result of this.lhs.apply(value, variables)) {
    if (result === undefined || result === null || result === false) continue;
    isFound = true;
    yield result;
  }
  if (!isFound) yield* this.rhs.apply(value, variables);
}

/** jqjs 1.6.0 writes null and false before the alternative: `.userId // "-"` had two results. */
Object.getPrototypeOf(compileNode('. // .')).apply = alternative;

/** Prototype of the objects of a response: the one method that jqjs calls. Otherwise `.tags.constructor` would be a function. */
const bare: object = Object.freeze(
  Object.create(null, { hasOwnProperty: { value: (Object.prototype as { hasOwnProperty: unknown }).hasOwnProperty } }),
);

/** The value with objects that inherit nothing else. It is changed in place. */
function bared(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  for (const part of Object.values(value)) bared(part);
  return Array.isArray(value) ? value : Object.setPrototypeOf(value, bare);
}

/**
 * An object that an expression makes has the prototype of all objects, and jqjs lets it assign there: `{} | .__proto__.host = "…"`
 * would send the next request, with its token, to another host.
 */
function lockPrototype(): void {
  Object.preventExtensions(Object.prototype);
}

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
    lockPrototype();
  }

  /**
   * Text of the results for each of the values, a line for each result; `indent` as in JSON. On a terminal another program may show them,
   * and Ctrl-C is for that program: `mayEnd` is false.
   */
  async *textOf(
    values: readonly unknown[],
    indent: number,
    { signal, mayEnd }: { readonly signal: AbortSignal; readonly mayEnd: boolean },
  ): AsyncGenerator<string> {
    const results = this.#results(values);
    for (let isDone = false; !isDone; ) {
      // An endless result must leave the program time for signals.
      await new Promise(setImmediate);
      if (signal.aborted) throw interrupted();
      this.#letSignalsEnd(mayEnd);
      const found = mayEnd ? attempt(() => next(results)) : untilInterrupt(() => next(results));
      isDone = found.length < batch;
      if (found.length > 0) yield found.map(result => `${lineOf(result, indent)}\n`).join('');
    }
  }

  *#results(values: readonly unknown[]): Generator<unknown> {
    for (const value of values) yield* this.#filter(bared(value));
  }

  /** An expression can run forever, and a listener would not be called during that: a signal then ends the process itself. */
  #letSignalsEnd(mayEnd: boolean): void {
    if (this.#isEndable) return;
    process.removeAllListeners('SIGTERM');
    if (mayEnd) process.removeAllListeners('SIGINT');
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

/**
 * Node ends a script at Ctrl-C, and with it everything that the script calls. A signal that comes while Node exchanges its handlers, before
 * and after each script, is lost: Ctrl-C then has to be pressed again.
 */
function untilInterrupt(work: () => unknown[]): unknown[] {
  context ??= createContext();
  context.work = work;
  return attempt(() => script.runInContext(context!, { breakOnSigint: true }) as unknown[]);
}

function attempt(work: () => unknown[]): unknown[] {
  try {
    return work();
  } catch (error) {
    if (systemCode(error) === 'ERR_SCRIPT_EXECUTION_INTERRUPTED') throw interrupted();
    throw wrong(error);
  }
}

function wrong(error: unknown) {
  const message = errorWords(error);
  return usage(`--jq: ${safe(message).slice(0, longestMessage)}`);
}

/** A function, which jqjs finds in `{} | .constructor`, is not a value of JSON: null, as for any other name that is absent. */
const lineOf = (result: unknown, indent: number): string =>
  typeof result === 'string'
    ? harmless(result, false)
    : safeJson(typeof result === 'function' ? null : (result ?? null), indent);
