import type { DataOf, InputOf } from '../../contract/define.ts';
import { endpoints, type RouteName } from '../../contract/endpoints.ts';
import type { Routes } from '../../contract/routes.ts';
import { pause } from '../retry.ts';
import {
  atFirstThatAnswers,
  beforeSending,
  fixedEndpoint,
  listEndpoint,
  noteAnswer,
  type ServerEndpoint,
  startingNothing,
} from './addresses.ts';
import {
  type AcceptedResponse,
  type AddressedRequest,
  type AnyInput,
  exchange,
  type FileResponse,
  fetchFile,
  type Link,
  needsToken,
  takesKey,
} from './exchange.ts';
import { withRequest } from './failures.ts';
import { AcceptedKeys, newKey, type Repeatable, RequestRetry, sendKeyed } from './request-retry.ts';
import { type HttpTransport, sendHttp } from './transport.ts';

/** Supplies the token of requests. */
export interface ClientSession {
  /** The token, renewed if it is about to expire. Throws a fault of kind `login` if there is none. */
  token(client: Client): Promise<string>;
}

export interface ClientOptions {
  readonly endpoint: ServerEndpoint;
  readonly session: ClientSession;
  /** Certificates (PEM) to trust instead of the system's. */
  readonly ca?: string | undefined;
  /** Ends waits and requests. */
  readonly signal: AbortSignal;
  /** Ends requests instead of `signal`. */
  readonly requestSignal?: AbortSignal;
  /** By default `sendHttp`. */
  readonly transport?: HttpTransport;
  /** Whether to wait if the server's limit is reached. */
  readonly wait: boolean;
  readonly notice: (text: string) => void;
  /** Called when a wait for the server's limit begins. */
  readonly waiting: (text: string) => void;
  readonly trace: (text: string) => void;
  /** As in `RequestPolicy`. */
  readonly share?: () => number;
}

type OperationInput<N extends RouteName> = unknown extends InputOf<Routes[N]> ? [] : [input: InputOf<Routes[N]>];

/** The address that a connection uses. */
export interface Route {
  /** A client that uses this address only. */
  readonly client: Client;
  /** To be called when the server answers there. */
  readonly answered: () => void;
  /** To be called when the connection fails. True if there is another address, which has not failed in the last seconds. */
  readonly lost: (reason: string) => boolean;
}

/** A request, as a value. */
interface ClientRequest<N extends RouteName> extends Pick<AddressedRequest, 'headers' | 'content'> {
  readonly operation: N;
  readonly input?: InputOf<Routes[N]> | undefined;
  /** Idempotency key that the caller has stored, because an earlier process may have sent it. Default: a new one; null: none. */
  readonly key?: string | null;
  /** Instead of the token of the session; null sends none. */
  readonly token?: string | null;
  /**
   * By default everything that is safe; `unsent` if the caller sends a write with a key again itself; `limit` waits only for limits, as for
   * any request with `content`; `none` for a single attempt.
   */
  readonly retry?: 'unsent' | 'limit' | 'none';
}

/** Response to a request. */
interface ClientResponse<N extends RouteName> extends AcceptedResponse {
  readonly data: NonNullable<DataOf<Routes[N]>>;
}

/** How requests differ from those of the client that a command gets. */
interface RequestPolicy {
  /** Ends waits and requests as well. */
  readonly signal?: AbortSignal;
  /** Requests run to their end even if the signal is aborted, and their results are not lost. Waits still end with it. */
  readonly finish?: true;
  /** They are not worth a wait: a limit that is reached is an error, and nothing is reported. */
  readonly wait?: false;
  /** They start no daemon and write nothing at all: the screen of an open question stays as it is. */
  readonly start?: false;
  /** How much of the work that needs the requests is done, from 0 to 1: a wait for the limit then shows how long it takes in all. */
  readonly share?: () => number;
}

/** Calls the operations of the interface by name. */
export class Client {
  readonly #options: ClientOptions;
  readonly #retry: RequestRetry;
  readonly #accepted = new AcceptedKeys();

  constructor(options: ClientOptions) {
    this.#options = options;
    const { endpoint, signal } = options;
    const restart = () => endpoint.restart();
    this.#retry = new RequestRetry({ ...options, restart, pause: milliseconds => pause(milliseconds, signal) });
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
    const { ca, trace, wait, notice, transport = sendHttp } = this.#options;
    const origin = await this.address();
    // Completion and other looks on the side do not wait, and write nothing.
    const late = wait ? notice : () => undefined;
    return { origin, socketPath: this.socketPath, ca, trace, late, transport, signal: this.#requestSignal };
  }

  /** A copy of this client whose requests follow a policy. */
  with({ signal, finish, wait, start, share }: RequestPolicy): Client {
    const silent = () => undefined;
    const { endpoint, signal: ended } = this.#options;
    return new Client({
      ...this.#options,
      ...(signal === undefined ? {} : { signal: AbortSignal.any([ended, signal]) }),
      ...(finish === undefined ? {} : { requestSignal: new AbortController().signal }),
      ...(wait === undefined ? {} : { wait, notice: silent, waiting: silent }),
      ...(share === undefined ? {} : { share }),
      ...(start === undefined ? {} : { endpoint: startingNothing(endpoint), trace: silent }),
    });
  }

  /** All addresses of the server; empty if it has only the one that `address` returns. */
  get addresses(): readonly string[] {
    return this.#options.endpoint.addresses?.all ?? [];
  }

  /** A copy of this client that uses only these addresses. */
  at(first: string, ...others: readonly string[]): Client {
    if (others.length > 0) return new Client({ ...this.#options, endpoint: listEndpoint([first, ...others]) });
    const trace = (text: string) => this.#options.trace(`${first}: ${text}`);
    return new Client({ ...this.#options, endpoint: fixedEndpoint(first), trace });
  }

  /** The address to use now, for a connection that stays. */
  route(): Route {
    const { endpoint, notice } = this.#options;
    const list = endpoint.addresses;
    if (!list) return { client: this, answered: () => undefined, lost: () => false };
    const address = list.next;
    return {
      client: this.at(address),
      answered: () => noteAnswer(list, address, notice),
      lost: reason => {
        list.failed(address, reason);
        return list.hasFresh;
      },
    };
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
    return endpoint.addresses ? this.#retrying(at => at.token(), 'lost', true) : session.token(this);
  }

  /**
   * The `data` of the response. Limits are waited out. If the connection breaks, reads are retried, and so are writes whose server
   * accepts idempotency keys. Throws a `ServerRefusal` if the server refuses, `Unreachable` if there is no response.
   */
  async call<N extends RouteName>(name: N, ...input: OperationInput<N>): Promise<NonNullable<DataOf<Routes[N]>>> {
    return (await this.send({ operation: name, input: input[0] })).data;
  }

  /** Sends a request, and repeats it as its `retry` tells. Errors are those of `call`. */
  async send<N extends RouteName>(request: ClientRequest<N>): Promise<ClientResponse<N>> {
    const { operation, content } = request;
    const { retry = content && 'limit', key = content === undefined && takesKey(operation) ? newKey() : null } =
      request;
    const input = (request.input ?? {}) as AnyInput;
    const attempt = (at: Client) => this.#attempt(at, { ...request, key });
    const isRead = endpoints[operation].method === 'GET';
    const send = () =>
      retry === 'none'
        ? attempt(this)
        : this.#retrying(attempt, retry === 'limit' ? 'none' : isRead ? 'lost' : 'unsent', isRead, input);
    const response = await (key === null || retry !== undefined ? send() : this.#sendingAgain(send));
    return response as ClientResponse<N>;
  }

  async #attempt(at: Client, request: ClientRequest<RouteName>): Promise<AcceptedResponse> {
    const { operation, input, key = null, token } = request;
    if (this.addresses.length > 0 && key !== null && token === undefined)
      await beforeSending(at, this.#accepted.demand(await at.address(), at.#health));
    const bearer = token === undefined && needsToken(operation) ? await this.#tokenAt(at) : (token ?? null);
    return exchange(await at.#link(), { ...request, input: input as AnyInput | undefined, token: bearer });
  }

  /** Whether the server accepts idempotency keys now: then a write can be sent twice with the same key. */
  async acceptsKeys(): Promise<boolean> {
    const ask = (at: Client) => at.address().then(address => this.#accepted.ask(address, at.#health));
    return this.#retrying(ask, 'lost', true);
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

  readonly #health = async (): Promise<unknown> => (await this.send({ operation: 'getHealth', retry: 'none' })).data;

  /**
   * Sends a request whose response is a file, still to be read. Limits are waited out, and another address is used if the server
   * has one; nothing else is retried.
   */
  download(request: Pick<AddressedRequest, 'operation' | 'input' | 'headers'>): Promise<FileResponse> {
    const attempt = async (at: Client) => fetchFile(await at.#link(), { ...request, token: await this.#tokenAt(at) });
    return this.#retrying(attempt, 'none', true, request.input);
  }

  /** Waits. Throws a fault of kind `interrupted` if `signal` is aborted. */
  pause(milliseconds: number): Promise<void> {
    return pause(milliseconds, this.signal);
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

  /** A refusal has what was asked for by `input`. */
  #retrying<T>(
    once: (at: Client) => Promise<T>,
    repeatable: Repeatable,
    isRead: boolean,
    input: AnyInput = {},
  ): Promise<T> {
    return this.#retry
      .run(() => this.#routed(once, isRead), repeatable)
      .catch(error => {
        throw withRequest(error, input);
      });
  }
}
