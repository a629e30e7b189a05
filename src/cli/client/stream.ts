/** The notification stream: connects, follows, and connects again after the last event seen. */
import type { EventType, Notification } from '../../contract/events.ts';
import type { Client } from './client.ts';
import { isRefusal, Unreachable } from './failures.ts';
import { operationOf, pathOf } from './operations.ts';
import { rest } from './rest.ts';
import { Connection } from './stream-connection.ts';
import { dueAt } from './token.ts';

export type StreamState = 'connecting' | 'connected' | 'lost' | 'resumed' | 'gap';

export interface StreamOptions {
  readonly client: Client;
  /** All where there are none. */
  readonly types: readonly EventType[];
  /** Id of the last event seen; null follows from now on. */
  readonly since: number | null;
  /** Told as the connection comes and goes; `detail` is in words. */
  readonly onState: (state: StreamState, detail: string) => void;
  /** Told, where it follows from now on, the id of the last event before those that come. */
  readonly onStart?: (after: number) => void;
  /** Ends the stream without a fault; that of the client where there is none. */
  readonly signal?: AbortSignal;
}

const backoffMs = [250, 500, 1_000, 2_000, 5_000, 10_000, 30_000] as const;
/** Between the attempts at a token whose time has come. */
const renewAgainMs = 10_000;
/** Timers take no more milliseconds. */
const longestTimer = 2 ** 31 - 1;

/** Events in order, without repeats, for as long as they are read. The first connection has to come about; later ones are tried for ever. */
export const followNotifications = (options: StreamOptions): AsyncGenerator<Notification> =>
  new Follower(options).events();

class Follower {
  readonly #options: StreamOptions;
  readonly #signal: AbortSignal;
  /** Id of the last event that was given, or that is known to be the last one before those that come. */
  #last: number | null;
  /** Connections that failed since the last one that came about. */
  #tries = 0;
  /** There has been a connection. */
  #connected = false;
  /** The next connection takes the place of one that was ended for a new token: nobody is told. */
  #isRenewal = false;

  constructor(options: StreamOptions) {
    this.#options = options;
    this.#signal = options.signal ?? options.client.signal;
    this.#last = options.since;
  }

  async *events(): AsyncGenerator<Notification> {
    while (!this.#signal.aborted) {
      const connection = await this.#connect();
      if (connection === null) continue;
      this.#begin(connection);
      yield* this.#eventsOf(connection);
      if (this.#signal.aborted) return;
      this.#isRenewal = connection.isRenewed;
      if (this.#isRenewal) continue;
      this.#options.onState('lost', connection.reason);
      await rest(jittered(backoffMs[0]), this.#signal);
    }
  }

  /** Null where it has to be tried again. */
  async #connect(): Promise<Connection | null> {
    const { client, onState, types } = this.#options;
    try {
      if (!this.#isRenewal) onState('connecting', await client.whereabouts());
      return await Connection.open(client, pathFor(types, this.#last), this.#signal);
    } catch (error) {
      if (!this.#signal.aborted) await this.#recover(error);
      return null;
    }
  }

  /** Waits, or begins elsewhere; throws what trying again does not mend. */
  async #recover(error: unknown): Promise<void> {
    const { onState } = this.#options;
    if (this.#isAhead(error)) {
      onState('gap', 'the journal of the server does not go on from there: events may be missing');
      this.#last = null;
      return;
    }
    if (!this.#connected || !(error instanceof Unreachable || isRefusal(error, 429, 500))) throw error;
    onState('lost', error.message);
    this.#isRenewal = false;
    await rest(jittered(backoffMs[Math.min(this.#tries++, backoffMs.length - 1)]!), this.#signal);
  }

  /** After a restore the journal may end before the last event seen. What the user gave as the start is the user's to mend. */
  #isAhead(error: unknown): boolean {
    return this.#connected && this.#last !== null && isRefusal(error, 1001);
  }

  #begin({ startsAfter }: Connection): void {
    const { onState } = this.#options;
    const last = this.#last;
    if (!this.#isRenewal)
      onState(this.#connected ? 'resumed' : 'connected', last === null ? '' : `after event ${last}`);
    if (this.#connected && last === null)
      onState('gap', 'no event had been seen yet: what happened meanwhile is not shown');
    this.#connected = true;
    this.#tries = 0;
    if (last !== null || startsAfter === null) return;
    this.#last = startsAfter;
    this.#options.onStart?.(startsAfter);
  }

  async *#eventsOf(connection: Connection): AsyncGenerator<Notification> {
    const over = new AbortController();
    void renewInTime(this.#options.client, connection, over.signal);
    try {
      for await (const event of connection.events()) {
        if (event.id !== undefined) {
          if (this.#last !== null && event.id <= this.#last) continue;
          this.#last = event.id;
        }
        yield event;
      }
    } finally {
      over.abort();
    }
  }
}

/** A stream ends with its token: before that the token is renewed, and the stream with it. What cannot be renewed now may be later. */
async function renewInTime(client: Client, connection: Connection, over: AbortSignal): Promise<void> {
  const due = dueAt(connection.token);
  if (due === Number.POSITIVE_INFINITY) return;
  for (let margin = 1_000; ; margin = renewAgainMs) {
    const wait = Math.max(due - Date.now(), 0) + margin;
    await rest(Math.min(wait, longestTimer), over);
    if (over.aborted) return;
    const fresh = await client.token().catch(() => connection.token);
    if (over.aborted) return;
    if (fresh !== connection.token) return connection.renew();
  }
}

function pathFor(types: readonly EventType[], since: number | null): string {
  const { path } = operationOf('notifications');
  return pathOf(path, {}, { since: since ?? undefined, types: types.length ? types.join(',') : undefined });
}

/** So that many clients of a server that comes back do not all come at once. */
const jittered = (milliseconds: number): number => milliseconds * (0.75 + Math.random() / 2);
