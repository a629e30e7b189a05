import { Code } from '../../src/contract/codes.ts';
import type { ProgramIo, StartFailure } from '../../src/contract/programs.ts';
import { escaped } from '../base/escaped.ts';
import { StartRefused } from '../base/start-refused.ts';

/** Runs the body of a program and returns its exit code. Prints an error as text or JSON on stderr. */
export async function reporting(io: ProgramIo, json: boolean, body: () => Promise<number>): Promise<number> {
  try {
    return await body();
  } catch (error) {
    const { message, hint, exitCode, reason } = describe(error);
    if (json)
      io.stderr.write(`${JSON.stringify({ error: { code: codes[exitCode] ?? 'FAILED', message, hint, reason } })}\n`);
    else io.stderr.write(escaped(`devmgr: ${message}\n${hint ? `  ${hint}\n` : ''}`));
    return exitCode;
  }
}

/** `code` in the JSON of an error, by exit code. */
const codes: Readonly<Record<number, number | string>> = { 2: Code.parameterError, 5: 404, 9: 'UNREACHABLE' };

interface FailureWords {
  readonly message: string;
  readonly hint: string | null;
  readonly exitCode: number;
  readonly reason?: StartFailure | undefined;
}

function describe(error: unknown): FailureWords {
  if (error instanceof StartRefused) return error;
  return { message: error instanceof Error ? error.message : String(error), hint: null, exitCode: 1 };
}

/** Writes and waits until the text was taken. Returns false if the reader has closed the pipe, which is normal (`| head`). */
export function print(stream: NodeJS.WritableStream, text: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const failed = (error: Error) => (isClosed(error, stream) ? resolve(false) : reject(error));
    // The stream emits the error again after the write: without a listener, that would end the process.
    stream.once('error', failed);
    stream.write(text, error => {
      if (error) return failed(error);
      stream.off('error', failed);
      resolve(true);
    });
  });
}

/** EIO means that a terminal is gone, but that a disk has failed. */
function isClosed(error: NodeJS.ErrnoException, stream: NodeJS.WritableStream): boolean {
  return error.code === 'EPIPE' || (error.code === 'EIO' && 'isTTY' in stream && stream.isTTY === true);
}
