/** The process as a command sees it: three streams, what is known of them, and Ctrl-C as a signal. */
import { fstatSync, writeSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { Fault, systemCode } from '../fault.ts';

export type Env = Readonly<Record<string, string | undefined>>;

export interface Io {
  readonly stdin: Readable & { setRawMode?(on: boolean): unknown };
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
  readonly stdinIsTerminal: boolean;
  readonly stdoutIsTerminal: boolean;
  readonly stderrIsTerminal: boolean;
  /** Width of the terminal that standard output goes to; infinite where it goes elsewhere. */
  readonly columns: number;
  /** Aborts at the first SIGINT or SIGTERM. Nobody listens for those before this is first asked for. */
  readonly interrupt: AbortSignal;
  /** Resolves when the text has been taken; a reader that went away is a fault of kind `closed`. */
  write(text: string): Promise<void>;
  /** Writes to standard error, never fails. */
  say(text: string): void;
}

/** Milliseconds that a command has to end by itself after Ctrl-C. */
const graceMs = 5_000;

export function processIo(): Io {
  let interrupt: AbortSignal | undefined;
  const terminals = [1, 2].map(isTerminal);
  return {
    get stdin() {
      return process.stdin;
    },
    get stdout() {
      return process.stdout;
    },
    get stderr() {
      return process.stderr;
    },
    get stdinIsTerminal() {
      return isTerminal(0);
    },
    stdoutIsTerminal: terminals[0]!,
    stderrIsTerminal: terminals[1]!,
    get columns() {
      return terminals[0] ? process.stdout.columns || 80 : Number.POSITIVE_INFINITY;
    },
    get interrupt() {
      interrupt ??= listenForInterrupt();
      return interrupt;
    },
    write: text => writeOut(text, terminals[0]!),
    say: text => {
      try {
        const rest = terminals[1] ? text : writeAll(2, text);
        if (rest !== null) process.stderr.write(rest);
      } catch {
        // There is nobody left to tell.
      }
    },
  };
}

/** Major number of /dev/null and its like. */
const memoryDevices = 1;

/** The modules behind process.stdout take longer to load than most commands take to run: files and pipes do without. */
function isTerminal(fd: number): boolean {
  try {
    const stats = fstatSync(fd);
    if (!stats.isCharacterDevice() || (process.platform === 'linux' && stats.rdev >> 8 === memoryDevices)) return false;
    return process.getBuiltinModule('node:tty').isatty(fd);
  } catch {
    return false;
  }
}

/** Null when all was written, else what is left for the stream to write: the pipe is full and does not wait. */
function writeAll(fd: number, text: string): Buffer | null {
  const bytes = Buffer.from(text);
  let done = 0;
  while (done < bytes.length) {
    try {
      done += writeSync(fd, bytes, done);
    } catch (error) {
      if (systemCode(error) !== 'EAGAIN') throw error;
      return bytes.subarray(done);
    }
  }
  return null;
}

async function writeOut(text: string, toTerminal: boolean): Promise<void> {
  try {
    const rest = toTerminal ? Buffer.from(text) : writeAll(1, text);
    if (rest !== null) await writeStream(rest);
  } catch (error) {
    if (isReaderGone(error)) throw readerGone();
    throw new Fault(
      'failure',
      `cannot write to standard output: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

/** Whether a write failed because nobody reads what is written, or the terminal is gone. On a disk EIO is a fault of it. */
export const isReaderGone = (error: unknown): boolean =>
  systemCode(error) === 'EPIPE' || (systemCode(error) === 'EIO' && process.stdout.isTTY);

export const readerGone = (): Fault => new Fault('closed', 'nobody reads the output');

function writeStream(bytes: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    // The stream tells of an error once more, after the write: with nobody listening that would end the process.
    process.stdout.once('error', reject);
    process.stdout.write(bytes, error => {
      if (error) return reject(error);
      process.stdout.off('error', reject);
      resolve();
    });
  });
}

function listenForInterrupt(): AbortSignal {
  const controller = new AbortController();
  const leave = () => process.exit(130);
  const onSignal = () => {
    if (controller.signal.aborted) leave();
    controller.abort();
    setTimeout(leave, graceMs).unref();
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  return controller.signal;
}
