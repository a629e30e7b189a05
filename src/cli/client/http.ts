/** An HTTP request, its response, and why there is none. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { proxyFor } from '../../delivery/proxies.ts';
import { Fault, failure, interrupted, systemCode } from '../fault.ts';
import { linkFailure, proxyFailure, Unreachable } from './failures.ts';

/** How long to wait, in milliseconds. */
interface Timeouts {
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

/** A body in pieces, which are taken no faster than the server reads them. */
export type StreamedBody = AsyncIterable<Uint8Array>;

/** A request. */
export interface HttpRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | StreamedBody | undefined;
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
  /** The other end of the connection, see `connectionEnd`. */
  readonly peer?: string | undefined;
  readonly body: Readable;
}

const maxTextBytes = 64 * 1024 * 1024;
const probeMs = 2_000;

/** The fault for an error of the connection. A TLS server drops plain HTTP without a word: whether it is one is found out. */
export async function requestFailure(
  error: unknown,
  { url, socketPath }: Pick<HttpRequest, 'url' | 'socketPath'>,
): Promise<Fault> {
  if (error instanceof Fault) return error;
  if (socketPath) return linkFailure(error, url.origin);
  const proxy = proxyFor(url);
  if (proxy) return proxyFailure(error, url.origin, proxy);
  if (url.protocol === 'http:' && systemCode(error) === 'ECONNRESET' && (await speaksTls(url)))
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
 * The bytes of a response body as they come. `Unreachable` if the connection breaks or is idle for too long while a reader waits;
 * a fault of kind `interrupted` if the signal is aborted.
 */
export async function* bytesOf(
  { body }: Pick<HttpResponse, 'body'>,
  origin: string,
  signal: AbortSignal,
  { idleMs }: Pick<Timeouts, 'idleMs'>,
): AsyncGenerator<Buffer> {
  const onAbort = () => body.destroy(interrupted());
  const onIdle = () => body.destroy(late(origin, `stopped responding (nothing for ${idleMs / 1000} seconds)`));
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort);
  let idle = setTimeout(onIdle, idleMs);
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      clearTimeout(idle);
      yield chunk;
      idle = setTimeout(onIdle, idleMs);
    }
  } catch (error) {
    if (signal.aborted) throw interrupted();
    throw error instanceof Fault ? error : linkFailure(error, origin);
  } finally {
    clearTimeout(idle);
    signal.removeEventListener('abort', onAbort);
  }
}

/**
 * The body of a response as text. Errors are those of `bytesOf`; also `Unreachable` if the body takes too long, and a fault of kind
 * `failure` if it is larger than any of a devmgr server.
 */
export async function readText(
  response: Pick<HttpResponse, 'body'>,
  origin: string,
  signal: AbortSignal,
  limits: Timeouts = timeouts,
): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  const stop = () => response.body.destroy(late(origin, 'did not finish its response in time'));
  const deadline = setTimeout(stop, limits.bodyMs);
  try {
    for await (const chunk of bytesOf(response, origin, signal, limits)) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > maxTextBytes) throw failure(`the response of ${origin} is too large to come from a devmgr server`);
    }
    return Buffer.concat(chunks, size).toString('utf8');
  } finally {
    clearTimeout(deadline);
  }
}

const late = (origin: string, words: string): Unreachable => new Unreachable(`${origin} ${words}`, true, null, true);
