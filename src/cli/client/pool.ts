/** The transport for many requests and for files: undici's connection pool, loaded on first use (25 ms). */
import type { Pool } from 'undici';
import { interrupted } from '../framework/fault.ts';
import { type HttpRequest, type HttpResponse, requestFailure, timeouts } from './http.ts';

/** A body in pieces, which are taken no faster than the server reads them. */
export type StreamedBody = AsyncIterable<Uint8Array>;

/** Connections to one server. */
const connections = 4;
const pools = new Map<string, Pool>();

/** Sends a request over a pool of connections to its server; see `Transport`. An error of the body ends the request. */
export async function sendPooled(request: HttpRequest<string | StreamedBody>): Promise<HttpResponse> {
  const { url, method, headers, body, signal, timeouts: limits = timeouts } = request;
  if (signal.aborted) throw interrupted();
  const undici = await import('./undici.ts');
  const key = JSON.stringify([url.origin, request.socketPath, request.ca, request.anyCertificate, limits.connectMs]);
  const pool = pools.get(key) ?? newPool(undici.Pool, request);
  pools.set(key, pool);
  try {
    const response = await undici.request.call(pool, {
      method: method as 'GET',
      path: url.pathname + url.search,
      headers: request.socketPath ? { host: url.host, ...headers } : headers,
      body: body as string,
      signal,
      headersTimeout: limits.headersMs,
      bodyTimeout: limits.idleMs,
    });
    return { status: response.statusCode, headers: response.headers, body: response.body };
  } catch (error) {
    throw signal.aborted ? interrupted() : await requestFailure(error, { url, socketPath: request.socketPath ?? null });
  }
}

function newPool(
  PoolClass: typeof Pool,
  { url, socketPath, ca, anyCertificate, timeouts: limits = timeouts }: HttpRequest<unknown>,
) {
  const tls = { ...(ca === undefined ? {} : { ca }), ...(anyCertificate ? { rejectUnauthorized: false } : {}) };
  const origin = socketPath ? `http://${url.host}` : url.origin;
  return new PoolClass(origin, {
    connections,
    // HTTP/2 would let a proxy limit all requests together; the daemon speaks HTTP/1.1.
    allowH2: false,
    connect: { timeout: limits.connectMs, ...(socketPath ? { socketPath } : tls) },
  });
}
