import { StartRefused } from './home/settings.ts';

/** What a program of the daemon uses of the process it runs in. */
export interface ProgramIo {
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdoutIsTerminal: boolean;
  readonly stderrIsTerminal: boolean;
}

/** Runs a program's body; says in words why it could not, and answers the exit code. */
export async function reporting(io: ProgramIo, json: boolean, body: () => Promise<number>): Promise<number> {
  try {
    return await body();
  } catch (error) {
    const { message, hint, exitCode } = wordsOf(error);
    io.stderr.write(
      json
        ? `${JSON.stringify({ error: { code: exitCode === 2 ? 1001 : 'FAILED', message, hint } })}\n`
        : `devmgr: ${message}\n${hint ? `  ${hint}\n` : ''}`,
    );
    return exitCode;
  }
}

function wordsOf(error: unknown): { message: string; hint: string | null; exitCode: number } {
  if (error instanceof StartRefused) return error;
  return { message: error instanceof Error ? error.message : String(error), hint: null, exitCode: 1 };
}

/** Writes and waits until it has been taken. False where nobody reads any more, which is the reader's right (`| head`). */
export function print(stream: NodeJS.WritableStream, text: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const failed = (error: Error) => (isClosed(error, stream) ? resolve(false) : reject(error));
    // The stream tells of the error once more, after the write: with nobody listening that would end the process.
    stream.once('error', failed);
    stream.write(text, error => {
      if (error) return failed(error);
      stream.off('error', failed);
      resolve(true);
    });
  });
}

/** A terminal that is gone answers EIO; a disk that does so has failed. */
function isClosed(error: NodeJS.ErrnoException, stream: NodeJS.WritableStream): boolean {
  return error.code === 'EPIPE' || (error.code === 'EIO' && 'isTTY' in stream && stream.isTTY === true);
}
