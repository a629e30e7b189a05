/** One connection of the notification stream. */

import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import type { WebSocket as Socket } from 'ws';
import type { Notification } from '../../contract/events.ts';
import { objectIn } from '../../contract/json-object.ts';
import { closeCodes, stream } from '../../contract/values.ts';
import { proxyFor } from '../../delivery/proxies.ts';
import { type Fault, failure, interrupted, systemCode } from '../fault.ts';
import type { Client } from './client.ts';
import { openEnvelope } from './envelope.ts';
import { linkFailure } from './failures.ts';
import { readText, timeouts } from './http.ts';
import { proxyAgent } from './transport.ts';

/** A connection without two pings in a row is dead, even if nothing has reported it. */
const silenceMs = (2 * stream.pingSeconds + 10) * 1000;
/** The socket is paused while this many events wait for their reader. */
const maxWaiting = 1_000;
const maxFrameBytes = 1024 * 1024;

const closeReasons: Readonly<Record<number, string>> = {
  [closeCodes.shuttingDown]: 'the server is stopping',
  [closeCodes.loggedOut]: 'the login is no longer valid',
  [closeCodes.tooSlow]: 'events were not read in time',
};

/** An open connection. Its events are read once, with `events`. */
export class StreamConnection {
  readonly #socket: Socket;
  readonly #waiting: Notification[] = [];
  readonly #signal: AbortSignal;
  #wake: (() => void) | null = null;
  #closed = false;
  #silence: NodeJS.Timeout | undefined;
  /** Why the connection ended, in words. */
  reason = 'the connection was lost';
  /** Whether it was ended for a connection with a new token. */
  isRenewed = false;
  /** The token it was opened with. */
  readonly token: string;
  /** Id of the last event before those of this connection; null if the server does not say. */
  readonly startsAfter: number | null;

  private constructor(socket: Socket, signal: AbortSignal, token: string, startsAfter: number | null) {
    this.#socket = socket;
    this.token = token;
    this.startsAfter = startsAfter;
    this.#signal = signal;
    socket.on('message', data => this.#receive(String(data)));
    socket.on('ping', () => this.#watchSilence());
    socket.on('error', error => {
      this.reason = error.message;
    });
    socket.on('close', (code, words) => this.#end(code, words.toString('utf8')));
    signal.addEventListener('abort', this.#onAbort);
    this.#watchSilence();
  }

  /** Connects. Rejects with what a request would: a `ServerRefusal`, `Unreachable` or another fault. */
  static async open(client: Client, path: string, signal: AbortSignal): Promise<StreamConnection> {
    if (signal.aborted) throw interrupted();
    const origin = await client.currentAddress();
    const token = await client.token();
    const { socketPath } = client;
    const url = new URL(origin.replace(socketPath === null ? /^http/ : /^https?/, 'ws') + path);
    url.searchParams.set('token', token);
    const { WebSocket } = await import('ws');
    const proxy = socketPath === null ? proxyFor(url) : null;
    const socket = new WebSocket(url, {
      ca: client.ca,
      headers: { prefer: 'handling=strict' },
      followRedirects: false,
      maxPayload: maxFrameBytes,
      // The URL of a socket that ws understands cannot name every path.
      ...(socketPath === null ? {} : { createConnection: () => connect(socketPath) }),
      ...(proxy && { agent: proxyAgent(proxy) }),
    });
    try {
      const opened = (startsAfter: number | null) => new StreamConnection(socket, signal, token, startsAfter);
      return await upgraded(socket, origin, signal, opened);
    } catch (error) {
      socket.terminate();
      throw error;
    }
  }

  readonly #onAbort = () => {
    this.#socket.close();
    this.#wake?.();
  };

  /** Ends the connection, to be followed by one with a new token. Events that have arrived are still delivered. */
  renew(): void {
    this.isRenewed = true;
    this.#socket.close();
  }

  #watchSilence(): void {
    clearTimeout(this.#silence);
    this.#silence = setTimeout(() => {
      this.reason = 'the server no longer responds';
      this.#socket.terminate();
    }, silenceMs);
  }

  #receive(text: string): void {
    this.#watchSilence();
    const event = readFrame(text);
    if (!event) return;
    this.#waiting.push(event);
    if (this.#waiting.length >= maxWaiting) this.#socket.pause();
    this.#wake?.();
  }

  #end(code: number, words: string): void {
    clearTimeout(this.#silence);
    this.#signal.removeEventListener('abort', this.#onAbort);
    this.reason = closeReasons[code] ?? (words || this.reason);
    this.#closed = true;
    this.#wake?.();
  }

  /** Events in the order of arrival, until the connection ends or the signal is aborted. */
  async *events(): AsyncGenerator<Notification> {
    try {
      for (;;) {
        const event = this.#waiting.shift();
        if (event) {
          if (this.#waiting.length < maxWaiting / 2 && this.#socket.isPaused) this.#socket.resume();
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

/**
 * Resolves once the stream is open, with what `opened` returns for the id of the last event before it (null if the server does
 * not say). `opened` is called at once: the first event may come with the upgrade.
 */
async function upgraded<T>(
  socket: Socket,
  origin: string,
  signal: AbortSignal,
  opened: (startsAfter: number | null) => T,
): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  let startsAfter: number | null = null;
  const onAbort = () => reject(interrupted());
  // A deadline for all of it: ws would wait for as long as the server sends a header now and then.
  const late = () => reject(linkFailure(Object.assign(new Error(), { code: 'EHEADERSTIMEOUT' }), origin));
  const deadline = setTimeout(late, timeouts.connectMs + timeouts.headersMs);
  signal.addEventListener('abort', onAbort);
  // Stays in place: an error that comes late must not end the process.
  socket.on('error', error => reject(upgradeFailure(error, origin)));
  socket.once('upgrade', ({ headers }) => {
    startsAfter = eventId(headers[stream.sinceHeader.toLowerCase()]);
  });
  socket.once('open', () => resolve(opened(startsAfter)));
  socket.once('unexpected-response', (_, response) => {
    refusedUpgrade(response, origin, signal).then(reject, reject);
  });
  try {
    return await promise;
  } finally {
    clearTimeout(deadline);
    signal.removeEventListener('abort', onAbort);
  }
}

async function refusedUpgrade(response: IncomingMessage, origin: string, signal: AbortSignal): Promise<Fault> {
  const text = await readText({ body: response }, origin, signal);
  openEnvelope({ status: response.statusCode ?? 0, headers: response.headers, text }, origin, []);
  return failure(`${origin} has no notification stream`);
}

function upgradeFailure(error: Error, origin: string): Error {
  const code = systemCode(error);
  if (code !== null && !code.startsWith('WS_')) return linkFailure(error, origin);
  return failure(`${origin} has no notification stream: ${error.message}`);
}

function eventId(header: string | string[] | undefined): number | null {
  return typeof header === 'string' && /^\d{1,15}$/.test(header) ? Number(header) : null;
}

/** Null for anything that is not an event: a newer server may send more than this program knows. */
function readFrame(text: string): Notification | null {
  const frame = objectIn(text) as Partial<Notification> | null;
  if (typeof frame?.type !== 'string' || typeof frame.data !== 'object' || frame.data === null) return null;
  if (typeof (frame.timestamp ?? '') !== 'string') return null;
  if (frame.id !== undefined && !Number.isSafeInteger(frame.id)) return null;
  return frame as Notification;
}
