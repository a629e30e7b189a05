import type { DataOf, InputOf } from '../../contract/define.ts';
import { endpoints, type RouteName } from '../../contract/endpoints.ts';
import type { Routes } from '../../contract/routes.ts';
import { interrupted } from '../fault.ts';
import { type Endpoint, startingNothing } from './endpoint.ts';
import { notDevmgr, openEnvelope, requestId } from './envelope.ts';
import { Unreachable, withRequest } from './failures.ts';
import { type HttpRequest, type HttpResponse, patientTimeouts, readText, type Transport, timeouts } from './http.ts';
import { sendKeyed } from './keyed-write.ts';
import { LimitWait } from './limit-wait.ts';
import { sendOneShot } from './one-shot.ts';
import { fieldsOf, needsToken, pathOf, takesKey } from './operations.ts';
import { type StreamedBody, sendPooled } from './pool.ts';
import { sleep } from './sleep.ts';

/** Supplies the token of requests. */
export interface Session {
  /** The token, renewed if it is about to expire. Throws a fault of kind `login` if there is none. */
  token(client: Client): Promise<string>;
}

export interface ClientOptions {
  readonly endpoint: Endpoint;
  readonly session: Session;
  /** Certificates (PEM) to trust instead of the system's. */
  readonly ca?: string | undefined;
  /** Ends waits and requests. */
  readonly signal: AbortSignal;
  /** Ends requests instead of `signal`. */
  readonly requestSignal?: AbortSignal;
  /** By default the one for a request or two. */
  readonly transport?: Transport;
  /** Whether to wait if the server's limit is reached. */
  readonly wait: boolean;
  readonly notice: (text: string) => void;
  /** Called when a wait for the server's limit begins. */
  readonly waiting: (text: string) => void;
  readonly trace: (text: string) => void;
}

type Input<N extends RouteName> = unknown extends InputOf<Routes[N]> ? [] : [input: InputOf<Routes[N]>];
interface AnyInput {
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

/** The response to a write with a key. */
export interface KeyedResponse<T> {
  readonly data: T;
  /** It is the stored response to an earlier request with this key. */
  readonly isReplay: boolean;
}

/** Waits between the attempts of a read whose connection broke. */
const retryMs = [200, 800];

/** A key for a write. */
export const newKey = (): string => crypto.randomUUID();

/** Calls the operations of the interface by name. */
export class Client {
  readonly #options: ClientOptions;
  readonly #limit: LimitWait;
  /** The address of a server that has said that it accepts idempotency keys. */
  #acceptsKeysAt: string | null = null;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#limit = new LimitWait({ ...options, pause: milliseconds => this.pause(milliseconds) });
  }

  /** Ends waits and requests. */
  get signal(): AbortSignal {
    return this.#options.signal;
  }

  /** Certificates (PEM) to trust instead of the system's. */
  get ca(): string | undefined {
    return this.#options.ca;
  }

  /** Path of the Unix socket of the server; null if it is reached by its address. Valid after `address`. */
  get socketPath(): string | null {
    return this.#options.endpoint.socketPath;
  }

  get #requestSignal(): AbortSignal {
    return this.#options.requestSignal ?? this.#options.signal;
  }

  /** The same client, whose requests run to their end even if `signal` is aborted. Waits still end with it. */
  uninterruptible(): Client {
    return new Client({ ...this.#options, requestSignal: new AbortController().signal });
  }

  /** The same client for requests that are not worth a wait: `signal` ends them too, and a limit that is reached is an error. */
  impatient(signal: AbortSignal): Client {
    const ended = AbortSignal.any([this.#options.signal, signal]);
    const silent = () => undefined;
    return new Client({ ...this.#options, signal: ended, wait: false, notice: silent, waiting: silent });
  }

  /** Likewise for reads beside an open question, whose screen must stay as it is: they write and start nothing at all. */
  beside(signal: AbortSignal): Client {
    const { endpoint, ...others } = this.impatient(signal).#options;
    return new Client({ ...others, endpoint: startingNothing(endpoint), trace: () => undefined });
  }

  /** The same client for many requests: they share connections, and several can be under way. */
  pooled(): Client {
    return new Client({ ...this.#options, transport: sendPooled });
  }

  /** The address of the server. Starts the local daemon if that is needed and allowed. */
  address(): Promise<string> {
    return this.#options.endpoint.address();
  }

  /** The address as of now; only the first call may start something. */
  async currentAddress(): Promise<string> {
    await this.address();
    return this.#options.endpoint.currentAddress();
  }

  /** The token of the session, renewed if it is about to expire. */
  token(): Promise<string> {
    return this.#options.session.token(this);
  }

  /**
   * The `data` of the response. Limits are waited out. If the connection breaks, reads are retried, and so are writes whose server
   * accepts idempotency keys. Throws a `ServerRefusal` if the server refuses, `Unreachable` if there is no response.
   */
  async call<N extends RouteName>(name: N, ...input: Input<N>): Promise<NonNullable<DataOf<Routes[N]>>> {
    const key = takesKey(name) ? newKey() : null;
    const send = this.#attempts(name, input, key);
    const { data } = await (key === null ? send() : this.#sendingAgain(send));
    return data as NonNullable<DataOf<Routes[N]>>;
  }

  /** Like `call`, for a write with this key that the caller sends again itself. */
  async callKeyed<N extends RouteName>(
    name: N,
    key: string,
    ...input: Input<N>
  ): Promise<KeyedResponse<NonNullable<DataOf<Routes[N]>>>> {
    const { data, isReplay } = await this.#attempts(name, input, key)();
    return { data: data as NonNullable<DataOf<Routes[N]>>, isReplay };
  }

  /** Whether the server accepts idempotency keys now: then a write can be sent twice with the same key. */
  async acceptsKeys(): Promise<boolean> {
    const health = await this.#retrying(() => this.callAs(null, 'health'), true);
    const accepts = (health as { readonly idempotencyKeys?: unknown }).idempotencyKeys === true;
    this.#acceptsKeysAt = accepts ? await this.address() : null;
    return accepts;
  }

  #attempts(name: RouteName, input: readonly unknown[], key: string | null): () => Promise<KeyedResponse<unknown>> {
    const given = (input[0] ?? {}) as AnyInput;
    const once = async () => {
      const token = needsToken(name) ? await this.token() : null;
      return this.#exchange(name, given, token, this.#options.transport, key);
    };
    const isRead = endpoints[name].method === 'GET';
    return () =>
      this.#limit
        .run(() => this.#retrying(once, isRead))
        .catch(error => {
          throw withRequest(error, given);
        });
  }

  #sendingAgain<T>(send: () => Promise<T>): Promise<T> {
    const { endpoint, notice } = this.#options;
    return sendKeyed({
      send,
      acceptsKeys: async () => this.#acceptsKeysAt === (await this.address()) || (await this.acceptsKeys()),
      stillAccepts: () => this.acceptsKeys(),
      locate: () => endpoint.currentAddress(),
      pause: milliseconds => this.pause(milliseconds),
      notice,
    });
  }

  /** Like `call`, with this token instead of the session's (null sends none) and without retries. */
  async callAs(token: string | null, name: 'refresh' | 'me' | 'listKeys' | 'health'): Promise<unknown> {
    return (await this.#exchange(name, {}, token, this.#options.transport)).data;
  }

  /** Health with a proof of identity over the nonce, and the other end of the connection that it came on. Sends no token. */
  identify(nonce: string): Promise<{ readonly data: unknown; readonly peer: string | undefined }> {
    const attempt = () => this.#exchange('health', { query: { nonce } }, null, sendOneShot);
    return this.#limit.run(() => this.#retrying(attempt, true));
  }

  /** Sends a request whose response is a file, still to be read. Limits are waited out; nothing else is retried. */
  download(name: RouteName, request: FileRequest): Promise<HttpResponse> {
    return this.#transferring(request, async () => {
      const { response, origin } = await this.#transfer(name, request);
      if (response.status >= 200 && response.status < 300) return response;
      const text = { ...response, text: await readText(response, origin, this.#requestSignal) };
      openEnvelope(text, origin, []);
      throw notDevmgr(text, origin);
    });
  }

  /** Sends a request with a streamed body; the `data` of the response. Limits are waited out; nothing else is retried. */
  async upload<N extends RouteName>(name: N, request: FileRequest): Promise<NonNullable<DataOf<Routes[N]>>> {
    const data = await this.#transferring(request, async () => {
      const { response, origin } = await this.#transfer(name, request);
      const text = await readText(response, origin, this.#requestSignal);
      return openEnvelope({ ...response, text }, origin, fieldsOf(name));
    });
    return data as NonNullable<DataOf<Routes[N]>>;
  }

  async #transfer(name: RouteName, { params, query, headers, body }: FileRequest) {
    const { method, path } = endpoints[name];
    const origin = await this.address();
    const request = {
      method,
      url: new URL(origin + pathOf(path, params, query)),
      headers: { authorization: `Bearer ${await this.token()}`, ...headers },
      body: body?.(),
      timeouts: patientTimeouts,
    };
    return { origin, response: await this.#send(request, sendPooled) };
  }

  /** A refusal of a transfer names what was asked for, as that of any other request. */
  #transferring<T>(request: FileRequest, attempt: () => Promise<T>): Promise<T> {
    return this.#limit.run(attempt).catch(error => {
      throw withRequest(error, { params: request.params ?? {} });
    });
  }

  /** Waits. Throws a fault of kind `interrupted` if `signal` is aborted. */
  async pause(milliseconds: number): Promise<void> {
    await sleep(milliseconds, this.signal);
    if (this.signal.aborted) throw interrupted();
  }

  async #retrying<T>(once: () => Promise<T>, isRead: boolean): Promise<T> {
    let restarted = false;
    for (let attempt = 0; ; attempt++) {
      try {
        return await once();
      } catch (error) {
        if (!(error instanceof Unreachable)) throw error;
        if (!error.maybeDone) {
          if (restarted || !(await this.#options.endpoint.restart())) throw error;
          restarted = true;
        } else {
          const pause = isRead && !error.timedOut ? retryMs[attempt] : undefined;
          if (pause === undefined) throw error;
          this.#options.trace(`${error.message}; trying again`);
          await this.pause(pause);
        }
      }
    }
  }

  async #exchange(
    name: RouteName,
    input: AnyInput,
    token: string | null,
    transport: Transport = sendOneShot,
    key: string | null = null,
  ) {
    const { method, path } = endpoints[name];
    const origin = await this.address();
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
    const limits = name === 'batchRegister' || name === 'batchUpdate' ? patientTimeouts : timeouts;
    const response = await this.#send({ method, url, headers, body, timeouts: limits }, transport);
    const text = await readText(response, origin, this.#requestSignal);
    const isReplay = response.headers['idempotent-replay'] === 'true';
    return { data: openEnvelope({ ...response, text }, origin, fieldsOf(name)), peer: response.peer, isReplay };
  }

  async #send<Body>(
    request: Omit<HttpRequest<Body>, 'ca' | 'signal' | 'socketPath'>,
    transport: (request: HttpRequest<Body>) => Promise<HttpResponse>,
  ): Promise<HttpResponse> {
    const { ca, trace } = this.#options;
    const { method, url } = request;
    const started = Date.now();
    const { socketPath } = this;
    const response = await transport({ ...request, socketPath, ca, signal: this.#requestSignal });
    const took = Date.now() - started;
    trace(
      `${method} ${url.pathname}${url.search} → ${response.status} (${took} ms, ${requestId(response.headers) ?? 'no request id'})`,
    );
    return response;
  }
}
