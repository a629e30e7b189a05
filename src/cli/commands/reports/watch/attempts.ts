/** Attempts to deliver an event, with growing pauses between them. */
import { pause, retry } from '../../../framework/retry.ts';

/** An attempt that failed and may be repeated. */
export class AttemptFailed extends Error {
  /** Seconds that the receiver asks to wait at least; null if it does not say. */
  readonly waitSeconds: number | null;
  constructor(message: string, waitSeconds: number | null = null) {
    super(message);
    this.waitSeconds = waitSeconds;
  }
}

/** How often to try. */
interface AttemptOptions {
  /** Attempts after the first one. */
  readonly retries: number;
  /** Ends the pauses, not an attempt. */
  readonly signal: AbortSignal;
  /** Called before a pause. */
  readonly onRetry: (problem: string, seconds: number) => void;
}

const firstPauseSeconds = 1;
const longestPauseSeconds = 300;
/** A receiver that asks for more is asked again after this. */
const longestWaitSeconds = 3_600;

/** Runs `attempt` until it succeeds. Throws the last failure, any other error at once, or `interrupted` during a pause. */
export async function untilDelivered(
  attempt: () => Promise<void>,
  { retries, signal, onRetry }: AttemptOptions,
): Promise<void> {
  await retry(attempt, async (error, failures) => {
    if (!(error instanceof AttemptFailed) || failures >= retries) throw error;
    const seconds = pauseAfter(failures, error.waitSeconds);
    onRetry(error.message, seconds);
    await pause(seconds * 1000, signal);
  });
}

/**
 * Seconds before the next attempt: doubled after each failure, with jitter so that many senders do not come back at once. A
 * receiver can ask for more (`waitSeconds`), not for less: one that always answers `Retry-After: 0` would be asked without a pause.
 */
export function pauseAfter(failures: number, waitSeconds: number | null): number {
  const pause = Math.min(firstPauseSeconds * 2 ** Math.min(failures, 20), longestPauseSeconds);
  return Math.max(pause * (0.5 + Math.random() / 2), Math.min(waitSeconds ?? 0, longestWaitSeconds));
}
