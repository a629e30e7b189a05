/** Requests to the daemon that served the page. Names and shapes come from the contract. */
import { signal } from '@preact/signals';
import { Code, type ErrorCode, type InputProblem } from '../../src/contract/codes.ts';
import type { DataOf, InputOf } from '../../src/contract/define.ts';
import { endpoints, type RouteName } from '../../src/contract/endpoints.ts';
import type { Routes } from '../../src/contract/routes.ts';
import { retry } from '../../src/delivery/retry.ts';
import { schedules } from '../../src/delivery/schedules.ts';
import { Problem } from './problem.ts';

/** Data of the response of an operation. */
export type Data<N extends keyof Routes> = DataOf<Routes[N]>;
/** Input of an operation. */
export type Input<N extends keyof Routes> = InputOf<Routes[N]>;

interface RequestOptions {
  readonly signal?: AbortSignal;
  /** Aborts a wait for the rate limit, and never a request that is under way. Absent: `signal` does. */
  readonly waitSignal?: AbortSignal;
  /**
   * Sent as Idempotency-Key: the same key for every attempt at one action of the operator. A request with a key is sent again when
   * it was over its limit.
   */
  readonly key?: string;
  /** Sent as If-Match: the version of the device that the change is based on. Refused with 412 if it has another one. */
  readonly version?: number;
  /** The form of an upload. A file of it is sent without progress. */
  readonly form?: FormData;
}

interface RequestInput {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
}

interface JsonResponse {
  readonly raw: globalThis.Response;
  readonly requestId: string | null;
  readonly retryAfter: number;
  readonly envelope: {
    readonly code: number;
    readonly message: string;
    readonly data: unknown;
    readonly details?: readonly InputProblem[];
  };
}

/** The longest wait of a request that is over its limit, in seconds. */
const LIMIT_SECONDS = 60;

/** A response that refuses. */
class Refused extends Problem {
  readonly retryAfter: number;
  constructor({ envelope: { code, message, data, details }, requestId, retryAfter }: JsonResponse) {
    super(code as ErrorCode, message, requestId, data, details);
    this.retryAfter = retryAfter;
  }
}

/** The token of the session; null before a sign-in. Set by session.ts. */
export const token = signal<string | null>(null);

/** Until when (milliseconds since 1970) a request waits for the rate limit; 0 if none waits. */
export const waitsUntil = signal(0);

/** Milliseconds by which the daemon's clock is ahead of the browser's; 0 before the first response. Up to a minute is ignored. */
export const serverAhead = signal(0);
const CLOCK_MS = 60_000;

/** Milliseconds since 1970, by the clock of the daemon. */
export const serverNow = (): number => Date.now() + serverAhead.value;

/** Compares the clocks. `date`: of a response, exact to the second. */
function compareClocks(date: string | null): void {
  const ahead = Date.parse(date ?? '') - Date.now();
  if (Math.abs(ahead - serverAhead.peek()) > CLOCK_MS) serverAhead.value = ahead;
}

/** Called when the daemon no longer accepts the token. */
let onRefusedToken = (): void => {};
/** Sets what happens when the daemon no longer accepts the token. */
export const setOnRefusedToken = (then: () => void): void => {
  onRefusedToken = then;
};

/** Asks the person to sign in again. Resolves with whether that was done. */
let onStepUp = async (): Promise<boolean> => false;
/** Sets how the person is asked to sign in again. */
export const setOnStepUp = (ask: () => Promise<boolean>): void => {
  onStepUp = ask;
};

/**
 * Calls an operation and returns the data of its response. A read over its limit, or a write with a key, is sent again when the
 * daemon asks for it. Throws `Problem`, and AbortError if `signal` aborts.
 */
export async function call<N extends RouteName>(
  name: N,
  input: Input<N>,
  options: RequestOptions = {},
): Promise<Data<N>> {
  const { envelope } = await carryOut(name, input as RequestInput, options, envelopeOf);
  return envelope.data as Data<N>;
}

/** Calls an operation whose response is not an envelope: an export, a file. Throws as `call` does; reading the body can fail as well. */
export async function open<N extends RouteName>(
  name: N,
  input: Input<N>,
  options: RequestOptions = {},
): Promise<globalThis.Response> {
  const { raw } = await carryOut(name, input as RequestInput, options, async response =>
    response.ok ? { code: 200, message: '', data: null } : envelopeOf(response),
  );
  return raw;
}

/** Sends a request until it is answered, refused, or over its limit for too long. `read` takes the envelope of a response. */
async function carryOut(
  name: RouteName,
  input: RequestInput,
  options: RequestOptions,
  read: (response: globalThis.Response) => Promise<JsonResponse['envelope']>,
): Promise<JsonResponse> {
  let sent = token.peek();
  const isSafe = endpoints[name].method === 'GET' || options.key !== undefined;
  const attempt = async () => {
    const response = await send(name, input, sent, options, read);
    if (response.envelope.code === 200) return response;
    throw new Refused(response);
  };
  return retry(attempt, async (error, failures) => {
    if (!(error instanceof Refused)) throw error;
    const { code, data, retryAfter } = error;
    if (code === 429 && isSafe && failures < schedules.limited.retries && retryAfter <= LIMIT_SECONDS)
      return waitForLimit(retryAfter, options.waitSignal ?? options.signal);
    if (code === Code.noPermission && wantsStepUp(data) && (await onStepUp())) {
      sent = token.peek();
      return;
    }
    // A token of an earlier session has no information about this one.
    if (
      (code === Code.tokenInvalid || code === Code.tokenExpired) &&
      !provingOtherwise.has(name) &&
      sent !== null &&
      sent === token.value
    )
      onRefusedToken();
    throw error;
  });
}

/** Operations whose 1004 is about what they were given, a key or a code, and not about the token. */
const provingOtherwise: ReadonlySet<RouteName> = new Set(['stepUp', 'exchangeSignInCode', 'showSsoTerminal']);

const wantsStepUp = (data: unknown): boolean =>
  typeof data === 'object' && data !== null && 'stepUp' in data && data.stepUp === true;

/** 128 random bits in hex, for one action of the operator. `crypto.randomUUID` exists under HTTPS only. */
export const newKey = (): string =>
  [...crypto.getRandomValues(new Uint8Array(16))].map(byte => byte.toString(16).padStart(2, '0')).join('');

/** The address of an operation, without its origin. Undefined and empty values of the query are left out. */
export function addressOf(name: RouteName, { params = {}, query = {} }: RequestInput = {}): string {
  const path = endpoints[name].path.replace(/\{(\w+)\}/g, (_, key: string) => encodeURIComponent(params[key] ?? ''));
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (value === undefined || value === null || value === '') continue;
    // Tags may contain commas: each is a parameter of its own. Other lists are one parameter.
    if (key === 'tag' && Array.isArray(value)) for (const tag of value) search.append(key, String(tag));
    else search.set(key, value instanceof Date ? value.toISOString() : String(value));
  }
  const text = search.toString();
  return text ? `${path}?${text}` : path;
}

async function send(
  name: RouteName,
  given: RequestInput,
  sent: string | null,
  options: RequestOptions,
  read: (response: globalThis.Response) => Promise<JsonResponse['envelope']>,
): Promise<JsonResponse> {
  const { method } = endpoints[name];
  const headers = new Headers();
  if (sent !== null) headers.set('authorization', `Bearer ${sent}`);
  if (given.body !== undefined) headers.set('content-type', 'application/json');
  if (options.key !== undefined) headers.set('idempotency-key', options.key);
  if (options.version !== undefined) headers.set('if-match', `"${options.version}"`);
  const body = options.form ?? (given.body === undefined ? null : JSON.stringify(given.body));
  const { signal = null } = options;
  let response: globalThis.Response;
  try {
    response = await fetch(addressOf(name, given), { method, headers, body, signal, cache: 'no-store' });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Problem(0, 'the daemon does not answer');
  }
  compareClocks(response.headers.get('date'));
  return {
    raw: response,
    requestId: response.headers.get('x-request-id'),
    retryAfter: Number(response.headers.get('retry-after') ?? LIMIT_SECONDS),
    envelope: await read(response),
  };
}

async function envelopeOf(response: globalThis.Response): Promise<JsonResponse['envelope']> {
  try {
    return (await response.json()) as JsonResponse['envelope'];
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    return { code: 500, message: `HTTP ${response.status}`, data: null };
  }
}

async function waitForLimit(seconds: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  const until = Date.now() + Math.max(1, seconds) * 1000;
  waitsUntil.value = Math.max(waitsUntil.value, until);
  try {
    await new Promise<void>((resolve, reject) => {
      const abort = () => {
        clearTimeout(timer);
        reject(new DOMException('aborted', 'AbortError'));
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', abort);
        resolve();
      }, until - Date.now());
      signal?.addEventListener('abort', abort, { once: true });
    });
  } finally {
    // Another request may wait for longer.
    if (waitsUntil.value <= until) waitsUntil.value = 0;
  }
}
