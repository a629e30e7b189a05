import { stream } from '../../src/contract/events.ts';
import type { Sink } from './sink.ts';

const PING_EVERY = stream.pingSeconds * 1000;
const SLOW_AFTER = stream.slowSeconds * 1000;

/** Whether a consumer lives and takes what it is sent. Times are of a clock that only goes forward. */
export class Pulse {
  readonly #sink: Sink;
  #nextPing: number;
  #awaitingPong = false;
  #stuckSince: number | null = null;
  #taken = 0;

  constructor(sink: Sink, now: number) {
    this.#sink = sink;
    this.#nextPing = now + PING_EVERY;
  }

  ponged(): void {
    this.#awaitingPong = false;
  }

  /** To be called every second or so; sends the pings. `slow`: something waited and nothing was taken. `silent`: no pong. */
  check(now: number): 'well' | 'slow' | 'silent' {
    const waits = this.#sink.waiting > 0;
    if (this.#isStuck(waits, now)) return 'slow';
    if (now < this.#nextPing) return 'well';
    // A ping behind frames that still wait cannot have been answered: then slowness alone is judged.
    if (this.#awaitingPong && !waits) return 'silent';
    if (!this.#awaitingPong) this.#sink.ping();
    this.#awaitingPong = true;
    this.#nextPing = Math.max(this.#nextPing + PING_EVERY, now);
    return 'well';
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
    return now - this.#stuckSince >= SLOW_AFTER;
  }
}
