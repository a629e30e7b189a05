/** The notification stream: connects, follows, and reconnects after the last event seen. */
import { Code } from '../../contract/codes.ts';
import { endpoints } from '../../contract/endpoints.ts';
import type { EventType } from '../../contract/event-types.ts';
import type { Notification } from '../../contract/events.ts';
import { waitMs } from '../../delivery/retry.ts';
import { schedules } from '../../delivery/schedules.ts';
import { sleep } from '../../delivery/wait.ts';
import type { Client, Route } from './client.ts';
import { isServerRefusal, NotServing, Unreachable } from './failures.ts';
import { pathOf } from './paths.ts';
import { StreamConnection } from './stream-connection.ts';
import { renewalTime } from './token.ts';

/** `lost` and `resumed` are the two ends of an interruption; after a `gap` events may be missing. */
export type StreamState = 'connecting' | 'connected' | 'lost' | 'resumed' | 'gap';

interface Options {
  readonly client: Client;
  /** Types to follow; empty means all. */
  readonly types: readonly EventType[];
  /** Only events of this device. */
  readonly deviceId?: string | undefined;
  /** Id of the last event seen; null starts with the next event. */
  readonly since: number | null;
  /** Called when the state of the connection changes; `detail` is in words. */
  readonly onState: (state: StreamState, detail: string) => void;
  /** Called once if `since` is null, with the id of the last event before the stream. */
  readonly onStart?: (after: number) => void;
  /** Ends the stream without a fault; by default that of the client. */
  readonly signal?: AbortSignal;
}

/** Between attempts to renew a token. */
const renewRetryMs = 10_000;
/** With several addresses: another one may learn of an event a little later than the one that sent it. */
const aheadTries = 5;

/**
 * Events in order and without repeats, for as long as they are read. The first connection must succeed; a lost one is
 * replaced, however often that has to be tried.
 */
export const followNotifications = (options: Options): AsyncGenerator<Notification> =>
  new StreamFollower(options).events();

class StreamFollower {
  readonly #options: Options;
  readonly #signal: AbortSignal;
  /** Id of the last event delivered, or known to precede the next one. */
  #last: number | null;
  /** The address of this connection, or of the next one. */
  #route: Route;
  /** Failed attempts since the last connection. */
  #failures = 0;
  /** Whether there has been a connection. */
  #connected = false;
  /** The next connection replaces one that was ended for a new token. That is not reported. */
  #isRenewal = false;

  constructor(options: Options) {
    this.#options = options;
    this.#signal = options.signal ?? options.client.signal;
    this.#last = options.since;
    this.#route = options.client.route();
  }

  async *events(): AsyncGenerator<Notification> {
    while (!this.#signal.aborted) {
      const connection = await this.#connect();
      if (connection === null) continue;
      this.#opened(connection);
      yield* this.#eventsOf(connection);
      if (this.#signal.aborted) return;
      this.#isRenewal = connection.isRenewed;
      if (this.#isRenewal) continue;
      this.#options.onState('lost', connection.reason);
      if (this.#route.lost(connection.reason)) continue;
      await this.#backOff(0);
    }
  }

  /** Null if another attempt is needed. */
  async #connect(): Promise<StreamConnection | null> {
    const { client, onState } = this.#options;
    this.#route = client.route();
    try {
      if (!this.#isRenewal) onState('connecting', await this.#route.client.currentAddress());
      return await StreamConnection.open(this.#route.client, pathFor(this.#options, this.#last), this.#signal);
    } catch (error) {
      if (!this.#signal.aborted) await this.#recover(error);
      return null;
    }
  }

  /** Waits before the next attempt, or starts over after a gap. Throws an error that another attempt would not fix. */
  async #recover(error: unknown): Promise<void> {
    const { onState } = this.#options;
    const isAway = error instanceof Unreachable || error instanceof NotServing;
    if (isAway && this.#route.lost(error.message)) {
      onState('lost', error.message);
      this.#isRenewal = false;
      return;
    }
    if (this.#isAhead(error)) {
      if (this.#options.client.addresses.length > 0 && this.#failures < aheadTries)
        return this.#backOff(this.#failures++);
      onState('gap', 'the journal of the server does not continue from there: events may be missing');
      this.#last = null;
      return;
    }
    if (!this.#connected || !(isAway || isServerRefusal(error, 429, 500))) throw error;
    onState('lost', error.message);
    this.#isRenewal = false;
    await this.#backOff(this.#failures++);
  }

  #backOff(failures: number): Promise<void> {
    return sleep(waitMs(schedules.stream, failures)!, this.#signal);
  }

  /** After a restore the journal may end before the last event seen. A wrong start that the user gave is an error. */
  #isAhead(error: unknown): boolean {
    return this.#connected && this.#last !== null && isServerRefusal(error, Code.parameterError);
  }

  #opened({ startsAfter }: StreamConnection): void {
    const { onState } = this.#options;
    const last = this.#last;
    this.#route.answered();
    if (!this.#isRenewal)
      onState(this.#connected ? 'resumed' : 'connected', last === null ? '' : `after event ${last}`);
    if (this.#connected && last === null)
      onState('gap', 'there was no event to continue from: events during the interruption are not shown');
    this.#connected = true;
    this.#failures = 0;
    if (last !== null || startsAfter === null) return;
    this.#last = startsAfter;
    this.#options.onStart?.(startsAfter);
  }

  async *#eventsOf(connection: StreamConnection): AsyncGenerator<Notification> {
    const ended = new AbortController();
    void renewInTime(this.#options.client, connection, ended.signal);
    try {
      for await (const event of connection.events()) {
        if (event.id !== undefined) {
          if (this.#last !== null && event.id <= this.#last) continue;
          this.#last = event.id;
        }
        yield event;
      }
    } finally {
      ended.abort();
    }
  }
}

/** A stream ends when its token expires, so both are renewed before. A renewal that fails is tried again. */
async function renewInTime(client: Client, connection: StreamConnection, ended: AbortSignal): Promise<void> {
  const due = renewalTime(connection.token);
  if (due === Number.POSITIVE_INFINITY) return;
  for (let margin = 1_000; ; margin = renewRetryMs) {
    await sleep(Math.max(due - Date.now(), 0) + margin, ended);
    if (ended.aborted) return;
    const fresh = await client.token().catch(() => connection.token);
    if (ended.aborted) return;
    if (fresh !== connection.token) return connection.renew();
  }
}

function pathFor({ types, deviceId }: Options, since: number | null): string {
  return pathOf(
    endpoints.streamNotifications.path,
    {},
    { since: since ?? undefined, types: types.length ? types.join(',') : undefined, deviceId },
  );
}
