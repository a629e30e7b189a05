import { StringDecoder } from 'node:string_decoder';
import { lineEnd, withoutMark } from '../../contract/text-file.ts';
import { Fault, failure, interrupted } from '../fault.ts';
import type { Io } from './io.ts';

/** Characters. */
const longestInput = 64 * 1024;

/** Milliseconds without input before a notice reports that the program is waiting for it. */
const patienceMs = 2_000;

/**
 * The first `count` lines of standard input without their ends, or fewer if the input ends before. Does not wait for the
 * end of the input. `what` names what is read, for notices and errors.
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
      const all = withoutMark(text).split(lineEnd);
      if (all.at(-1) === '') all.pop();
      return all.slice(0, count);
    };
    const onData = (chunk: Buffer | string) => {
      text += typeof chunk === 'string' ? chunk : decoder.write(chunk);
      if (text.split('\n').length > count) finish(() => resolve(lines()));
      else if (text.length > longestInput)
        finish(() => reject(new Fault('usage', `${what} on standard input is too long`)));
    };
    const onEnd = () => finish(() => resolve(text === '' ? [] : lines()));
    const onError = (error: Error) => finish(() => reject(failure(`cannot read standard input: ${error.message}`)));
    const onAbort = () => finish(() => reject(interrupted()));
    interrupt.addEventListener('abort', onAbort, { once: true });
    stdin.on('data', onData).on('end', onEnd).on('error', onError);
    stdin.resume();
  });
}
