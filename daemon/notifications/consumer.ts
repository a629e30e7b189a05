import { stream } from '../../src/contract/values.ts';
import { type FrameSink, Outbox, type OutboxOptions } from './outbox.ts';

/** A connection that receives the stream, and the token it was opened with. */
export interface Listener {
  readonly sink: FrameSink;
  /** Who holds the token: see `requests/callers.ts`. */
  readonly holder: string;
  /** When the token expires, in seconds since 1970. */
  readonly expiresAt: number;
  /** Whether the token is still valid. Rejects if that cannot be determined now. */
  readonly isTokenValid: () => Promise<boolean>;
  /** Whether something outside the registry can end the session, so that the token is checked at every look. */
  readonly endsElsewhere?: boolean;
  /** Whether the token ends with the account of a user who is not its holder: it is checked when any user has changed. */
  readonly hasOwner?: boolean;
  /** Whether the last check found an ADMIN; absent: no. */
  readonly isAdmin?: () => boolean;
}

/** One open stream. */
export class Consumer {
  readonly listener: Listener;
  readonly outbox: Outbox;
  readonly heartbeat: Heartbeat;
  /** The stream is closing: nothing more is sent. */
  ended = false;
  /** Its user or service token has changed, so the token must be checked again. */
  needsCheck = false;

  /** @param now milliseconds on a monotonic clock */
  constructor(listener: Listener, outbox: OutboxOptions, now: number) {
    this.listener = listener;
    this.outbox = new Outbox(outbox);
    this.heartbeat = new Heartbeat(listener.sink, now);
  }

  pump(): void {
    if (!this.ended) this.outbox.pump();
  }

  /** Closes the stream with a code of the contract. Only the first call has an effect. */
  end(code: number, reason: string): void {
    if (this.ended) return;
    this.ended = true;
    this.listener.sink.close(code, reason);
  }

  /** Closes the connection without a closing handshake. */
  terminate(): void {
    this.ended = true;
    this.listener.sink.terminate();
  }
}

const PING_MS = stream.pingSeconds * 1000;
const SLOW_MS = stream.slowSeconds * 1000;

/** `alive`; `slow`: something waits and the consumer took nothing for too long; `silent`: no pong by the next ping. */
type Health = 'alive' | 'slow' | 'silent';

/** Sends the pings of one stream and judges whether its consumer is alive. Times are milliseconds on a monotonic clock. */
export class Heartbeat {
  readonly #sink: FrameSink;
  #nextPing: number;
  #awaitsPong = false;
  #stuckSince: number | null = null;
  #taken = 0;

  constructor(sink: FrameSink, now: number) {
    this.#sink = sink;
    this.#nextPing = now + PING_MS;
  }

  ponged(): void {
    this.#awaitsPong = false;
  }

  /** Call it about every second. */
  check(now: number): Health {
    const waits = this.#sink.waiting > 0;
    if (this.#isStuck(waits, now)) return 'slow';
    if (now < this.#nextPing) return 'alive';
    // A ping behind frames that still wait cannot have been answered: then only slowness counts.
    if (this.#awaitsPong && !waits) return 'silent';
    if (!this.#awaitsPong) this.#sink.ping();
    this.#awaitsPong = true;
    this.#nextPing = Math.max(this.#nextPing + PING_MS, now);
    return 'alive';
  }

  #isStuck(waits: boolean, now: number): boolean {
    if (!waits) {
      this.#stuckSince = null;
      return false;
    }
    const { taken } = this.#sink;
    if (this.#stuckSince === null || taken !== this.#taken) {
      this.#stuckSince = now;
      this.#taken = taken;
      return false;
    }
    return now - this.#stuckSince >= SLOW_MS;
  }
}
