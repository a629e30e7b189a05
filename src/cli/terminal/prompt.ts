/** Questions to a person, on standard error. Only where one is there: see `canAsk` of a command's context. */
import type { Interface } from 'node:readline';
import { Writable } from 'node:stream';
import { interrupted, usage } from '../fault.ts';
import type { Io } from './io.ts';

export interface Question {
  readonly text: string;
  /** What is typed is not shown. */
  readonly hidden?: true;
}

/** The line that was typed, without its end. Ctrl-C and Ctrl-D are faults. */
export function ask(io: Io, { text, hidden }: Question): Promise<string> {
  if (io.interrupt.aborted) return Promise.reject(interrupted());
  const { createInterface } = process.getBuiltinModule('node:readline');
  const output = hidden ? new Silent() : (io.stderr as Writable);
  const reader: Interface = createInterface({ input: io.stdin, output, terminal: true, historySize: 0 });
  return new Promise((resolve, reject) => {
    let answered = false;
    const onAbort = () => reader.close();
    io.interrupt.addEventListener('abort', onAbort, { once: true });
    reader.once('SIGINT', () => {
      answered = true;
      io.say('\n');
      reader.close();
      reject(interrupted());
    });
    reader.once('close', () => {
      io.interrupt.removeEventListener('abort', onAbort);
      if (answered) return;
      io.say('\n');
      reject(io.interrupt.aborted ? interrupted() : usage(`nothing was entered for "${text.trim()}"`));
    });
    if (hidden) io.say(text);
    reader.question(hidden ? '' : text, answer => {
      answered = true;
      if (hidden) io.say('\n');
      reader.close();
      resolve(answer);
    });
  });
}

/** Swallows what readline would echo. */
class Silent extends Writable {
  override _write(_chunk: unknown, _encoding: string, done: () => void): void {
    done();
  }
}
