/** The process as a command sees it: three streams, whether each is a terminal, and Ctrl-C as a signal. */
import { fstatSync, writeSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { errorWords, Fault, failure, systemCode } from '../fault.ts';
import { hasUtf8, inAscii } from './style.ts';

export interface Io {
  readonly stdin: Readable & { setRawMode?(on: boolean): unknown };
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
  readonly stdinIsTerminal: boolean;
  readonly stdoutIsTerminal: boolean;
  readonly stderrIsTerminal: boolean;
  /** Width of the terminal on standard output, in cells; infinite if it is not a terminal. */
  readonly columns: number;
  /** Height of that terminal in rows; infinite if there is none. */
  readonly rows: number;
  /** Aborts at the first SIGINT or SIGTERM. Until this is read, those signals end the process. */
  readonly interrupt: AbortSignal;
  /** Until the result is called, SIGINT aborts `interrupt` and never ends the process: another program has the terminal. */
  withoutExit(): () => void;
  /**
   * Until the returned function is called, work that is under way may take as long as it needs after Ctrl-C. A second Ctrl-C calls
   * `abandon` to end it, and a third one, or two seconds, to end it by force; then the process ends.
   */
  finishing(abandon: Abandon): () => void;
  /** Writes to standard output. Resolves when the text has been accepted; if its reader has gone, a fault of kind `closed`. */
  write(text: string): Promise<void>;
  /** Writes to standard error. Never fails. */
  say(text: string): void;
}

/** Ends work that is under way; `byForce` if it ignored the first request. */
export type Abandon = (byForce: boolean) => void;

/** Milliseconds that work may take to end after a second Ctrl-C. */
const abandonMs = 2_000;
/** Milliseconds in which a command must end after Ctrl-C, before the process is ended. */
const graceMs = 5_000;

/** The streams of this process. They are opened when they are first used. */
export function processIo(): Io {
  let interrupt: AbortSignal | undefined;
  const patience: ExitPatience = { isEndless: false, abandons: new Set() };
  const terminals = [1, 2].map(isTerminal);
  const isUtf8 = hasUtf8(process.env);
  const drawn = (text: string, toTerminal: boolean) => (toTerminal && !isUtf8 ? inAscii(text) : text);
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
    get rows() {
      return terminals[0] ? process.stdout.rows || 24 : Number.POSITIVE_INFINITY;
    },
    get interrupt() {
      interrupt ??= listenForInterrupt(patience);
      return interrupt;
    },
    withoutExit() {
      interrupt ??= listenForInterrupt(patience);
      patience.isEndless = true;
      return () => {
        patience.isEndless = false;
      };
    },
    finishing: abandon => {
      patience.abandons.add(abandon);
      return () => void patience.abandons.delete(abandon);
    },
    write: text => writeOut(drawn(text, terminals[0]!), terminals[0]!),
    say: text => {
      try {
        const rest = terminals[1] ? drawn(text, true) : writeAll(2, text);
        if (rest !== null) process.stderr.write(rest);
      } catch {
        // Standard error has no reader: there is no one to report to.
      }
    },
  };
}

/** Major device number of /dev/null and similar devices. */
const memoryDevices = 1;

/** Does not touch process.stdout: its modules take longer to load than most commands take to run, and pipes do not need them. */
function isTerminal(fd: number): boolean {
  try {
    const stats = fstatSync(fd);
    if (!stats.isCharacterDevice() || (process.platform === 'linux' && stats.rdev >> 8 === memoryDevices)) return false;
    return process.getBuiltinModule('node:tty').isatty(fd);
  } catch {
    return false;
  }
}

/** Writes synchronously. Returns null, or what is left for the stream to write because the pipe is full. */
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
    throw writeFailure(error);
  }
}

/** The fault for an error of standard output. */
export const writeFailure = (error: unknown): Fault =>
  isReaderGone(error) ? readerGone() : failure(`cannot write to standard output: ${errorWords(error)}`);

/** Whether a write failed because the reader, or the terminal, is gone. EIO of a file is an error of its disk instead. */
const isReaderGone = (error: unknown): boolean =>
  systemCode(error) === 'EPIPE' || (systemCode(error) === 'EIO' && process.stdout.isTTY);

/** Ends a command whose output has no reader any more. */
export const readerGone = (): Fault => new Fault('closed', 'the reader of standard output has closed it');

function writeStream(bytes: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    // The stream also emits the error of a write; without a listener that would end the process.
    process.stdout.once('error', reject);
    process.stdout.write(bytes, error => {
      if (error) return reject(error);
      process.stdout.off('error', reject);
      resolve();
    });
  });
}

/** How the process ends after SIGINT and SIGTERM. */
interface ExitPatience {
  /** Another program has the terminal: SIGINT never ends the process. */
  isEndless: boolean;
  /** Work under way that may finish: what ends it. */
  readonly abandons: Set<Abandon>;
}

function listenForInterrupt(patience: ExitPatience): AbortSignal {
  const controller = new AbortController();
  const leave = () => process.exit(130);
  const leaveUnlessFinishing = () => {
    if (patience.abandons.size === 0) leave();
    setTimeout(leaveUnlessFinishing, graceMs).unref();
  };
  let isAbandoned = false;
  const abandonAll = (byForce: boolean) => {
    for (const abandon of patience.abandons) abandon(byForce);
  };
  const leaveByForce = () => {
    abandonAll(true);
    leave();
  };
  const onSignal = (signal: NodeJS.Signals) => {
    const isPatient = patience.isEndless && signal === 'SIGINT';
    if (controller.signal.aborted && !isPatient) {
      if (isAbandoned || patience.abandons.size === 0) return leaveByForce();
      isAbandoned = true;
      abandonAll(false);
      setTimeout(leaveByForce, abandonMs).unref();
      return;
    }
    controller.abort();
    if (!isPatient) setTimeout(leaveUnlessFinishing, graceMs).unref();
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  return controller.signal;
}
