/** When something that failed is tried again: the schedules of the daemon, the command line and the console, each with its reason. */
import { doubling, type RetryPolicy, type Schedule } from './retry.ts';

const times = (...pauses: readonly [number, ...number[]]) => ({ pauses, retries: pauses.length });
const always = Number.POSITIVE_INFINITY;

const MINUTE = 60;
const HOUR = 60 * MINUTE;
/** As the specification of Standard Webhooks recommends: 76 hours in all. */
const ofWebhooks = [
  5,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
] as const;

export const schedules = {
  /** A read whose connection broke. */
  reading: times(0.2, 0.8),
  /** A transaction or a read of a database whose connection broke: once more, over a new connection. */
  connection: times(0),
  /** The question whether a commit without an answer was written, for as long as the store has patience. */
  outcome: { pauses: [0.2], retries: always },
  /** A write with a key whose response was lost. */
  keyedWriting: times(...doubling(0.5, 8)),
  /** A batch of a run that takes long: a server that restarts does not end it. */
  batch: times(0.5, 1, 2, 4, 8, 15, 30),
  /** A download of which nothing more arrives. */
  download: times(0.25, 1, 3, 10, 20),
  /** A stream that was connected. */
  stream: { pauses: [0.25, 0.5, 1, 2, 5, 10, 30], retries: always, jitter: [0.75, 1.25] },
  /** A registry that keys in a spool file wait for. */
  spool: { pauses: [1, 2, 4, 8, 15], retries: always },
  /** The start of a local daemon that dies again and again: without pauses, the restarts would occupy the machine. */
  starting: { pauses: doubling(1, 30), retries: always },
  /** A request of the console that is over its limit. The daemon asks for the pause. */
  limited: { pauses: [0], retries: 2 },
  /** A request of the station page that the daemon fails to carry out. */
  station: { pauses: [1], retries: 2 },
  /** A commit after another one of the same record: if two daemons change it in turns, each attempt fails half of the time. */
  conflict: { pauses: [0], retries: 19 },
  /** The removal of a credential. A provider may ask for longer pauses: 5 minutes at most, because a lost key must not work that long. */
  removal: { pauses: doubling(1, 60), retries: always },
} as const satisfies Readonly<Record<string, Schedule>>;

/** How deliveries are repeated. */
export const policies = {
  /** An event that is posted to a webhook. After the last attempt the endpoint is disabled. */
  webhook: {
    pauses: ofWebhooks,
    retries: ofWebhooks.length,
    patienceMs: 1000 * (1.1 * ofWebhooks.reduce<number>((sum, seconds) => sum + seconds, 0)),
    longestWait: 24 * HOUR,
    jitter: [1, 1.1],
  },
  /** Entries that are forwarded. A receiver does not report that it works again, and does not ask to wait. */
  forwarding: { pauses: doubling(0.5, MINUTE), retries: always, patienceMs: always, longestWait: 0 },
  /** An event that `watch` forwards, for as often as its option allows. */
  watch: { pauses: doubling(1, 5 * MINUTE), retries: always, patienceMs: always, longestWait: HOUR, jitter: [0.5, 1] },
} as const satisfies Readonly<Record<string, RetryPolicy>>;
