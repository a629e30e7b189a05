import { StringDecoder } from 'node:string_decoder';
import { Fault, interrupted } from '../fault.ts';
import type { Io } from './io.ts';

const longestLine = 64 * 1024;

/** Says that it waits where nothing has come for so long. */
const patienceMs = 2_000;

/**
 * The first so many lines of standard input (fewer where it ends), without waiting for its end. `what` names what is read, for the notice that it is
 * waited for.
 */
export function firstLines(io: Io, count: number, what: string): Promise<string[]> {
  const { stdin, interrupt } = io;
  if (interrupt.aborted) return Promise.reject(interrupted());
  return new Promise((resolve, reject) => {
    const decoder = new StringDecoder('utf8');
    let text = '';
    const notice = setTimeout(() => io.say(`waiting for ${what} on standard input\n`), patienceMs);
    const finish = (act: () => void) => {
      clearTimeout(notice);
      stdin.off('data', onData).off('end', onEnd).off('error', onError);
      interrupt.removeEventListener('abort', onAbort);
      stdin.pause();
      act();
    };
    const lines = () => {
      const all = text.split(/\r?\n/);
      if (text.endsWith('\n')) all.pop();
      return all.slice(0, count);
    };
    const onData = (chunk: Buffer | string) => {
      text += typeof chunk === 'string' ? chunk : decoder.write(chunk);
      if (text.split('\n').length > count) finish(() => resolve(lines()));
      else if (text.length > longestLine)
        finish(() => reject(new Fault('usage', `${what} on standard input is longer than a line can be`)));
    };
    const onEnd = () => finish(() => resolve(text === '' ? [] : lines()));
    const onError = (error: Error) =>
      finish(() => reject(new Fault('failure', `cannot read standard input: ${error.message}`)));
    const onAbort = () => finish(() => reject(interrupted()));
    interrupt.addEventListener('abort', onAbort, { once: true });
    stdin.on('data', onData).on('end', onEnd).on('error', onError);
    stdin.resume();
  });
}
