/** The notification stream: one connection for all pages. Every event of the journal arrives once, also after a loss. */
import { effect, signal } from '@preact/signals';
import { endpoints } from '../../src/contract/endpoints.ts';
import type { Notification } from '../../src/contract/events.ts';
import { closeCodes } from '../../src/contract/values.ts';
import { addressOf, call, token } from './request.ts';
import { endSession, isHolder, mayOnlyRegisterKey } from './session.ts';

/** `lost`: what the page shows may be old. */
type ConsoleStreamState = 'connecting' | 'live' | 'lost';

/** State of the connection. */
export const streamState = signal<ConsoleStreamState>('connecting');
/** The newest events of the journal, the newest first. */
export const recent = signal<readonly Notification[]>([]);
/** Grows with each connection: what has no id (attached keys) may have changed before it. */
export const connections = signal(0);

const KEPT = 200;
/** Milliseconds for which events are collected before pages see them: a batch of 10,000 must not draw 10,000 times. */
const COLLECT_MS = 100;
/** Milliseconds before the first and before any later attempt to connect. */
const retry = { first: 250, most: 10_000 };
/** Milliseconds of silence after which the daemon is asked whether it is there: a cut cable closes no connection. */
const SILENCE_MS = 10_000;

type StreamListener = (events: readonly Notification[]) => void;
const listeners = new Set<StreamListener>();

/** Calls `listener` with each group of events, in order, until the function that it returns is called. */
export function onEvents(listener: StreamListener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Id of the last event that was received; null before the first connection. */
let cursor: number | null = null;
let pending: Notification[] = [];
let collecting: ReturnType<typeof setTimeout> | undefined;

/** Keeps a connection while there is a session. Called once. */
export function startStream(): void {
  let connection: Connection | null = null;
  effect(() => {
    const signedIn = token.value !== null && !mayOnlyRegisterKey.value && !isHolder.value;
    if (signedIn && !connection) connection = new Connection();
    if (!signedIn && connection) {
      connection.stop();
      connection = null;
      forget();
    }
  });
}

/** Another person may sign in next: nothing of this one stays. */
function forget(): void {
  clearTimeout(collecting);
  collecting = undefined;
  cursor = null;
  pending = [];
  recent.value = [];
  streamState.value = 'connecting';
}

class Connection {
  #socket: WebSocket | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #silence: ReturnType<typeof setTimeout> | undefined;
  #delay = retry.first;
  #stopped = false;
  /** Number of the newest attempt to connect: what an earlier one still receives is left out. */
  #attempt = 0;
  readonly #offline = () => this.#lost();
  readonly #online = () => this.#connectNow();

  constructor() {
    addEventListener('offline', this.#offline);
    addEventListener('online', this.#online);
    void this.#connect();
  }

  stop(): void {
    this.#stopped = true;
    removeEventListener('offline', this.#offline);
    removeEventListener('online', this.#online);
    clearTimeout(this.#timer);
    clearTimeout(this.#silence);
    this.#socket?.close();
  }

  #connectNow(): void {
    if (streamState.peek() !== 'lost') return;
    clearTimeout(this.#timer);
    void this.#connect();
  }

  async #connect(): Promise<void> {
    const attempt = ++this.#attempt;
    const outdated = () => this.#stopped || attempt !== this.#attempt;
    try {
      if (cursor === null) await readNewest();
      if (outdated()) return;
      // A token in an address could reach a log; a code is worth nothing after its use.
      const { code } = await call('createSignInCode', { body: { purpose: 'STREAM' } });
      if (outdated()) return;
      const query = { code, since: cursor };
      const address = new URL(addressOf('streamNotifications', { query }), location.href);
      address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:';
      this.#open(new WebSocket(address));
    } catch {
      if (!outdated()) this.#lost();
    }
  }

  #open(socket: WebSocket): void {
    this.#socket = socket;
    const replaced = () => socket !== this.#socket || this.#stopped;
    socket.onopen = () => {
      if (replaced()) return;
      this.#delay = retry.first;
      streamState.value = 'live';
      connections.value++;
      this.#watchSilence();
    };
    socket.onmessage = ({ data }) => {
      if (replaced()) return;
      this.#watchSilence();
      receive(JSON.parse(data as string) as Notification);
    };
    socket.onclose = ({ code }) => {
      if (replaced()) return;
      if (code === closeCodes.loggedOut) endSession('expired');
      else this.#lost();
    };
  }

  #watchSilence(): void {
    clearTimeout(this.#silence);
    this.#silence = setTimeout(() => void this.#probe(), SILENCE_MS);
  }

  async #probe(): Promise<void> {
    try {
      await fetch(endpoints.getHealth.path, { cache: 'no-store', signal: AbortSignal.timeout(2000) });
      if (!this.#stopped && streamState.peek() === 'live') this.#watchSilence();
    } catch {
      this.#lost();
    }
  }

  #lost(): void {
    if (this.#stopped) return;
    this.#attempt++;
    const socket = this.#socket;
    this.#socket = null;
    socket?.close();
    clearTimeout(this.#silence);
    clearTimeout(this.#timer);
    streamState.value = 'lost';
    // Many consoles lose a daemon together: their attempts are spread.
    this.#timer = setTimeout(() => void this.#connect(), this.#delay * (0.5 + Math.random() / 2));
    this.#delay = Math.min(this.#delay * 2, retry.most);
  }
}

async function readNewest(): Promise<void> {
  const { list, head } = await call('listEvents', { query: { before: Number.MAX_SAFE_INTEGER, limit: KEPT } });
  recent.value = list as readonly Notification[];
  cursor = head;
}

function receive(event: Notification): void {
  if (event.id !== undefined) {
    if (cursor !== null && event.id <= cursor) return;
    cursor = event.id;
  }
  pending.push(event);
  // Actions of an operator after unplugging a key do not concern that key.
  if (event.id === undefined) deliver();
  else collecting ??= setTimeout(deliver, COLLECT_MS);
}

function deliver(): void {
  clearTimeout(collecting);
  collecting = undefined;
  const events = pending;
  pending = [];
  // Before `recent` grows: a page that begins with `recent` gets no event twice.
  for (const listener of listeners) listener(events);
  const journal = events.slice(-KEPT).filter(event => event.id !== undefined);
  if (journal.length) recent.value = [...journal.reverse(), ...recent.peek()].slice(0, KEPT);
}
