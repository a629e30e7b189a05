/** A connection to a directory: verified, bounded, and each message checked before the library reads it. */
import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { isLoopbackName } from '../../../src/contract/local.ts';
import { certificateProblem, connectionProblem } from '../../base/connection-problem.ts';
import { hostOf } from '../../base/networks.ts';
import { checkMessage, MalformedMessage, messageLength } from './messages.ts';

/** Bytes of one message, and of the answer to one request; milliseconds until a connection is open. */
const bounds = { message: 1024 * 1024, answer: 32 * 1024 * 1024, connectMs: 10_000 } as const;

/** Why a connection ends when its signal is aborted. */
export const GIVEN_UP =
  'was canceled: the daemon is stopping, the client has disconnected, or the time limit was reached';

/** The directory cannot be read now. `message`: why, in words that follow "the directory". */
export class DirectoryFailure extends Error {
  override name = 'DirectoryFailure';
}

/** Fault of the address of a directory, in words that follow "url "; null if there is none. */
export function urlProblem(text: string): string | null {
  const url = URL.parse(text);
  if (!url || (url.protocol !== 'ldaps:' && url.protocol !== 'ldap:') || url.hostname === '')
    return 'must be an address, ldaps://HOST';
  if (url.username !== '' || url.password !== '') return 'must not contain a user name or a password';
  if (url.pathname.length > 1 || url.search !== '' || url.hash !== '') return 'must end with the host or the port';
  if (url.protocol === 'ldaps:' || isLoopbackName(url.hostname)) return null;
  return 'must start with ldaps://; ldap:// is for this machine only';
}

/** The socket of the library: whole, checked messages, one at a time. References to other servers are left out. */
export class LdapStream extends Duplex {
  /** So the library takes it as an open socket. */
  readonly connecting = false;
  readonly readyState = 'open';
  /** Why the stream was destroyed. */
  failure: DirectoryFailure | null = null;
  /** Cookie of the last `LdapMessage`. */
  cookie: Buffer | null = null;
  readonly #socket: Socket;
  #waiting: Buffer[] = [];
  #size = 0;
  /** Bytes that are needed before the next look. */
  #needed = 2;
  #left = { entries: 1, bytes: bounds.answer as number };

  constructor(socket: Socket) {
    super({ readableObjectMode: true, allowHalfOpen: false });
    this.#socket = socket;
    // The library listens from its first request on.
    this.on('error', () => {});
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.once('end', () => this.push(null));
    socket.once('error', error => this.fail(`closed the connection: ${error.message}`, error));
    socket.once('close', () => this.destroy());
  }

  /** Called before each request: how many entries its answer may have. */
  expect(entries: number): void {
    this.#left = { entries, bytes: bounds.answer };
    this.cookie = null;
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    this.#socket.write(chunk, done);
  }

  override _final(done: () => void): void {
    this.#socket.end(done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }

  #receive(chunk: Buffer): void {
    if (this.destroyed) return;
    this.#left.bytes -= chunk.length;
    if (this.#left.bytes < 0) {
      this.fail(`sends more than ${bounds.answer} bytes`);
      return;
    }
    this.#waiting.push(chunk);
    this.#size += chunk.length;
    // A message in many small pieces is not put together for each of them.
    if (this.#size < this.#needed) return;
    try {
      this.#take(Buffer.concat(this.#waiting, this.#size));
    } catch (error) {
      if (!(error instanceof MalformedMessage)) throw error;
      this.fail(`sends a message that is not valid: ${error.message}`, error);
    }
  }

  #take(bytes: Buffer): void {
    let at = 0;
    for (;;) {
      const rest = bytes.subarray(at);
      const length = messageLength(rest);
      if (length !== null && length > bounds.message)
        throw new MalformedMessage(`it has more than ${bounds.message} bytes`);
      if (length === null || length > rest.length) {
        this.#waiting = [rest];
        this.#size = rest.length;
        this.#needed = length ?? rest.length + 1;
        return;
      }
      this.#pass(rest.subarray(0, length));
      if (this.destroyed) return;
      at += length;
    }
  }

  #pass(message: Buffer): void {
    const { kind, cookie } = checkMessage(message);
    this.cookie = cookie;
    if (kind === 'reference') return;
    if (kind === 'entry' && this.#left.entries-- <= 0) this.fail('sends more entries than a page has');
    else if (!this.push(message)) this.#socket.pause();
  }

  /** Ends it. Of several reasons the first one counts. */
  fail(message: string, cause?: unknown): void {
    this.failure ??= new DirectoryFailure(message, { cause });
    this.destroy(this.failure);
  }
}

function reasonOf(error: Error, host: string): string {
  const problem = certificateProblem(error, host);
  return problem === null ? connectionProblem(error, host) : `${problem}. --ca-file names the authority of the server`;
}

/** Connects. The certificate of ldaps:// must be valid for the host. `ca`: PEM, instead of the authorities of Node.js. */
export async function openDirectory(
  { url: text, ca }: { readonly url: string; readonly ca: string | null },
  signal: AbortSignal,
): Promise<LdapStream> {
  const url = new URL(text);
  const host = hostOf(url);
  const isTls = url.protocol === 'ldaps:';
  const port = Number(url.port || (isTls ? 636 : 389));
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const socket = isTls
    ? connectTls({
        host,
        port,
        minVersion: 'TLSv1.2',
        ...(isIP(host) === 0 ? { servername: host } : {}),
        ...(ca === null ? {} : { ca }),
      })
    : connectPlain({ host, port });
  const late = () => reject(new DirectoryFailure(`did not open a connection within ${bounds.connectMs / 1000} s`));
  const timer = setTimeout(late, bounds.connectMs);
  const stop = () => reject(new DirectoryFailure(GIVEN_UP));
  signal.addEventListener('abort', stop);
  socket.once(isTls ? 'secureConnect' : 'connect', resolve);
  const failed = (error: Error) =>
    reject(new DirectoryFailure(`cannot be reached: ${reasonOf(error, host)}`, { cause: error }));
  socket.once('error', failed);
  try {
    if (signal.aborted) stop();
    await promise;
    return new LdapStream(socket);
  } catch (error) {
    socket.on('error', () => {}).destroy();
    throw error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
    socket.removeListener('error', failed);
  }
}
