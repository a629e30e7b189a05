import { Outbox, type OutboxParts } from './outbox.ts';
import { Pulse } from './pulse.ts';
import type { Sink } from './sink.ts';

/** Who listens, and until when. */
export interface Listener {
  readonly sink: Sink;
  /** Number of the user; null for the role LOCAL, which is no user. */
  readonly user: number | null;
  /** When the token ends, in seconds since 1970. */
  readonly expiresAt: number;
  /** Whether the token would still be let in. Rejects where that cannot be found out at present. */
  readonly stillGood: () => Promise<boolean>;
}

/** One open stream. */
export class Consumer {
  readonly listener: Listener;
  readonly outbox: Outbox;
  readonly pulse: Pulse;
  /** Its end has begun: nothing more is sent. */
  ended = false;
  /** Its user was changed: whether it may stay has to be found out. */
  suspect = false;

  constructor(listener: Listener, outbox: OutboxParts, monotonic: number) {
    this.listener = listener;
    this.outbox = new Outbox(outbox);
    this.pulse = new Pulse(listener.sink, monotonic);
  }

  pump(): void {
    if (!this.ended) this.outbox.pump();
  }

  end(code: number, reason: string): void {
    if (this.ended) return;
    this.ended = true;
    this.listener.sink.close(code, reason);
  }

  cutOff(): void {
    this.ended = true;
    this.listener.sink.terminate();
  }
}
