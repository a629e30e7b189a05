/** One request to one address: from the name of an operation to its response, and what an operation needs for it. */
import { endpoints, type RouteName } from '../../contract/endpoints.ts';
import { namesIn } from '../../contract/names.ts';
import { notDevmgr, openEnvelope, requestId } from './envelope.ts';
import { bytesOf, type HttpResponse, patientTimeouts, readText, type StreamedBody, timeouts } from './http.ts';
import { pathOf } from './paths.ts';
import type { HttpTransport } from './transport.ts';

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
  /** Called if a server that should answer at once does not. */
  readonly late: (text: string) => void;
  readonly transport: HttpTransport;
}

/** Parameters and body of a request. */
export interface AnyInput {
  readonly params?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
}

/** A request to one address. */
export interface AddressedRequest {
  readonly operation: RouteName;
  readonly input?: AnyInput | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The content, if it is not the body of `input`; called for each attempt. */
  readonly content?: (() => StreamedBody) | undefined;
  /** Null sends none. */
  readonly token: string | null;
  /** Idempotency key; null or absent sends none. */
  readonly key?: string | null;
}

/** A response that was not a refusal. */
export interface AcceptedResponse {
  readonly data: unknown;
  /** The other end of the connection. */
  readonly peer: string | undefined;
  /** It is the stored response to an earlier request with the same key. */
  readonly isReplay: boolean;
}

/** A response that is a file; of one that the client has, as `If-None-Match` tells, the status is 304 and the content empty. */
export interface FileResponse extends Pick<HttpResponse, 'status' | 'headers'> {
  /** The content; errors are those of `bytesOf`. */
  readonly bytes: AsyncIterable<Buffer>;
}

/** Operations that the server works on for long, or that wait for a person. */
const slow: readonly RouteName[] = namesIn(
  'batchRegisterDevices batchUpdateDevices identifyKey issueKey judgeProofsAgain proveKey syncDirectory testDirectory',
);

/** Sends a request and opens its response. Errors are those of the transport and of `openEnvelope`. */
export async function exchange(link: Link, request: AddressedRequest): Promise<AcceptedResponse> {
  const { operation, content } = request;
  const isSlow = content !== undefined || slow.includes(operation);
  const headers = { accept: 'application/json', ...request.headers };
  const late = isSlow ? null : timeouts.headersMs;
  const response = await send(link, { ...request, headers }, isSlow ? patientTimeouts : timeouts, late);
  const text = await readText(response, link.origin, link.signal);
  const isReplay = response.headers['idempotent-replay'] === 'true';
  const data = openEnvelope({ ...response, text }, link.origin, fieldsOf(operation));
  return { data, peer: response.peer, isReplay };
}

/** Sends a request for a file, whose content is still to be read. Errors are those of `exchange`. */
export async function fetchFile(link: Link, request: AddressedRequest): Promise<FileResponse> {
  const { origin, signal } = link;
  const response = await send(link, request, patientTimeouts, patientTimeouts.headersMs);
  const { status, headers } = response;
  if ((status >= 200 && status < 300) || status === 304)
    return { status, headers, bytes: bytesOf(response, origin, signal, patientTimeouts) };
  const text = { ...response, text: await readText(response, origin, signal) };
  openEnvelope(text, origin, []);
  throw notDevmgr(text, origin);
}

/** Milliseconds after which a notice reports what the program waits for. */
const silenceMs = 1_000;

/** `longestMs`: how long an answer that should come at once is waited for; null if the operation may take long. */
async function send(
  { origin, socketPath, ca, signal, trace, late, transport }: Link,
  { operation, input = {}, headers, content, token, key = null }: AddressedRequest,
  limits: typeof timeouts,
  longestMs: number | null,
): Promise<HttpResponse> {
  const { method, path } = endpoints[operation];
  const url = new URL(origin + pathOf(path, input.params, input.query));
  const json = input.body === undefined ? undefined : JSON.stringify(input.body);
  const all = {
    // A parameter that is empty or that the server does not know is an error, and never selects everything.
    prefer: 'handling=strict',
    ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    ...(key === null ? {} : { 'idempotency-key': key }),
    ...(json === undefined
      ? {}
      : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(json)) }),
    ...headers,
  };
  const request = { method, url, headers: all, body: content?.() ?? json, timeouts: limits };
  const started = Date.now();
  const words = `no answer from ${origin} after ${silenceMs / 1000} s; waiting for up to ${(longestMs ?? 0) / 1000} s`;
  const silence = longestMs === null ? undefined : setTimeout(() => late(words), silenceMs);
  const sent = transport({ ...request, socketPath, ca, signal });
  const response = await sent.finally(() => clearTimeout(silence));
  const took = Date.now() - started;
  const node = response.headers['x-devmgr-node'];
  const details = [`${took} ms`, requestId(response.headers) ?? 'no request id', ...(node ? [`node ${node}`] : [])];
  trace(`${method} ${url.pathname}${url.search} → ${response.status} (${details.join(', ')})`);
  return response;
}

/** Fields that the `data` of an operation has at least: see `returns`. */
export const fieldsOf = (name: RouteName): readonly string[] => endpoints[name].returns;

/** Whether an operation is called with a token. */
export const needsToken = (name: RouteName): boolean => !('access' in endpoints[name]);

/** Whether an operation without a file is sent with an Idempotency-Key. */
export const takesKey = (name: RouteName): boolean =>
  endpoints[name].method !== 'GET' && !('neverReplayed' in endpoints[name]);
