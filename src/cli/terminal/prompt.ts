/** Questions to a person, on standard error. Ask only if `canAsk` of the command's context reports that someone is there. */
import { interrupted, usage } from '../fault.ts';
import type { Io } from './io.ts';
import { PromptTerminal } from './prompt-terminal.ts';
import { themeOf } from './prompt-theme.ts';
import type { Paint } from './style.ts';
import { safe } from './text.ts';

type Inquirer = typeof import('@inquirer/prompts');

/** Where questions are asked: the `Output` of a command. */
export interface Asker {
  readonly io: Io;
  /** Colors for standard error. */
  readonly tint: Paint;
  /** Whether a list can be drawn. */
  readonly canDraw: boolean;
  /** Removes a progress line. */
  end(): void;
}

/** Fault of an answer, in words for a person; null if there is none. The question stays until an answer is valid. */
export type Check<T> = (answer: T) => string | null | Promise<string | null>;

export interface Choice<T> {
  readonly value: T;
  /** Text of an item in the list. Text of servers and devices is made safe here. */
  readonly name: string;
  /** Shown when it is chosen, instead of the name. */
  readonly short?: string;
  /** Shown below the list while the cursor is on the choice. */
  readonly description?: string;
}

/** Rows of a list that are visible at once. */
export const pageSize = 10;

/** One line of text, without white space at its ends and never empty. */
export function askText(out: Asker, message: string, check: Check<string> = () => null): Promise<string> {
  const validate = async (typed: string) =>
    typed.trim() === '' ? 'Enter a value' : ((await check(typed.trim())) ?? true);
  return ask(out, message, async (inquirer, context) => {
    const typed = await inquirer.input({ message: safe(message), validate, theme: themeOf(out.tint) }, context);
    return typed.trim();
  });
}

/** A text that is not shown, exactly as it was typed and never empty. */
export function askPassword(out: Asker, message: string, check: Check<string> = () => null): Promise<string> {
  const validate = async (typed: string) => (typed === '' ? 'Enter a password' : ((await check(typed)) ?? true));
  return ask(out, message, (inquirer, context) =>
    inquirer.password({ message: safe(message), toggleMask: false, validate, theme: themeOf(out.tint) }, context),
  );
}

/** Asks, and throws a usage fault unless the answer is yes. */
export async function demandYes(out: Asker, message: string): Promise<void> {
  if (!(await confirm(out, message))) throw usage('not confirmed: nothing was changed');
}

/** Yes or no; Enter alone means no. */
export function confirm(out: Asker, message: string): Promise<boolean> {
  return ask(out, message, (inquirer, context) =>
    inquirer.confirm({ message: safe(message), default: false, theme: themeOf(out.tint) }, context),
  );
}

/** One of a few choices: arrow keys, or the first letters of a name. */
export function pickOne<T>(out: Asker, message: string, choices: readonly Choice<T>[]): Promise<T> {
  demandDrawing(out, message);
  return ask(out, message, (inquirer, context) =>
    inquirer.select(
      { message: safe(message), choices: choices.map(shown), pageSize, loop: false, theme: themeOf(out.tint) },
      context,
    ),
  );
}

/** Throws a usage fault on a terminal that only writes lines: a list would be a heap of its drawings. */
export function demandDrawing({ canDraw }: Asker, message: string): void {
  if (!canDraw)
    throw usage(
      `this terminal cannot show the list for "${message}" (TERM=dumb)`,
      'give it on the command line: see --help',
    );
}

/** A choice, safe for a terminal. */
export function shown<T>({ value, name, short = name, description }: Choice<T>) {
  const texts = description === undefined ? {} : { description: safe(description) };
  return { value, name: safe(name), short: safe(short), ...texts };
}

/** Options of Inquirer. */
export interface PromptContext {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  readonly signal: AbortSignal;
}

/** Asks one question. Ctrl-C and the end of input are faults: neither is an answer. */
export async function ask<T>(
  out: Asker,
  message: string,
  start: (inquirer: Inquirer, context: PromptContext) => Promise<T>,
): Promise<T> {
  const { interrupt } = out.io;
  out.end();
  const inquirer = await import('@inquirer/prompts');
  if (interrupt.aborted) throw interrupted();
  const terminal = new PromptTerminal(out.io);
  const { input, output, ended } = terminal;
  try {
    return await start(inquirer, { input, output, signal: AbortSignal.any([interrupt, ended]) });
  } catch (error) {
    if (ended.aborted && !interrupt.aborted) throw usage(`the input ended before "${message}" was answered`);
    if (isCancellation(error)) throw interrupted();
    throw error;
  } finally {
    terminal.close();
  }
}

/** Ctrl-C, and the abort of a prompt. */
const isCancellation = (error: unknown): boolean =>
  error instanceof Error && (error.name === 'ExitPromptError' || error.name === 'AbortPromptError');
