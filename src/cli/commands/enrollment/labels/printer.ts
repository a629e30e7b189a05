/** Where labels are printed: a printer in the network, or a queue of the system. */
import { createConnection, type Socket } from 'node:net';
import { Fault, systemCode, systemWords, usage } from '../../../fault.ts';
import { shellWord } from '../../../terminal/text.ts';

/** Prints labels one after the other. */
export interface Printer {
  /** For messages. */
  readonly name: string;
  /** The state of a label that the printer has taken, as in "3 labels printed on …". */
  readonly done: string;
  /** Returns when the printer or its queue has taken the label. Throws a fault of kind `hardware`. */
  print(zpl: string): Promise<void>;
  /** Why labels that were taken are not printed yet, and what to do; null if no reason is known. */
  waits(): Promise<string | null>;
}

/** The port of printers for raw data. */
const rawPort = 9100;

/** Where a printer listens. */
interface Address {
  readonly host: string;
  readonly port: number;
}

function addressOf(text: string, source: string): Address {
  const wrong = usage(`${source} ${text} is not an address`, 'give HOST or HOST:PORT, such as 10.0.0.9 or [::1]:9100');
  if (!/^[^/?#@\s]+$/.test(text)) throw wrong;
  const url = URL.parse(`tcp://${text}`);
  if (url === null || url.hostname === '' || url.port === '0') throw wrong;
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  return { host, port: url.port === '' ? rawPort : Number(url.port) };
}

/**
 * The printer that a setting names: HOST, HOST:PORT, `lp` for the default queue, or `lp:QUEUE`. `source` is the setting, for messages.
 * Throws a usage fault if the text is not one of these.
 */
export function namedPrinter(text: string, source: string, seconds: number): Printer {
  const [, queue] = /^lp(?::(.*))?$/s.exec(text) ?? [null, null];
  return queue === null ? networkPrinter(text, seconds, source) : queuePrinter(queue ?? null, seconds, `${source} lp:`);
}

/** A printer that takes raw data on a TCP port. `seconds` bounds the connection, and each wait for the printer. */
export function networkPrinter(text: string, seconds: number, source = '--printer'): Printer {
  const address = addressOf(text, source);
  const name = `printer ${text}`;
  return {
    name,
    done: `printed on ${name}`,
    waits: async () => null,
    print: zpl => sent(address, zpl, seconds).catch(error => Promise.reject(inWords(name, error, seconds))),
  };
}

/** A wait for the printer was too long. */
class Silence extends Error {
  readonly isConnected: boolean;
  constructor(isConnected: boolean) {
    super('the printer does not respond');
    this.isConnected = isConnected;
  }
}

/**
 * A connection for each label. The printer closes it after it has read the label; a system error or a wait reports that it has not.
 * A printer that has stopped leaves data in its receive buffer, so a write alone proves nothing.
 */
async function sent({ host, port }: Address, zpl: string, seconds: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const socket = createConnection({ host, port });
  try {
    let isConnected = false;
    const deadline = setTimeout(() => reject(new Silence(isConnected)), seconds * 1000);
    socket.once('connect', () => {
      isConnected = true;
      deadline.refresh();
      socket.end(zpl);
    });
    socket
      .once('error', reject)
      .once('end', () => finished(socket, resolve, reject))
      .once('close', () => clearTimeout(deadline));
    // Some printers report their state; it is not used.
    socket.resume();
    await promise;
  } finally {
    socket.destroy();
  }
}

/** The printer has closed the connection: it has the label if all of it was sent before that. */
function finished(socket: Socket, resolve: () => void, reject: (error: Error) => void): void {
  if (socket.writableFinished) resolve();
  else reject(Object.assign(new Error('closed'), { code: 'ECONNRESET' }));
}

function inWords(name: string, error: unknown, seconds: number): Fault {
  if (error instanceof Silence)
    return error.isConnected
      ? new Fault(
          'hardware',
          `${name} did not accept the label within ${seconds} s`,
          'it may be out of paper or paused',
        )
      : new Fault('hardware', `${name} did not respond within ${seconds} s`, 'switch it on, and check its address');
  const code = systemCode(error) ?? '';
  const words = reasons[code] ?? systemWords(error);
  return new Fault('hardware', `${name} ${words}`, hints[code] ?? 'switch it on, and check its address');
}

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refuses the connection',
  EHOSTUNREACH: 'cannot be reached: no route to it',
  ENETUNREACH: 'cannot be reached: no route to its network',
  ETIMEDOUT: 'does not respond',
  ENOTFOUND: 'cannot be found: its host name is unknown',
  EAI_AGAIN: 'cannot be found: the name service does not respond',
  ECONNRESET: 'closed the connection before it had received the label',
  EPIPE: 'closed the connection before it had received the label',
};
const closedHint = 'check its display; another program may be printing';
const hints: Readonly<Record<string, string>> = { ECONNRESET: closedHint, EPIPE: closedHint };

/** A queue of the system; null is the default queue. */
export function queuePrinter(queue: string | null, seconds: number, source = '--lp'): Printer {
  if (queue !== null && !/^[^\s/#-][^\s/#]*$/.test(queue))
    throw usage(`${source} "${queue}" is not the name of a queue`);
  const name = queue === null ? 'the default queue' : `queue ${queue}`;
  const args = ['-o', 'raw', ...(queue === null ? [] : ['-d', queue])];
  let used = queue;
  return {
    name,
    done: `accepted by ${name}`,
    waits: () => stoppedQueue(used),
    print: async zpl => {
      const answer = await queued(name, args, zpl, seconds);
      used ??= /request id is (\S+)-\d/.exec(answer)?.[1] ?? null;
    },
  };
}

/** The answers of the system's programs in English. They need no token of the registry. */
const inEnglish = (): NodeJS.ProcessEnv => ({ ...process.env, LC_ALL: 'C', DEVMGR_TOKEN: undefined });

/** Returns what `lp` has written. */
async function queued(name: string, args: readonly string[], zpl: string, seconds: number): Promise<string> {
  const { execFile } = await import('node:child_process');
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const child = execFile('lp', args, { timeout: seconds * 1000, env: inEnglish() }, (error, stdout, stderr) => {
    if (error === null) resolve(stdout);
    else reject(new Fault('hardware', `${name} did not accept the label: ${lpWords(error, stderr, seconds)}`, lpHint));
  });
  // If lp ends early, its exit code has the reason.
  child.stdin!.on('error', () => undefined).end(zpl);
  return promise;
}

const lpHint = 'see whether the print service runs, and its queues: lpstat -r -p';

/** Milliseconds for the state of a queue, which is only a remark. */
const stateMs = 5000;

/** A queue takes labels while it is stopped. Null if it is not stopped, or its state is not known. */
async function stoppedQueue(queue: string | null): Promise<string | null> {
  if (queue === null) return null;
  const { execFile } = await import('node:child_process');
  const { promise, resolve } = Promise.withResolvers<string>();
  execFile('lpstat', ['-p', queue], { timeout: stateMs, env: inEnglish() }, (_, stdout) => resolve(stdout));
  const [first = '', reason = ''] = (await promise).split('\n').map(line => line.trim().slice(0, 200));
  if (!first.startsWith(`printer ${queue} disabled`)) return null;
  const why = reason === '' ? '' : ` (${reason})`;
  return `queue ${queue} is stopped${why}: its labels wait until it is enabled with cupsenable ${shellWord(queue)}`;
}

function lpWords(error: Error & { readonly killed?: boolean }, stderr: string, seconds: number): string {
  if (systemCode(error) === 'ENOENT') return 'the program lp is not installed';
  if (error.killed) return `lp did not end within ${seconds} s`;
  return stderr.trim().split('\n')[0]?.slice(0, 200) || 'lp failed';
}
