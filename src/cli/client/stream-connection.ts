/** One connection of the notification stream. */
import type { WebSocket as Socket } from 'ws';
import type { closeCodes as contractCodes, Notification } from '../../contract/events.ts';
import { Fault, interrupted } from '../fault.ts';
import type { Client } from './client.ts';
import { openEnvelope } from './envelope.ts';
import { linkFailure, Unreachable } from './failures.ts';
import { readText, timeouts } from './transport.ts';

/** Close codes of the stream, as the contract has them (its module also loads the schemas of the events). */
const closeCodes: typeof contractCodes = { shuttingDown: 1001, loggedOut: 4401, tooSlow: 4409 };

/** The daemon pings every 30 s: a connection that is silent for longer than two of those is dead, even if nobody said so. */
const silenceMs = 70_000;
/** The socket is read no further while so many events wait for their reader. */
const most = 1_000;

/** Where a stream without `since` begins, told with the upgrade. */
const positionHeader = 'x-stream-since';

export class Connection {
  readonly #socket: Socket;
  readonly #waiting: Notification[] = [];
  readonly #signal: AbortSignal;
  #wake: (() => void) | null = null;
  #closed = false;
  #silence: NodeJS.Timeout | undefined;
  reason = 'the connection was lost';
  isRenewed = false;
  /** The token it was opened with. */
  readonly token: string;
  /** Id of the last event before those that come; null where the server does not say. */
  readonly startsAfter: number | null;

  private constructor(socket: Socket, signal: AbortSignal, token: string, startsAfter: number | null) {
    this.#socket = socket;
    this.token = token;
    this.startsAfter = startsAfter;
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
    const token = await client.token();
    url.searchParams.set('token', token);
    let startsAfter: number | null = null;
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
      socket.once('upgrade', answer => {
        startsAfter = eventId(answer.headers[positionHeader]);
      });
      socket.once('open', () => {
        signal.removeEventListener('abort', onAbort);
        socket.off('error', onError);
        resolve(new Connection(socket, signal, token, startsAfter));
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

  readonly #onAbort = () => {
    this.#socket.close();
    this.#wake?.();
  };

  /** Ends it, to be followed by one with a new token. What has come is still given. */
  renew(): void {
    this.isRenewed = true;
    this.#socket.close();
  }

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
          });
      }
    } finally {
      this.#socket.terminate();
    }
  }
}

function eventId(header: string | string[] | undefined): number | null {
  return typeof header === 'string' && /^\d{1,15}$/.test(header) ? Number(header) : null;
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
