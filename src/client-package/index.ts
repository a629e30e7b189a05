/** The client of the registry as a package: the client of the command line, behind types that need nothing of this project. */
import { fixedEndpoint, listEndpoint } from '../cli/client/addresses.ts';
import { Client } from '../cli/client/client.ts';
import { isServerRefusal, Unreachable } from '../cli/client/failures.ts';
import { itemsOf } from '../cli/client/pages.ts';
import { followNotifications } from '../cli/client/stream.ts';
import { errorWords } from '../cli/fault.ts';
import type { Device, Downloads, EventType, Notification, Operations } from './operations.ts';
import { loginSession, tokenSession } from './session.ts';

export type * from './operations.ts';

/** Where the registry is, and who calls it. */
export interface Options {
  /** Its address, or those of its daemons in the order to try. */
  readonly server: string | readonly string[];
  /** A service token. */
  readonly token?: string;
  /** Instead of `token`: the first request logs in, and the token is renewed in time. */
  readonly login?: { readonly username: string; readonly password: string };
  /** Certificates (PEM) to trust instead of the system's. */
  readonly ca?: string;
  /** Ends requests, waits and streams. */
  readonly signal?: AbortSignal;
  /** False: a rate limit that is reached is an error. By default it is waited out. */
  readonly waitForLimits?: boolean;
  /** Gets a line for each wait, and for each request that is sent again. */
  readonly log?: (line: string) => void;
}

/** The name of an operation. */
export type Operation = keyof Operations;
/** The name of an operation that lists items page by page. */
export type PagedOperation = {
  [N in Operation]: Operations[N]['data'] extends { list: readonly unknown[]; pagination: unknown } ? N : never;
}[Operation];
/** An item of such a list. */
export type Item<N extends PagedOperation> = Operations[N]['data'] extends { list: readonly (infer I)[] } ? I : never;
/** The name of an operation that changes one device. */
export type Change = 'deactivateDevice' | 'lockDevice' | 'unlockDevice' | 'updateDevice';
/** The body of an operation. */
export type Body<N extends Operation> = Operations[N]['input'] extends { body: infer B } ? B : never;

/** How a request differs from others. */
export interface RequestOptions {
  /** Version of the device that the change is based on: if the device has another one, the error has code 412. */
  readonly version?: number;
  /** Idempotency key, if an earlier process may have sent the request. By default each write has a new one. */
  readonly key?: string;
}

/** Which events to watch. */
export interface EventOptions<T extends EventType = EventType> {
  /** All that the caller may see if absent. */
  readonly types?: readonly T[];
  /** Only events of this device. */
  readonly deviceId?: string;
  /** Id of the last event that was seen. By default the stream begins with the next one. */
  readonly since?: number;
  /** Ends the stream. */
  readonly signal?: AbortSignal;
  /** Called when the connection is made, lost and made again. After `gap`, events may be missing. */
  readonly onState?: (state: 'connecting' | 'connected' | 'lost' | 'resumed' | 'gap', detail: string) => void;
}

/** A request was refused, or has no response. */
export class DevmgrError extends Error {
  override name = 'DevmgrError';
  /** The business code; null if there was no response. */
  readonly code: number | null;
  /** Of code 1001: all problems of the input. */
  readonly details: readonly {
    readonly field: string;
    readonly reason: string;
    readonly allowed?: readonly string[];
  }[];
  /** How to continue, as the operation describes it; null if there is nothing. */
  readonly data: unknown;
  /** Id under which the log of the server has the request; null if it is not known. */
  readonly requestId: string | null;
  /** Whether the request may have been carried out, because its response was lost. */
  readonly maybeDone: boolean;
  constructor(cause: unknown) {
    super(errorWords(cause), { cause });
    const refusal = isServerRefusal(cause) ? cause : null;
    this.code = refusal?.code ?? null;
    this.details = refusal?.details ?? [];
    this.data = refusal?.data ?? null;
    this.requestId = refusal?.requestId ?? null;
    this.maybeDone = cause instanceof Unreachable && cause.maybeDone;
  }
}

type Input<N extends Operation> = Operations[N]['input'];
type Arguments<I> = Partial<I> extends I ? [input?: I] : [input: I];

/** A registry. */
export class Registry {
  readonly #client: Client;

  constructor(options: Options) {
    const { server, token, login, ca, signal = new AbortController().signal, waitForLimits = true } = options;
    const { log = () => undefined } = options;
    const [first = '', ...others] = [server].flat().map(address => address.replace(/\/$/, ''));
    if (!URL.canParse(first)) throw new TypeError(`server is not an address: ${first}`);
    if ((token === undefined) === (login === undefined)) throw new TypeError('either token or login is needed');
    this.#client = new Client({
      endpoint: others.length > 0 ? listEndpoint([first, ...others]) : fixedEndpoint(first),
      session: login ? loginSession(login) : tokenSession(token!),
      ca,
      signal,
      wait: waitForLimits,
      notice: log,
      waiting: log,
      trace: () => undefined,
    });
  }

  /**
   * The data of an operation. A write has an idempotency key: it is sent again if its response is lost, and is carried out once.
   * Throws a `DevmgrError`.
   */
  call<N extends Operation>(operation: N, ...input: Arguments<Input<N>>): Promise<Operations[N]['data']> {
    return this.send(operation, input[0] ?? ({} as Input<N>));
  }

  /** As `call`, with options. */
  async send<N extends Operation>(
    operation: N,
    input: Input<N>,
    { version, key }: RequestOptions = {},
  ): Promise<Operations[N]['data']> {
    const headers = version === undefined ? {} : { 'if-match': `"${version}"` };
    const request = { operation, input: input as never, headers, ...(key === undefined ? {} : { key }) };
    const { data } = await orDevmgrError(this.#client.send(request));
    return data as Operations[N]['data'];
  }

  /** The items of a list. A page is read when its first item is wanted. */
  async *items<N extends PagedOperation>(operation: N, input?: Input<N>): AsyncGenerator<Item<N>, void, undefined> {
    yield* throwing(itemsOf(this.#client, operation as 'listDevices', input as object) as AsyncIterable<Item<N>>);
  }

  /**
   * Changes a device: `decide` gets the device and returns the body of the operation, or null to change nothing. If the device changes
   * between, it is read and decided again.
   */
  async change<N extends Change>(
    operation: N,
    deviceId: string,
    decide: (device: Device) => Body<N> | null,
  ): Promise<Operations[N]['data'] | null> {
    for (;;) {
      const device = await this.send('getDevice', { params: { deviceId } });
      const body = decide(device);
      if (body === null) return null;
      try {
        const input = { params: { deviceId }, body } as unknown as Input<N>;
        return await this.send(operation, input, { version: device.version });
      } catch (error) {
        if (!(error instanceof DevmgrError && error.code === 412)) throw error;
      }
    }
  }

  /** Events as they happen, in order and each once. A lost connection is replaced and continues after the last event. */
  async *events<T extends EventType = EventType>(
    options: EventOptions<T> = {},
  ): AsyncGenerator<Extract<Notification, { type: T }>, void, undefined> {
    const { types = [], deviceId, since = null, signal, onState = () => undefined } = options;
    const client = this.#client;
    const stream = { client, types, deviceId, since, onState, ...(signal ? { signal } : {}) };
    yield* throwing(followNotifications(stream) as AsyncIterable<Extract<Notification, { type: T }>>);
  }

  /** The content of a file, an export or a document, in pieces. */
  async *download<N extends keyof Downloads>(
    operation: N,
    input?: Downloads[N],
  ): AsyncGenerator<Uint8Array, void, undefined> {
    const { bytes } = await orDevmgrError(this.#client.download({ operation, input: (input ?? {}) as object }));
    yield* throwing(bytes);
  }
}

/** The registry at an address. Sends nothing yet. */
export const connect = (options: Options): Registry => new Registry(options);

const orDevmgrError = <T>(result: Promise<T>): Promise<T> =>
  result.catch(error => {
    throw new DevmgrError(error);
  });

async function* throwing<T>(items: AsyncIterable<T>): AsyncGenerator<T, void, undefined> {
  try {
    yield* items;
  } catch (error) {
    throw new DevmgrError(error);
  }
}
