/** The notification stream: connects, follows, and connects again after the last event seen. */
import type { WebSocket as Socket } from 'ws';
import type { closeCodes as contractCodes, EventType, Notification } from '../api/events.ts';
import { Fault, interrupted } from '../fault.ts';
import type { Client } from './client.ts';
import { openEnvelope } from './envelope.ts';
import { isRefusal, linkFailure, Unreachable } from './failures.ts';
import { operations, pathOf } from './operations.ts';
import { readText, timeouts } from './transport.ts';

export type StreamState = 'connecting' | 'connected' | 'lost' | 'resumed' | 'gap';

export interface StreamOptions {
  readonly client: Client;
  /** All where there are none. */
  readonly types: readonly EventType[];
  /** Id of the last event seen; null follows from now on. */
  readonly since: number | null;
  /** Told as the connection comes and goes; `detail` is in words. */
  readonly onState: (state: StreamState, detail: string) => void;
  /** Ends the stream without a fault; null leaves that to the reader. */
  readonly signal?: AbortSignal;
}

/** Close codes of the stream, as the contract has them (its module also loads the schemas of the events). */
const closeCodes: typeof contractCodes = { shuttingDown: 1001, loggedOut: 4401, tooSlow: 4409 };

/** The daemon pings every 30 s: a connection that is silent for longer than two of those is dead, even if nobody said so. */
const silenceMs = 70_000;
const backoffMs = [250, 500, 1_000, 2_000, 5_000, 10_000, 30_000] as const;
/** The socket is read no further while so many events wait for their reader. */
const most = 1_000;

/** Events in order, without repeats, for as long as they are read. The first connection has to come about; later ones are tried for ever. */
export async function* followNotifications(options: StreamOptions): AsyncGenerator<Notification> {
  const { client, onState, signal = client.signal } = options;
  let last = options.since;
  let tries = 0;
  let connected = false;
  while (!signal.aborted) {
    let connection: Connection;
    try {
      onState('connecting', await client.whereabouts());
      connection = await Connection.open(client, pathFor(options.types, last), signal);
    } catch (error) {
      if (signal.aborted) return;
      if (isAhead(error, last, connected)) {
        onState('gap', 'the journal of the server does not go on from there: events may be missing');
        last = null;
        continue;
      }
      if (!connected || !(error instanceof Unreachable || isRefusal(error, 429, 500))) throw error;
      onState('lost', error.message);
      await rest(backoffMs[Math.min(tries++, backoffMs.length - 1)]!, signal);
      continue;
    }
    onState(connected ? 'resumed' : 'connected', last === null ? '' : `after event ${last}`);
    if (connected && last === null) onState('gap', 'no event had been seen yet: what happened meanwhile is not shown');
    connected = true;
    tries = 0;
    for await (const event of connection.events()) {
      if (event.id !== undefined) {
        if (last !== null && event.id <= last) continue;
        last = event.id;
      }
      yield event;
    }
    if (signal.aborted) return;
    onState('lost', connection.reason);
    await rest(backoffMs[0], signal);
  }
}

function pathFor(types: readonly EventType[], since: number | null): string {
  const template = operations.notifications[0].split(' ')[1]!;
  return pathOf(template, {}, { since: since ?? undefined, types: types.length ? types.join(',') : undefined });
}

/** After a restore the journal may end before the last event seen. What the user gave as the start is the user's to mend. */
const isAhead = (error: unknown, last: number | null, connected: boolean) =>
  connected && last !== null && isRefusal(error, 1001);

function rest(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    const jitter = milliseconds * (0.75 + Math.random() / 2);
    const timer = setTimeout(finish, jitter);
    function finish(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', finish);
      resolve();
    }
    signal.addEventListener('abort', finish);
  });
}

class Connection {
  readonly #socket: Socket;
  readonly #waiting: Notification[] = [];
  readonly #signal: AbortSignal;
  #wake: (() => void) | null = null;
  #closed = false;
  #silence: NodeJS.Timeout | undefined;
  reason = 'the connection was lost';

  private constructor(socket: Socket, signal: AbortSignal) {
    this.#socket = socket;
    this.#signal = signal;
    socket.on('message', data => this.#take(String(data)));
    socket.on('ping', () => this.#listen());
    socket.on('error', error => {
      this.reason = error.message;
    });
    socket.on('close', (code, words) => this.#end(code, words.toString('utf8')));
    signal.addEventListener('abort', this.#onAbort);
    this.#listen();
  }

  static async open(client: Client, path: string, signal: AbortSignal): Promise<Connection> {
    if (signal.aborted) throw interrupted();
    const { WebSocket } = await import('ws');
    const origin = await client.whereabouts();
    const url = new URL(origin.replace(/^http/, 'ws') + path);
    url.searchParams.set('token', await client.token());
    const socket = new WebSocket(url, {
      ca: client.ca,
      handshakeTimeout: timeouts.idleMs,
      followRedirects: false,
      maxPayload: 1024 * 1024,
    });
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        reject(interrupted());
        socket.terminate();
      };
      const fail = (error: Error) => {
        signal.removeEventListener('abort', onAbort);
        reject(error);
      };
      signal.addEventListener('abort', onAbort, { once: true });
      socket.once('open', () => {
        signal.removeEventListener('abort', onAbort);
        socket.off('error', onError);
        resolve(new Connection(socket, signal));
      });
      const onError = (error: Error) => fail(refusedUpgrade(error, origin));
      socket.on('error', onError);
      socket.once('unexpected-response', (_, answer) => {
        readText(answer, origin, client.signal)
          .then(text => openEnvelope({ status: answer.statusCode ?? 0, headers: answer.headers, text }, origin, []))
          .then(() => new Fault('failure', `${origin} has no notification stream`))
          .then(fail, fail)
          .finally(() => socket.terminate());
      });
    });
  }

  readonly #onAbort = () => this.#socket.close();

  #listen(): void {
    clearTimeout(this.#silence);
    this.#silence = setTimeout(() => {
      this.reason = 'the server has fallen silent';
      this.#socket.terminate();
    }, silenceMs);
  }

  #take(text: string): void {
    this.#listen();
    const event = readFrame(text);
    if (!event) return;
    this.#waiting.push(event);
    if (this.#waiting.length >= most) this.#socket.pause();
    this.#wake?.();
  }

  #end(code: number, words: string): void {
    clearTimeout(this.#silence);
    this.#signal.removeEventListener('abort', this.#onAbort);
    if (code === closeCodes.shuttingDown) this.reason = 'the server is stopping';
    else if (code === closeCodes.loggedOut) this.reason = 'the login is no longer good';
    else if (code === closeCodes.tooSlow) this.reason = 'events were not taken in time';
    else if (words) this.reason = words;
    this.#closed = true;
    this.#wake?.();
  }

  async *events(): AsyncGenerator<Notification> {
    try {
      for (;;) {
        const event = this.#waiting.shift();
        if (event) {
          if (this.#waiting.length < most / 2 && this.#socket.isPaused) this.#socket.resume();
          yield event;
        } else if (this.#closed || this.#signal.aborted) return;
        else
          await new Promise<void>(resolve => {
            this.#wake = resolve;
            this.#signal.addEventListener('abort', () => resolve(), { once: true });
          });
      }
    } finally {
      this.#socket.terminate();
    }
  }
}

function refusedUpgrade(error: Error, origin: string): Error {
  if (error instanceof Fault) return error;
  if ('code' in error && typeof error.code === 'string' && !error.code.startsWith('WS_'))
    return linkFailure(error, origin);
  if (/handshake has timed out/.test(error.message)) return new Unreachable(`${origin} did not answer in time`, false);
  return new Fault('failure', `${origin} has no notification stream: ${error.message}`);
}

/** Null for what is no event: a later server may say more than this program knows. */
function readFrame(text: string): Notification | null {
  try {
    const frame = JSON.parse(text) as Partial<Notification> | null;
    if (typeof frame?.type !== 'string' || typeof frame.data !== 'object' || frame.data === null) return null;
    if (frame.id !== undefined && !Number.isSafeInteger(frame.id)) return null;
    return frame as Notification;
  } catch {
    return null;
  }
}
