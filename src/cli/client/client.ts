import type { DataOf, InputOf } from '../../contract/define.ts';
import { endpoints, type RouteName } from '../../contract/endpoints.ts';
import type { Routes } from '../../contract/routes.ts';
import { interrupted } from '../framework/fault.ts';
import { AcceptedKeys } from './accepted-keys.ts';
import { atFirstThatAnswers, beforeSending, listEndpoint, type Route, routeOf } from './addresses.ts';
import { type Endpoint, fixedEndpoint, startingNothing } from './endpoint.ts';
import { notDevmgr, openEnvelope } from './envelope.ts';
import { type AnyInput, exchange, type FileRequest, type Link, transfer } from './exchange.ts';
import { NotServing, Unreachable, withRequest } from './failures.ts';
import { bytesOf, type HttpResponse, patientTimeouts, readText } from './http.ts';
import { isLost, type KeyedResponse, newKey, sendKeyed } from './keyed-write.ts';
import { LimitWait } from './limit-wait.ts';
import { fieldsOf, needsToken, takesKey } from './operations.ts';
import { sleep } from './sleep.ts';
import { sendHttp, type Transport } from './transport.ts';

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
  /** By default `sendHttp`. */
  readonly transport?: Transport;
  /** Whether to wait if the server's limit is reached. */
  readonly wait: boolean;
  readonly notice: (text: string) => void;
  /** Called when a wait for the server's limit begins. */
  readonly waiting: (text: string) => void;
  readonly trace: (text: string) => void;
}

/** A response that is a file. */
export interface FileResponse extends Pick<HttpResponse, 'status' | 'headers'> {
  /** The content; errors are those of `bytesOf`. */
  readonly bytes: AsyncIterable<Buffer>;
}

type Input<N extends RouteName> = unknown extends InputOf<Routes[N]> ? [] : [input: InputOf<Routes[N]>];

/** Waits between the attempts of a read whose connection broke. */
const retryMs = [200, 800];

/** Calls the operations of the interface by name. */
export class Client {
  readonly #options: ClientOptions;
  readonly #limit: LimitWait;
  readonly #accepted = new AcceptedKeys();

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

  /** Starts the local daemon if that is needed and allowed. */
  async #link(): Promise<Link> {
    const { ca, trace, transport = sendHttp } = this.#options;
    const origin = await this.address();
    return { origin, socketPath: this.socketPath, ca, trace, transport, signal: this.#requestSignal };
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

  /** All addresses of the server; empty if it has only the one that `address` returns. */
  get addresses(): readonly string[] {
    return this.#options.endpoint.addresses?.all ?? [];
  }

  /** The same client, which uses only these of the addresses. */
  at(first: string, ...others: readonly string[]): Client {
    if (others.length > 0) return new Client({ ...this.#options, endpoint: listEndpoint([first, ...others]) });
    const trace = (text: string) => this.#options.trace(`${first}: ${text}`);
    return new Client({ ...this.#options, endpoint: fixedEndpoint(first), trace });
  }

  /** The address to use now, for a connection that stays. */
  route(): Route {
    return routeOf(this, this.#options.endpoint.addresses, this.#options.notice);
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
    const { session, endpoint } = this.#options;
    return endpoint.addresses ? this.#retrying(at => at.token(), true) : session.token(this);
  }

  /**
   * The `data` of the response. Limits are waited out. If the connection breaks, reads are retried, and so are writes whose server
   * accepts idempotency keys. Throws a `ServerRefusal` if the server refuses, `Unreachable` if there is no response.
   */
  async call<N extends RouteName>(name: N, ...input: Input<N>): Promise<NonNullable<DataOf<Routes[N]>>> {
    return this.callWith(takesKey(name) ? newKey() : null, name, ...input);
  }

  /** Likewise; a write has this key, which the caller has stored: an earlier process may have sent the same request. */
  async callWith<N extends RouteName>(
    key: string | null,
    name: N,
    ...input: Input<N>
  ): Promise<NonNullable<DataOf<Routes[N]>>> {
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
    return this.#retrying(at => this.#accepted.ask(at), true);
  }

  #attempts(name: RouteName, input: readonly unknown[], key: string | null): () => Promise<KeyedResponse<unknown>> {
    const given = (input[0] ?? {}) as AnyInput;
    const hasSeveral = this.addresses.length > 0;
    const once = async (at: Client) => {
      if (hasSeveral && key !== null) await beforeSending(at, this.#accepted.demand(at));
      const token = needsToken(name) ? await this.#tokenAt(at) : null;
      return exchange(await at.#link(), name, given, { token, key });
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
    const list = endpoint.addresses;
    return sendKeyed({
      send,
      acceptsKeys: async () => this.#accepted.at(await this.address()) || (await this.acceptsKeys()),
      stillAccepts: () => {
        if (list) this.#accepted.forget();
        return this.acceptsKeys();
      },
      locate: () => endpoint.currentAddress(),
      pause: milliseconds => this.pause(list?.hasFresh ? 0 : milliseconds),
      notice,
    });
  }

  /** Like `call`, with this token instead of the session's (null sends none) and without retries. */
  async callAs(token: string | null, name: 'refresh' | 'me' | 'listKeys' | 'health'): Promise<unknown> {
    return (await exchange(await this.#link(), name, {}, { token })).data;
  }

  /** Health with a proof of identity over the nonce, and the other end of the connection that it came on. Sends no token. */
  identify(nonce: string): Promise<{ readonly data: unknown; readonly peer: string | undefined }> {
    const attempt = async (at: Client) => exchange(await at.#link(), 'health', { query: { nonce } }, { token: null });
    return this.#limit.run(() => this.#retrying(attempt, true));
  }

  /**
   * Sends a request whose response is a file, still to be read. Limits are waited out, and another address is used if the server
   * has one; nothing else is retried.
   */
  download(name: RouteName, request: FileRequest): Promise<FileResponse> {
    return this.#transferring(request, true, async at => {
      const { response, origin } = await this.#transfer(at, name, request);
      const { status, headers } = response;
      if (status >= 200 && status < 300)
        return { status, headers, bytes: bytesOf(response, origin, this.#requestSignal, patientTimeouts) };
      const text = { ...response, text: await readText(response, origin, this.#requestSignal) };
      openEnvelope(text, origin, []);
      throw notDevmgr(text, origin);
    });
  }

  /**
   * Sends a request with a streamed body; the `data` of the response. Limits are waited out. Another address is used if nothing
   * was sent to the first one; nothing else is retried.
   */
  async upload<N extends RouteName>(name: N, request: FileRequest): Promise<NonNullable<DataOf<Routes[N]>>> {
    const data = await this.#transferring(request, false, async at => {
      const { response, origin } = await this.#transfer(at, name, request);
      const text = await readText(response, origin, this.#requestSignal);
      return openEnvelope({ ...response, text }, origin, fieldsOf(name));
    });
    return data as NonNullable<DataOf<Routes[N]>>;
  }

  async #transfer(at: Client, name: RouteName, request: FileRequest) {
    const link = await at.#link();
    return { origin: link.origin, response: await transfer(link, name, request, await this.#tokenAt(at)) };
  }

  /** A refusal of a transfer names what was asked for, as that of any other request. */
  #transferring<T>(request: FileRequest, isRead: boolean, attempt: (at: Client) => Promise<T>): Promise<T> {
    return this.#limit
      .run(() => this.#routed(attempt, isRead))
      .catch(error => {
        throw withRequest(error, { params: request.params ?? {} });
      });
  }

  /** Waits. Throws a fault of kind `interrupted` if `signal` is aborted. */
  async pause(milliseconds: number): Promise<void> {
    await sleep(milliseconds, this.signal);
    if (this.signal.aborted) throw interrupted();
  }

  /** The token of the session, for a request that this address gets. */
  #tokenAt(at: Client): Promise<string> {
    return this.addresses.length > 0 ? beforeSending(at, at.token()) : at.token();
  }

  /** Runs `once` with a client that has one address: if there are several, with each in turn until one answers. */
  #routed<T>(once: (at: Client) => Promise<T>, isRead: boolean): Promise<T> {
    const { endpoint, notice } = this.#options;
    if (!endpoint.addresses) return once(this);
    return atFirstThatAnswers(endpoint.addresses, isRead, notice, address => once(this.at(address)));
  }

  async #retrying<T>(once: (at: Client) => Promise<T>, isRead: boolean): Promise<T> {
    let restarted = false;
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#routed(once, isRead);
      } catch (error) {
        if (!(error instanceof Unreachable || error instanceof NotServing)) throw error;
        if (error instanceof Unreachable && !error.maybeDone) {
          if (restarted || !(await this.#options.endpoint.restart())) throw error;
          restarted = true;
        } else {
          const pause = isRead && isLost(error) ? retryMs[attempt] : undefined;
          if (pause === undefined) throw error;
          this.#options.trace(`${error.message}; trying again`);
          await this.pause(pause);
        }
      }
    }
  }
}
