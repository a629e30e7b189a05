/** The notification stream: connects, follows, and connects again after the last event seen. */
import type { EventType, Notification } from '../api/events.ts';
import type { Client } from './client.ts';
import { isRefusal, Unreachable } from './failures.ts';
import { operations, pathOf } from './operations.ts';
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
  /** Ends the stream without a fault; that of the client where there is none. */
  readonly signal?: AbortSignal;
}

const backoffMs = [250, 500, 1_000, 2_000, 5_000, 10_000, 30_000] as const;
/** Timers take no more milliseconds. */
const longestTimer = 2 ** 31 - 1;

/** Events in order, without repeats, for as long as they are read. The first connection has to come about; later ones are tried for ever. */
export async function* followNotifications(options: StreamOptions): AsyncGenerator<Notification> {
  const { client, onState, signal = client.signal } = options;
  let last = options.since;
  let tries = 0;
  let connected = false;
  let isRenewal = false;
  while (!signal.aborted) {
    let connection: Connection;
    try {
      if (!isRenewal) onState('connecting', await client.whereabouts());
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
      isRenewal = false;
      await rest(jittered(backoffMs[Math.min(tries++, backoffMs.length - 1)]!), signal);
      continue;
    }
    if (!isRenewal) onState(connected ? 'resumed' : 'connected', last === null ? '' : `after event ${last}`);
    if (connected && last === null) onState('gap', 'no event had been seen yet: what happened meanwhile is not shown');
    connected = true;
    tries = 0;
    last ??= connection.startsAfter;
    const stopRenewing = renewInTime(client, connection);
    try {
      for await (const event of connection.events()) {
        if (event.id !== undefined) {
          if (last !== null && event.id <= last) continue;
          last = event.id;
        }
        yield event;
      }
    } finally {
      stopRenewing();
    }
    if (signal.aborted) return;
    isRenewal = connection.isRenewed;
    if (isRenewal) continue;
    onState('lost', connection.reason);
    await rest(jittered(backoffMs[0]), signal);
  }
}

/** A stream ends with its token: before that the token is renewed, and the stream with it. */
function renewInTime(client: Client, connection: Connection): () => void {
  const delay = dueAt(connection.token) - Date.now();
  // A token that could not be renewed is used to its end.
  if (delay <= 0 || delay > longestTimer) return () => undefined;
  const timer = setTimeout(() => {
    client.token().then(
      fresh => fresh !== connection.token && connection.renew(),
      () => undefined,
    );
  }, delay + 1_000);
  return () => clearTimeout(timer);
}

function pathFor(types: readonly EventType[], since: number | null): string {
  const template = operations.notifications[0].split(' ')[1]!;
  return pathOf(template, {}, { since: since ?? undefined, types: types.length ? types.join(',') : undefined });
}

/** After a restore the journal may end before the last event seen. What the user gave as the start is the user's to mend. */
const isAhead = (error: unknown, last: number | null, connected: boolean) =>
  connected && last !== null && isRefusal(error, 1001);

/** So that many clients of a server that comes back do not all come at once. */
const jittered = (milliseconds: number): number => milliseconds * (0.75 + Math.random() / 2);
