/** Sends HTTP requests over node:http, whose modules are loaded on first use (3 ms). */
import type { Agent, ClientRequest, RequestOptions } from 'node:http';
import { connectionEnd } from '../../contract/local.ts';
import { agentEnv, proxyFor, type WebProxy } from '../../delivery/proxies.ts';
import { interrupted } from '../fault.ts';
import { type HttpRequest, type HttpResponse, requestFailure, timeouts } from './http.ts';

const http = () => process.getBuiltinModule('node:http');
const https = () => process.getBuiltinModule('node:https');
const agents = new Map<string, Agent>();
/** Connections to a server that requests share at a time. */
const maxSockets = 4;

/**
 * Only a request that can be sent twice uses a connection again: the server may be closing it. Agents leave a connection a
 * second before the server would close it (`keep-alive: timeout=…`).
 */
function agentFor(protocol: string, { method, headers }: HttpRequest, proxy: WebProxy | null): Agent {
  const reuse = method === 'GET' || headers['idempotency-key'] !== undefined;
  const name = `${protocol}${reuse}${proxy?.url.href ?? ''}`;
  let agent = agents.get(name);
  if (!agent) {
    const options = { ...(reuse && { keepAlive: true, maxSockets }), ...(proxy && { proxyEnv: agentEnv(proxy) }) };
    agent = protocol === 'https:' ? new (https().Agent)(options) : new (http().Agent)(options);
    agents.set(name, agent);
  }
  return agent;
}

/** An agent that opens a connection through a proxy. */
export const proxyAgent = (proxy: WebProxy): Agent => new (https().Agent)({ proxyEnv: agentEnv(proxy) });

/**
 * Sends a request and resolves once the headers of its response are complete. Redirects are not followed, the proxies of the
 * environment are used, and nothing is retried. Without a response it rejects with a `Fault`, mostly `Unreachable`; an error of a
 * streamed body ends the request with that error.
 */
export async function sendHttp(request: HttpRequest): Promise<HttpResponse> {
  const { signal } = request;
  if (signal.aborted) throw interrupted();
  try {
    return await exchange(request);
  } catch (error) {
    throw signal.aborted ? interrupted() : await requestFailure(error, request);
  }
}

/** Sends a request, as `sendHttp` does. */
export type HttpTransport = typeof sendHttp;

/** Whether a request is encrypted. The Unix socket is not: the file system protects it. */
const isTls = ({ url, socketPath }: HttpRequest): boolean => url.protocol === 'https:' && !socketPath;

function exchange(request: HttpRequest): Promise<HttpResponse> {
  const { url, method, headers, ca, signal, socketPath } = request;
  const protocol = isTls(request) ? 'https:' : 'http:';
  const proxy = socketPath ? null : proxyFor(url);
  const options: RequestOptions & { ca?: string; rejectUnauthorized?: boolean } = {
    method,
    headers: socketPath ? { host: url.host, ...headers } : headers,
    protocol,
    agent: agentFor(protocol, request, proxy),
    signal,
    ...(socketPath ? { socketPath } : {}),
    ...(ca === undefined ? {} : { ca }),
    ...(request.anyCertificate ? { rejectUnauthorized: false } : {}),
  };
  return new Promise((resolve, reject) => {
    const outgoing = (protocol === 'https:' ? https() : http()).request(url, options);
    const waits = limitWaits(outgoing, request);
    outgoing.once('response', body => {
      waits.end();
      const peer = connectionEnd(body.socket.remoteAddress, body.socket.remotePort);
      resolve({ status: body.statusCode ?? 0, headers: body.headers, peer, body });
    });
    // A response such as HTTP 101, which no request wants: without a listener, the request would end without an event.
    outgoing.once('upgrade', ({ statusCode: status = 0 }, socket) => {
      socket.destroy();
      waits.end();
      resolve({ status, headers: {}, body: process.getBuiltinModule('node:stream').Readable.from([]) });
    });
    // Stays in place: an error after the response belongs to the reader of its body.
    outgoing.on('error', error => {
      waits.end();
      reject(error);
    });
    sendBody(outgoing, request.body, waits.refresh);
  });
}

/** Sends a body; a streamed one no faster than the server reads it. `onProgress` is called with each piece. */
function sendBody(outgoing: ClientRequest, body: HttpRequest['body'], onProgress: () => void): void {
  if (body === undefined || typeof body === 'string') return void outgoing.end(body);
  const source = process.getBuiltinModule('node:stream').Readable.from(body);
  outgoing.once('close', () => source.destroy());
  // A response before the end is a refusal: the rest is not sent, and the connection ends with the response.
  outgoing.once('response', response => {
    if (outgoing.writableEnded) return;
    source.destroy();
    response.once('close', () => outgoing.destroy());
  });
  source.on('data', onProgress);
  source.once('error', error => outgoing.destroy(error)).pipe(outgoing);
}

/** Destroys a request whose connection or response headers do not come in time, until `end` is called. */
function limitWaits(outgoing: ClientRequest, request: HttpRequest) {
  const { connectMs, headersMs } = request.timeouts ?? timeouts;
  let timer: NodeJS.Timeout | undefined;
  const wait = (milliseconds: number, code: string) => {
    clearTimeout(timer);
    const error = Object.assign(new Error(`nothing for ${milliseconds / 1000} seconds`), { code });
    timer = setTimeout(() => outgoing.destroy(error), milliseconds);
  };
  const waitForHeaders = () => wait(headersMs, 'EHEADERSTIMEOUT');
  // The time that a request waits for the connection of another does not count.
  outgoing.once('socket', socket => {
    if (!socket.connecting) return waitForHeaders();
    wait(connectMs, 'ECONNECTTIMEOUT');
    socket.once(isTls(request) ? 'secureConnect' : 'connect', waitForHeaders);
  });
  return {
    refresh: () => void timer?.refresh(),
    end: () => clearTimeout(timer),
  };
}
