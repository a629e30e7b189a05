/**
 * An HTTP request and its response, whichever transport carries it. `one-shot.ts` (node:http) loads fast and serves commands
 * that send a request or two; `pool.ts` (undici) serves batches, long lists and files.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { Fault, interrupted, systemCode } from '../framework/fault.ts';
import { linkFailure, Unreachable } from './failures.ts';

/** How long to wait, in milliseconds. */
export interface Timeouts {
  /** For a connection, with TLS. */
  readonly connectMs: number;
  /** From the end of the request to the end of the response headers, however slowly these arrive. */
  readonly headersMs: number;
  /** For the next bytes of a response body. */
  readonly idleMs: number;
  /** For a whole JSON body. */
  readonly bodyMs: number;
}

export const timeouts: Timeouts = { connectMs: 10_000, headersMs: 15_000, idleMs: 15_000, bodyMs: 30_000 };
/** For requests that the server works on for long: a batch, a file that has to reach its disk. */
export const patientTimeouts: Timeouts = { ...timeouts, headersMs: 120_000, idleMs: 120_000 };

/** A request. Only `pool.ts` takes a body that is not a string. */
export interface HttpRequest<Body = string> {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Body | undefined;
  /** Path of the Unix socket on which the request is sent, as plain HTTP; null or absent connects to the host of the URL. */
  readonly socketPath?: string | null;
  /** Certificates (PEM) to trust instead of the system's. */
  readonly ca?: string | undefined;
  /** Accepts any certificate. Only for requests without secrets. */
  readonly anyCertificate?: true;
  /** Ends the request; the promise then rejects with a fault of kind `interrupted`. */
  readonly signal: AbortSignal;
  readonly timeouts?: Timeouts;
}

/** The status and headers of a response; its body is still to be read. */
export interface HttpResponse {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: IncomingHttpHeaders;
  /** The other end of the connection, see `connectionEnd`; absent if the transport does not say. */
  readonly peer?: string;
  readonly body: Readable;
}

/**
 * Sends a request and resolves once the headers of its response are complete. Redirects are not followed, the environment's
 * proxies are not used, and nothing is retried. Without a response it rejects with a `Fault`, mostly `Unreachable`.
 */
export type Transport = (request: HttpRequest) => Promise<HttpResponse>;

const maxTextBytes = 64 * 1024 * 1024;
const probeMs = 2_000;

/** The fault for an error of the connection. A TLS server drops plain HTTP without a word: whether it is one is found out. */
export async function requestFailure(
  error: unknown,
  { url, socketPath }: Pick<HttpRequest, 'url' | 'socketPath'>,
): Promise<Fault> {
  if (error instanceof Fault) return error;
  if (socketPath) return linkFailure(error, url.origin);
  const dropped = systemCode(error) === 'ECONNRESET' || systemCode(error) === 'UND_ERR_SOCKET';
  if (url.protocol === 'http:' && dropped && (await speaksTls(url)))
    return new Fault(
      'unreachable',
      `${url.origin} speaks HTTPS`,
      `use https:// instead of http://: --server ${url.origin.replace('http:', 'https:')}`,
    );
  return linkFailure(error, url.origin);
}

function speaksTls({ hostname, port }: URL): Promise<boolean> {
  return new Promise(resolve => {
    const host = hostname.replace(/^\[|\]$/g, '');
    const options = { host, port: Number(port || 80), rejectUnauthorized: false, timeout: probeMs };
    const socket = process.getBuiltinModule('node:tls').connect(options);
    const settle = (isTls: boolean) => {
      socket.destroy();
      resolve(isTls);
    };
    socket.once('secureConnect', () => settle(true)).once('timeout', () => settle(false));
    socket.on('error', () => settle(false)).once('close', () => settle(false));
  });
}

/**
 * The body of a response as text. `Unreachable` if the connection breaks, is idle for too long or the body takes too long; a
 * fault of kind `failure` if the body is larger than any of a devmgr server.
 */
export async function readText(
  { body }: Pick<HttpResponse, 'body'>,
  origin: string,
  signal: AbortSignal,
  { idleMs, bodyMs }: Timeouts = timeouts,
): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  const stop = (error: Error) => body.destroy(error);
  const onAbort = () => stop(interrupted());
  const late = (words: string) => () => stop(new Unreachable(`${origin} ${words}`, true, null, true));
  const idle = setTimeout(late(`stopped responding (nothing for ${idleMs / 1000} seconds)`), idleMs);
  const deadline = setTimeout(late('did not finish its response in time'), bodyMs);
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort);
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      idle.refresh();
      chunks.push(chunk);
      size += chunk.length;
      if (size > maxTextBytes)
        throw new Fault('failure', `the response of ${origin} is too large to come from a devmgr server`);
    }
    return Buffer.concat(chunks, size).toString('utf8');
  } catch (error) {
    if (signal.aborted) throw interrupted();
    throw error instanceof Fault ? error : linkFailure(error, origin);
  } finally {
    clearTimeout(idle);
    clearTimeout(deadline);
    signal.removeEventListener('abort', onAbort);
  }
}
