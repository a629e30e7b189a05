import { Heartbeat } from './heartbeat.ts';
import { type FrameSink, Outbox, type OutboxOptions } from './outbox.ts';

/** A connection that receives the stream, and the token it was opened with. */
export interface Listener {
  readonly sink: FrameSink;
  /** Who holds the token: see `domain/holder.ts`. */
  readonly holder: string;
  /** When the token expires, in seconds since 1970. */
  readonly expiresAt: number;
  /** Whether the token is still valid. Rejects if that cannot be determined now. */
  readonly isTokenValid: () => Promise<boolean>;
  /** Whether something outside the registry can end the session, so that the token is checked at every look. */
  readonly endsElsewhere?: boolean;
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
