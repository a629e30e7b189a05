/** Questions to a person, on standard error. Only where one is there: see `canAsk` of a command's context. */
import { interrupted, usage } from '../fault.ts';
import type { Io } from './io.ts';

export interface Question {
  readonly text: string;
  /** What is typed is not shown. */
  readonly hidden?: true;
}

/** No decoration: the question stands as it was worded, and colours are the output's business. */
const theme = { prefix: '', style: { message: (text: string) => text, answer: (text: string) => text } };

/** The line that was typed, without its end. Ctrl-C and Ctrl-D are faults. */
export async function ask(io: Io, { text, hidden }: Question): Promise<string> {
  if (io.interrupt.aborted) throw interrupted();
  const { input, password } = await import('@inquirer/prompts');
  const place = { input: io.stdin, output: io.stderr, signal: io.interrupt } as Parameters<typeof input>[1];
  const question = { message: text.trimEnd(), theme };
  try {
    return await (hidden ? password({ ...question, mask: false }, place) : input(question, place));
  } catch (error) {
    const name = error instanceof Error ? error.name : '';
    if (name === 'ExitPromptError' || name === 'AbortPromptError') throw interrupted();
    if (name === 'CancelPromptError') throw usage(`nothing was entered for "${text.trim()}"`);
    throw error;
  }
}
