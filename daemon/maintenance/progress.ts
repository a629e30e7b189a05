import type { ProgramIo } from '../../src/contract/programs.ts';
import type { CopyProgress } from './copy-rows.ts';

/** Milliseconds between two lines of progress. */
const EVERY_MS = 200;

/** One line on a terminal, which is written again; nothing elsewhere. An empty step removes it. */
export function progressOf({ stderr, stderrIsTerminal }: ProgramIo, json: boolean): CopyProgress {
  let last = 0;
  return (step, done, total) => {
    if (!stderrIsTerminal || json) return;
    const now = performance.now();
    if (step !== '' && done < total && now - last < EVERY_MS) return;
    last = now;
    const figures = `${done.toLocaleString('en-US')} of ${total.toLocaleString('en-US')}`;
    stderr.write(step === '' ? '\r\x1b[K' : `\r\x1b[K${step}: ${figures}`);
  };
}
