/** A consumer of the notification stream. It continues after its last event, on any node that answers. */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import WebSocket from 'ws';
import { journalEventTypes } from '../../src/contract/event-types.ts';
import { streamUrl } from '../support/stream-client.ts';

/** Between two attempts: a node that does not run refuses each at once. */
const RECONNECT_MS = 200;
/** Milliseconds without any frame or ping after which the connection is closed, such as one to a frozen node. */
const SILENT_MS = 90_000;

export class Watcher {
  /** Of the node, or of the proxy. */
  readonly name: string;
  readonly #url: string;
  readonly #token: string;
  #frames: string[] = [];
  #last: number;
  #closing = false;
  #socket: WebSocket | null = null;
  readonly #ended: Promise<void>;

  /** `since`: id of the event after which it begins. */
  constructor(name: string, url: string, token: string, since: number) {
    this.name = name;
    this.#url = url;
    this.#token = token;
    this.#last = since;
    this.#ended = this.#run();
  }

  /** Id of the last event. */
  get last(): number {
    return this.#last;
  }

  /** The texts of the events since the last call, in the order in which they came. */
  take(): readonly string[] {
    const taken = this.#frames;
    this.#frames = [];
    return taken;
  }

  async stop(): Promise<void> {
    this.#closing = true;
    this.#socket?.terminate();
    await this.#ended;
  }

  async #run(): Promise<void> {
    for (; !this.#closing; await sleep(RECONNECT_MS)) await this.#connection().catch(() => {});
  }

  async #connection(): Promise<void> {
    // The comparison has the words of these types only.
    const query = { token: this.#token, since: this.#last, types: journalEventTypes.join() };
    const socket = new WebSocket(streamUrl(this.#url, query), { handshakeTimeout: 5000 });
    this.#socket = socket;
    const silence = setTimeout(() => socket.terminate(), SILENT_MS);
    socket.on('ping', () => silence.refresh());
    socket.on('message', data => {
      silence.refresh();
      this.#take(String(data));
    });
    socket.on('error', () => {});
    await once(socket, 'close');
    clearTimeout(silence);
  }

  #take(text: string): void {
    const { id } = JSON.parse(text) as { id?: number };
    if (id === undefined) return;
    this.#frames.push(text);
    this.#last = id;
  }
}
