/** Requests to the daemon that served the page. Names and shapes come from the contract. */
import { signal } from '@preact/signals';
import type { ErrorCode } from '../../src/contract/codes.ts';
import type { DataOf, InputOf } from '../../src/contract/define.ts';
import { endpoints, type RouteName } from '../../src/contract/endpoints.ts';
import type { Routes } from '../../src/contract/routes.ts';
import { Problem } from './problem.ts';

/** What a request may be given besides its input. */
export interface RequestOptions {
  /** Aborts the request. */
  readonly signal?: AbortSignal;
  /** Sent as Idempotency-Key: the same key for every attempt at one action of the operator. */
  readonly key?: string;
}

interface Given {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
}

interface Response {
  readonly status: number;
  readonly requestId: string | null;
  readonly retryAfter: number;
  readonly envelope: { readonly code: number; readonly message: string; readonly data: unknown };
}

/** How often a request that is over its limit is sent again, and the longest wait for that in seconds. */
const limited = { attempts: 3, seconds: 60 };

/** The token of the session; null before a sign-in. Set by session.ts. */
export const token = signal<string | null>(null);

/** Until when (milliseconds since 1970) a request waits for the rate limit; 0 if none waits. */
export const waitsUntil = signal(0);

/** Called when the daemon no longer accepts the token. */
let onRefusedToken = (): void => {};
/** Sets what happens when the daemon no longer accepts the token. */
export const setOnRefusedToken = (then: () => void): void => {
  onRefusedToken = then;
};

/**
 * Calls an operation and returns the data of its response. A read over its limit is sent again when the daemon says so. Throws `Problem`, and
 * AbortError if `signal` aborts.
 */
export async function call<N extends RouteName>(
  name: N,
  input: InputOf<Routes[N]>,
  options: RequestOptions = {},
): Promise<DataOf<Routes[N]>> {
  const sent = token.value;
  for (let attempt = 1; ; attempt++) {
    const response = await send(name, input as Given, sent, options);
    const { code, message, data } = response.envelope;
    if (code === 200) return data as DataOf<Routes[N]>;
    const waits = code === 429 && endpoints[name].method === 'GET' && attempt < limited.attempts;
    if (waits && response.retryAfter <= limited.seconds) {
      await waitForLimit(response.retryAfter, options.signal);
      continue;
    }
    // A token of an earlier session says nothing about this one.
    if ((code === 1004 || code === 1005) && sent !== null && sent === token.value) onRefusedToken();
    throw new Problem(code as ErrorCode, message, response.requestId, data);
  }
}

/** 128 random bits in hex, for one action of the operator. `crypto.randomUUID` exists under HTTPS only. */
export function newKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map(byte => byte.toString(16).padStart(2, '0')).join('');
}

/** The address of an operation, without its origin. Undefined and empty values of the query are left out. */
export function addressOf(name: RouteName, { params = {}, query = {} }: Given = {}): string {
  const path = endpoints[name].path.replace(/\{(\w+)\}/g, (_, key: string) => encodeURIComponent(params[key] ?? ''));
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query))
    for (const each of Array.isArray(value) ? value : [value])
      if (each !== undefined && each !== null && each !== '') search.append(key, String(each));
  const text = search.toString();
  return text ? `${path}?${text}` : path;
}

async function send(name: RouteName, given: Given, sent: string | null, options: RequestOptions): Promise<Response> {
  const { method } = endpoints[name];
  const headers = new Headers();
  if (sent !== null) headers.set('authorization', `Bearer ${sent}`);
  if (given.body !== undefined) headers.set('content-type', 'application/json');
  if (options.key !== undefined) headers.set('idempotency-key', options.key);
  const body = given.body === undefined ? null : JSON.stringify(given.body);
  const { signal = null } = options;
  let response: globalThis.Response;
  try {
    response = await fetch(addressOf(name, given), { method, headers, body, signal, cache: 'no-store' });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Problem(0, 'the daemon does not answer');
  }
  return {
    status: response.status,
    requestId: response.headers.get('x-request-id'),
    retryAfter: Number(response.headers.get('retry-after') ?? limited.seconds),
    envelope: await envelopeOf(response),
  };
}

async function envelopeOf(response: globalThis.Response): Promise<Response['envelope']> {
  try {
    return (await response.json()) as Response['envelope'];
  } catch {
    return { code: 500, message: `HTTP ${response.status}`, data: null };
  }
}

async function waitForLimit(seconds: number, signal: AbortSignal | undefined): Promise<void> {
  const milliseconds = Math.max(1, seconds) * 1000;
  waitsUntil.value = Math.max(waitsUntil.value, Date.now() + milliseconds);
  await new Promise<void>((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(new DOMException('aborted', 'AbortError'));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, milliseconds);
    signal?.addEventListener('abort', abort, { once: true });
  });
  if (Date.now() >= waitsUntil.value) waitsUntil.value = 0;
}
