/** The transport for a request or two: node:http, which takes 3 ms to load. Its modules are loaded on first use. */
import type { Agent, ClientRequest, RequestOptions } from 'node:http';
import { connectionEnd } from '../../contract/local.ts';
import { interrupted } from '../framework/fault.ts';
import { type HttpRequest, type HttpResponse, requestFailure, timeouts } from './http.ts';

const http = () => process.getBuiltinModule('node:http');
const https = () => process.getBuiltinModule('node:https');
const agents = new Map<string, Agent>();
/** Connections that reads may share at a time. */
const maxSockets = 4;

/** Only reads use a connection again: the server may be closing it, and a read can be sent twice. */
function agentFor(protocol: string, method: string): Agent {
  const reuse = method === 'GET';
  const name = `${protocol}${reuse}`;
  let agent = agents.get(name);
  if (!agent) {
    const options = reuse ? { keepAlive: true, maxSockets } : {};
    agent = protocol === 'https:' ? new (https().Agent)(options) : new (http().Agent)(options);
    agents.set(name, agent);
  }
  return agent;
}

/** Sends a request over node:http; see `Transport`. */
export async function sendOneShot(request: HttpRequest): Promise<HttpResponse> {
  const { signal } = request;
  if (signal.aborted) throw interrupted();
  try {
    return await exchange(request);
  } catch (error) {
    throw signal.aborted ? interrupted() : await requestFailure(error, request);
  }
}

/** Whether a request is encrypted. The Unix socket is not: the file system protects it. */
const isTls = ({ url, socketPath }: HttpRequest): boolean => url.protocol === 'https:' && !socketPath;

function exchange(request: HttpRequest): Promise<HttpResponse> {
  const { url, method, headers, ca, signal, socketPath } = request;
  const protocol = isTls(request) ? 'https:' : 'http:';
  const options: RequestOptions & { ca?: string; rejectUnauthorized?: boolean } = {
    method,
    headers: socketPath ? { host: url.host, ...headers } : headers,
    protocol,
    agent: agentFor(protocol, method),
    signal,
    ...(socketPath ? { socketPath } : {}),
    ...(ca === undefined ? {} : { ca }),
    ...(request.anyCertificate ? { rejectUnauthorized: false } : {}),
  };
  return new Promise((resolve, reject) => {
    const outgoing = (protocol === 'https:' ? https() : http()).request(url, options);
    const stopWaiting = limitWaits(outgoing, request);
    outgoing.once('response', body => {
      stopWaiting();
      const peer = connectionEnd(body.socket.remoteAddress, body.socket.remotePort);
      resolve({ status: body.statusCode ?? 0, headers: body.headers, peer, body });
    });
    // Stays in place: an error after the response belongs to the reader of its body.
    outgoing.on('error', error => {
      stopWaiting();
      reject(error);
    });
    outgoing.end(request.body);
  });
}

/** Destroys a request whose connection or response headers do not come in time, until the returned function is called. */
function limitWaits(outgoing: ClientRequest, request: HttpRequest): () => void {
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
  return () => clearTimeout(timer);
}
