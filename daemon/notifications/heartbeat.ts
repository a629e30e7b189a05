import { stream } from '../../src/contract/values.ts';
import type { FrameSink } from './outbox.ts';

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
