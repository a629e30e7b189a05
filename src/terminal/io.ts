/** The process as a command sees it: three streams, what is known of them, and Ctrl-C as a signal. */
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
  const { stdout, stderr } = process;
  let interrupt: AbortSignal | undefined;
  let closed = false;
  stdout.on('error', () => {
    closed = true;
  });
  stderr.on('error', () => undefined);
  return {
    get stdin() {
      return process.stdin;
    },
    stdout,
    stderr,
    get stdinIsTerminal() {
      return process.stdin.isTTY === true;
    },
    stdoutIsTerminal: stdout.isTTY === true,
    stderrIsTerminal: stderr.isTTY === true,
    get columns() {
      return stdout.isTTY ? stdout.columns || 80 : Number.POSITIVE_INFINITY;
    },
    get interrupt() {
      interrupt ??= listenForInterrupt();
      return interrupt;
    },
    write: text =>
      new Promise((resolve, reject) => {
        if (closed) reject(new Fault('closed', 'nobody reads the output'));
        else
          stdout.write(text, error => {
            if (!error) resolve();
            else if (systemCode(error) === 'EPIPE') reject(new Fault('closed', 'nobody reads the output'));
            else reject(new Fault('failure', `cannot write to standard output: ${error.message}`));
          });
      }),
    say: text => void stderr.write(text),
  };
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
