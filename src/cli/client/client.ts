import type { IncomingMessage } from 'node:http';
import type { DataOf, InputOf } from '../../contract/define.ts';
import type { RouteName, Routes } from '../../contract/routes.ts';
import { interrupted } from '../fault.ts';
import { notDevmgr, openEnvelope, requestId } from './envelope.ts';
import { isRefusal, Refusal, Unreachable } from './failures.ts';
import { needsToken, operationOf, pathOf } from './operations.ts';
import { rest } from './rest.ts';
import { type Body, type Request, readText, send, timeouts } from './transport.ts';

/** Where a service is. */
export interface Place {
  /** Its address, without a slash at the end. Starts the local daemon where that is wanted. */
  address(): Promise<string>;
  /** Nobody answered there: true where it has been brought back and is worth another try. */
  revive(): Promise<boolean>;
  /** Its address as it is now, without starting anything; the last one known where it is away. */
  whereabouts(): Promise<string>;
}

/** Who asks. */
export interface Session {
  /** The token, renewed when it is about to end; a fault of kind `login` where there is none. */
  token(client: Client): Promise<string>;
}

export interface ClientOptions {
  readonly place: Place;
  readonly session: Session;
  readonly ca?: string | undefined;
  /** Ends waiting, and calls requests off. */
  readonly signal: AbortSignal;
  /** Calls requests off in place of `signal`. */
  readonly requestSignal?: AbortSignal;
  /** Wait when the server says that the limit is reached. */
  readonly wait: boolean;
  readonly notice: (text: string) => void;
  /** Told that a limit is waited out. */
  readonly waiting: (text: string) => void;
  readonly trace: (text: string) => void;
}

type Input<N extends RouteName> = unknown extends InputOf<Routes[N]> ? [] : [input: InputOf<Routes[N]>];
interface AnyInput {
  readonly params?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
}

export interface Raw {
  readonly params?: Readonly<Record<string, unknown>>;
  /** Asked for at each try. */
  readonly body?: () => Body;
  readonly headers?: Readonly<Record<string, string | number>>;
}

/** A refusal carries the fields of the request, so that hints can be chosen by them. */
function withRequest(error: unknown, { params, body }: AnyInput): unknown {
  if (!isRefusal(error)) return error;
  const request = { ...params, ...(body as Readonly<Record<string, unknown>> | undefined) };
  return new Refusal(error.code, error.message, error.waitSeconds, error.requestId, request);
}

/** Waits between the tries of a read whose connection broke. */
const retryMs = [200, 800];
/** Where the server does not say how long. */
const defaultWaitSeconds = 15;
const longestWaitSeconds = 3_600;

/** Calls the operations of the interface by name. */
export class Client {
  readonly #options: ClientOptions;

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  get signal(): AbortSignal {
    return this.#options.signal;
  }

  /** The same client for requests that are seen through to their answer whatever `signal` says; waiting still ends with it. */
  unhurried(): Client {
    return new Client({ ...this.#options, requestSignal: new AbortController().signal });
  }

  get #requestSignal(): AbortSignal {
    return this.#options.requestSignal ?? this.#options.signal;
  }

  get ca(): string | undefined {
    return this.#options.ca;
  }

  address(): Promise<string> {
    return this.#options.place.address();
  }

  /** The address as it is now; nothing is started for it but at the first time. */
  async whereabouts(): Promise<string> {
    await this.address();
    return this.#options.place.whereabouts();
  }

  token(): Promise<string> {
    return this.#options.session.token(this);
  }

  /**
   * The `data` of the answer. Reads are tried again when the connection breaks, and a limit is waited out; what the server refuses is a
   * `Refusal`, no answer `Unreachable`.
   */
  async call<N extends RouteName>(name: N, ...input: Input<N>): Promise<NonNullable<DataOf<Routes[N]>>> {
    const given = (input[0] ?? {}) as AnyInput;
    const data = await this.#waitingOutLimits(() => this.#insisting(name, given)).catch(error => {
      throw withRequest(error, given);
    });
    return data as NonNullable<DataOf<Routes[N]>>;
  }

  /** The same with a token of one's own in place of the session's; null sends none. */
  async callAs(token: string | null, name: 'refresh' | 'me' | 'listKeys' | 'health'): Promise<unknown> {
    return this.#exchange(name, {}, token);
  }

  /** A request whose body or answer is no JSON; the answer is still to be read. Tried once. */
  async raw(name: RouteName, input: Raw): Promise<IncomingMessage> {
    return this.#waitingOutLimits(async () => {
      const { method, path } = operationOf(name);
      const origin = await this.address();
      const headers = { authorization: `Bearer ${await this.token()}`, ...input.headers };
      const url = new URL(origin + pathOf(path, input.params));
      const answer = await this.#send({ method, url, headers, body: input.body?.(), idleMs: timeouts.patientMs });
      const status = answer.statusCode ?? 0;
      if (status >= 200 && status < 300) return answer;
      const text = await readText(answer, origin, this.#requestSignal);
      const what = { status, headers: answer.headers, text };
      openEnvelope(what, origin, []);
      throw notDevmgr(what, origin);
    });
  }

  async #waitingOutLimits<T>(attempt: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await attempt();
      } catch (error) {
        if (!isRefusal(error, 429) || !this.#options.wait) throw error;
        await this.#waitFor(error);
      }
    }
  }

  async #waitFor(refusal: Refusal): Promise<void> {
    // What a proxy or a clock that is wrong names may lie years ahead; asking again after the longest of limits does no harm.
    const seconds = Math.min(Math.ceil(refusal.waitSeconds ?? defaultWaitSeconds), longestWaitSeconds);
    const until = new Date(Date.now() + seconds * 1000).toLocaleTimeString();
    this.#options.waiting(
      `the server's limit is reached; going on in ${seconds} s, at ${until} (--no-wait gives up at once)`,
    );
    await this.pause(seconds * 1000 + 50);
  }

  /** Waits; Ctrl-C ends it. */
  async pause(milliseconds: number): Promise<void> {
    await rest(milliseconds, this.signal);
    if (this.signal.aborted) throw interrupted();
  }

  async #insisting(name: RouteName, input: AnyInput): Promise<unknown> {
    const isRead = operationOf(name).method === 'GET';
    let revived = false;
    for (let tries = 0; ; tries++) {
      try {
        return await this.#exchange(name, input, needsToken(name) ? await this.token() : null);
      } catch (error) {
        if (!(error instanceof Unreachable)) throw error;
        if (!error.maybeDone) {
          if (revived || !(await this.#options.place.revive())) throw error;
          revived = true;
        } else {
          const pause = isRead && !error.timedOut ? retryMs[tries] : undefined;
          if (pause === undefined) throw error;
          this.#options.trace(`${error.message}; trying again`);
          await this.pause(pause);
        }
      }
    }
  }

  async #exchange(name: RouteName, input: AnyInput, token: string | null): Promise<unknown> {
    const { method, path, fields } = operationOf(name);
    const origin = await this.address();
    const body = input.body === undefined ? undefined : JSON.stringify(input.body);
    const headers = {
      accept: 'application/json',
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
    };
    const url = new URL(origin + pathOf(path, input.params, input.query));
    const idleMs = name === 'batchRegister' ? timeouts.patientMs : timeouts.idleMs;
    const answer = await this.#send({ method, url, headers, body, idleMs });
    const text = await readText(answer, origin, this.#requestSignal);
    return openEnvelope({ status: answer.statusCode ?? 0, headers: answer.headers, text }, origin, fields);
  }

  async #send(request: Omit<Request, 'ca' | 'reuse' | 'signal'>): Promise<IncomingMessage> {
    const { ca, trace } = this.#options;
    const { method, url } = request;
    const started = Date.now();
    const answer = await send({ ...request, ca, signal: this.#requestSignal, reuse: method === 'GET' });
    const took = Date.now() - started;
    trace(
      `${method} ${url.pathname}${url.search} → ${answer.statusCode} (${took} ms, ${requestId(answer.headers) ?? 'no request id'})`,
    );
    return answer;
  }
}
