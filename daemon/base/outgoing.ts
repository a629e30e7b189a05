/**
 * Requests to other systems: the one transport of the daemon, but for object stores (daemon/files/s3/client.ts). It is undici, which
 * the first request loads. Redirects are not followed. The proxies of the environment are used, but never for this machine; a proxy
 * resolves the names, so with one only addresses that a URL itself has are judged.
 */
import type { Socket } from 'node:net';
import type { buildConnector, Dispatcher } from 'undici';
import { proxyFor, proxyWords, type WebProxy } from '../../src/delivery/proxies.ts';
import { AddressNotAllowed, type AllowedTargets } from './allowed-targets.ts';
import { connectionProblem, MAX_HEADERS } from './connection-problem.ts';

interface OutgoingOptions {
  /** Absent: any address, because the operator of the daemon has named it. */
  readonly allowed?: AllowedTargets;
  /** Certificates (PEM) to trust instead of the usual ones. */
  readonly ca?: Buffer;
  /** Milliseconds until a connection is established, and for which it may be silent from its beginning; absent: no limit of its own. */
  readonly connectMs?: number;
  readonly silenceMs?: number;
}

/** A request, and the bounds of its response. */
export interface OutgoingRequest {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | null | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds for all of it: the name, the connection, the response. */
  readonly withinMs?: number;
  /** Most bytes of the content; beyond them the request fails. */
  readonly mostBytes?: number;
  /** The content is cut after these bytes, or these milliseconds from the headers. */
  readonly cutAfter?: { readonly bytes: number; readonly milliseconds: number };
}

/** A response. Its headers are by lower-case name. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly content: Buffer;
}

/** A request took longer than it may. */
export class TookTooLong extends Error {}

/** A client for one purpose. Its errors have the codes of node:net and node:http, and nothing that the other side has sent. */
export class Outgoing {
  readonly #options: OutgoingOptions;

  constructor(options: OutgoingOptions) {
    this.#options = options;
  }

  /** Sends a request, and reads the response. */
  async send(request: OutgoingRequest): Promise<Answer> {
    const problem = this.#options.allowed?.problemOf(request.url) ?? null;
    if (problem !== null) throw new AddressNotAllowed(`the address ${problem}`);
    const proxy = proxyFor(request.url);
    const connections = await openConnections(this.#options, proxy);
    const exchange = new Exchange(request);
    try {
      connections.agent.dispatch(sent(request), exchange);
      const answer = await exchange.answered.promise;
      if (proxy && answer.status === 407)
        throw new Error('it asks for a user name and a password, or refuses those it has');
      return answer;
    } catch (error) {
      throw proxy ? ofProxy(withUsualCode(error), proxy) : withUsualCode(error);
    } finally {
      connections.end();
    }
  }
}

/** A request as undici takes it. Each has a connection of its own, so that its address is checked. */
const sent = ({ url, method, headers, body = null, signal }: OutgoingRequest) => ({
  origin: url.origin,
  path: url.pathname + url.search,
  method,
  headers,
  body,
  reset: true,
  signal: signal ?? null,
});

async function openConnections({ allowed, ca, connectMs = 0, silenceMs = 0 }: OutgoingOptions, proxy: WebProxy | null) {
  const { Agent, buildConnector, ProxyAgent } = await import('undici');
  // Silence ends a connection, and a deadline a request.
  const bounds = { allowH2: false, maxHeaderSize: MAX_HEADERS, headersTimeout: 0, bodyTimeout: 0 };
  if (proxy) {
    const silence = { headersTimeout: silenceMs, bodyTimeout: silenceMs, connectTimeout: connectMs };
    const agent = new ProxyAgent({ uri: proxy.url.href, ...bounds, ...silence, ...(ca ? { requestTls: { ca } } : {}) });
    return { agent, end: () => void agent.destroy() };
  }
  const sockets = new Set<Socket>();
  const connect: buildConnector.connector = (options, done) => {
    const url = new URL(`${options.protocol}//${options.host}`);
    const connector = buildConnector({
      timeout: connectMs,
      allowH2: false,
      ...(ca ? { ca } : {}),
      ...(allowed ? { lookup: allowed.lookupFor(url) } : {}),
    });
    // Its type leaves out that it returns the socket.
    const socket = (connector as (...given: Parameters<typeof connector>) => unknown)(options, done) as Socket;
    sockets.add(socket.once('close', () => sockets.delete(socket)));
    const silent = new Error(`no reaction for ${silenceMs / 1000} s`);
    socket.setTimeout(silenceMs, () => socket.destroy(Object.assign(silent, { code: 'ETIMEDOUT' })));
  };
  const agent = new Agent({ connect, ...bounds });
  const end = () => {
    void agent.destroy();
    // undici does not end those that are not established yet.
    for (const socket of sockets) socket.destroy();
  };
  return { agent, end };
}

/** Collects the response to a request. The objects of a stream would outlive it, and an upload has a request for each part. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly answered = Promise.withResolvers<Answer>();
  readonly #request: OutgoingRequest;
  readonly #chunks: Buffer[] = [];
  #head: Omit<Answer, 'content'> | null = null;
  #size = 0;
  #control: Dispatcher.DispatchController | null = null;
  #ended: Error | null = null;
  #timer: NodeJS.Timeout | undefined;

  constructor(request: OutgoingRequest) {
    this.#request = request;
    const { signal, withinMs } = request;
    const late = () => this.#fail(new TookTooLong(`no response within ${withinMs! / 1000} s`));
    if (withinMs !== undefined) this.#timer = setTimeout(late, withinMs);
    signal?.addEventListener('abort', this.#abort);
    if (signal?.aborted) this.#abort();
  }

  onRequestStart(control: Dispatcher.DispatchController): void {
    this.#control = control;
    if (this.#ended) control.abort(this.#ended);
  }

  onResponseStart(_control: Dispatcher.DispatchController, status: number, headers: Answer['headers']): void {
    if (status < 200) return;
    this.#head = { status, headers };
    const { cutAfter } = this.#request;
    if (!cutAfter) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#finish(), cutAfter.milliseconds);
  }

  onResponseData(_control: Dispatcher.DispatchController, chunk: Buffer): void {
    const { mostBytes = Number.POSITIVE_INFINITY, cutAfter } = this.#request;
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    if (this.#size > mostBytes) this.#fail(new Error(`more than ${mostBytes} bytes`));
    else if (cutAfter && this.#size > cutAfter.bytes) this.#finish();
  }

  onResponseEnd(): void {
    this.#control = null;
    this.#finish();
  }

  onResponseError(_control: Dispatcher.DispatchController, error: Error): void {
    // A change of the protocol, which no request wants.
    if (error.message === 'bad upgrade') this.#head = { status: 101, headers: {} };
    // Content that is cut may also break off, which for the parser is a fault of its form.
    const isComplete = this.#head?.status === 101 || (this.#head !== null && this.#request.cutAfter !== undefined);
    if (isComplete) this.#finish();
    else this.#fail(this.#head && error.name === 'HTTPParserError' ? brokenOff() : error);
  }

  readonly #abort = (): void =>
    this.#fail(Object.assign(new Error('The operation was aborted'), { code: 'ABORT_ERR' }));

  #finish(): void {
    this.answered.resolve({ ...this.#head!, content: Buffer.concat(this.#chunks) });
    this.#end(new Error('the content was cut'));
  }

  #fail(error: Error): void {
    this.answered.reject(error);
    this.#end(error);
  }

  #end(reason: Error): void {
    if (this.#ended) return;
    this.#ended = reason;
    clearTimeout(this.#timer);
    this.#request.signal?.removeEventListener('abort', this.#abort);
    this.#control?.abort(reason);
  }
}

const brokenOff = () => Object.assign(new Error('aborted'), { code: 'ECONNRESET' });

/** Code and message of node:net and node:http, by the code of undici, or the name of an error that has none. */
const usual: Readonly<Record<string, readonly [code: string, message: string]>> = {
  UND_ERR_SOCKET: ['ECONNRESET', 'socket hang up'],
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: ['ECONNRESET', 'aborted'],
  UND_ERR_CONNECT_TIMEOUT: ['ETIMEDOUT', 'the connection was not established in time'],
  UND_ERR_HEADERS_OVERFLOW: ['HPE_HEADER_OVERFLOW', 'the headers of the response are too long'],
  HTTPParserError: ['HPE_INVALID_CONSTANT', 'the response is not HTTP'],
};

/** An error of a request through a proxy names it. */
function ofProxy(error: unknown, proxy: WebProxy): unknown {
  if (
    !(error instanceof Error) ||
    error instanceof TookTooLong ||
    (error as NodeJS.ErrnoException).code === 'ABORT_ERR'
  )
    return error;
  return new Error(`${proxyWords(proxy)}: ${connectionProblem(error, proxy.url.hostname)}`);
}

/** The error with its usual code. That of the parser has what was received, which no log may have. */
function withUsualCode(error: unknown): unknown {
  const { code, name } = error as NodeJS.ErrnoException;
  const found = usual[code ?? name];
  return found ? Object.assign(new Error(found[1]), { code: found[0] }) : error;
}
