/** One request to one address: from the name of an operation to its response. */
import { endpoints, type RouteName } from '../../contract/endpoints.ts';
import { openEnvelope, requestId } from './envelope.ts';
import { type HttpRequest, type HttpResponse, patientTimeouts, readText, type StreamedBody, timeouts } from './http.ts';
import { fieldsOf, pathOf } from './operations.ts';
import type { Transport } from './transport.ts';

/** How a server is reached. */
export interface Link {
  /** Its address. */
  readonly origin: string;
  /** Path of its Unix socket; null if it is reached by its address. */
  readonly socketPath: string | null;
  /** Certificates (PEM) to trust instead of the system's. */
  readonly ca: string | undefined;
  /** Ends requests. */
  readonly signal: AbortSignal;
  readonly trace: (text: string) => void;
  readonly transport: Transport;
}

/** Parameters and body of a request. */
export interface AnyInput {
  readonly params?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
}

/** A request that sends or receives a file. */
export interface FileRequest {
  readonly params?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Called for each attempt. */
  readonly body?: () => StreamedBody;
}

/** What an exchange is sent with. */
interface ExchangeOptions {
  /** Null sends none. */
  readonly token: string | null;
  /** Idempotency key; null or absent sends none. */
  readonly key?: string | null;
}

/** A response that was not a refusal. */
export interface Exchanged {
  readonly data: unknown;
  /** The other end of the connection. */
  readonly peer: string | undefined;
  /** It is the stored response to an earlier request with the same key. */
  readonly isReplay: boolean;
}

/** Operations that the server works on for long, or that wait for a person. */
const slow: readonly RouteName[] = ['batchRegisterDevices', 'batchUpdateDevices', 'judgeProofsAgain', 'proveKey'];

/** Sends a request and opens its response. Errors are those of the transport and of `openEnvelope`. */
export async function exchange(
  link: Link,
  name: RouteName,
  input: AnyInput,
  { token, key = null }: ExchangeOptions,
): Promise<Exchanged> {
  const { method, path } = endpoints[name];
  const { origin } = link;
  const body = input.body === undefined ? undefined : JSON.stringify(input.body);
  const headers = {
    accept: 'application/json',
    ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    ...(key === null ? {} : { 'idempotency-key': key }),
    ...(body === undefined
      ? {}
      : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }),
  };
  const url = new URL(origin + pathOf(path, input.params, input.query));
  const limits = slow.includes(name) ? patientTimeouts : timeouts;
  const response = await send(link, { method, url, headers, body, timeouts: limits });
  const text = await readText(response, origin, link.signal);
  const isReplay = response.headers['idempotent-replay'] === 'true';
  return { data: openEnvelope({ ...response, text }, origin, fieldsOf(name)), peer: response.peer, isReplay };
}

/** Sends a request with a file, or for one. The body of the response is still to be read. */
export function transfer(
  link: Link,
  name: RouteName,
  { params, query, headers, body }: FileRequest,
  token: string,
): Promise<HttpResponse> {
  const { method, path } = endpoints[name];
  const request = {
    method,
    url: new URL(link.origin + pathOf(path, params, query)),
    headers: { authorization: `Bearer ${token}`, ...headers },
    body: body?.(),
    timeouts: patientTimeouts,
  };
  return send(link, request);
}

async function send(
  { socketPath, ca, signal, trace, transport }: Link,
  request: Omit<HttpRequest, 'ca' | 'signal' | 'socketPath'>,
): Promise<HttpResponse> {
  const { method, url } = request;
  const started = Date.now();
  const response = await transport({ ...request, socketPath, ca, signal });
  const took = Date.now() - started;
  const node = response.headers['x-devmgr-node'];
  const details = [`${took} ms`, requestId(response.headers) ?? 'no request id', ...(node ? [`node ${node}`] : [])];
  trace(`${method} ${url.pathname}${url.search} → ${response.status} (${details.join(', ')})`);
  return response;
}
