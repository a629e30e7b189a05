import { HardwareError } from './hardware-error.ts';

/** A signal that aborts together with `signal`, and after this many milliseconds at the latest. */
export function deadline(signal: AbortSignal, milliseconds: number): AbortSignal {
  return AbortSignal.any([signal, AbortSignal.timeout(milliseconds)]);
}

/** Whether the signal was aborted by a deadline and not by its owner. */
export function isTimeout(signal: AbortSignal): boolean {
  return signal.reason instanceof Error && signal.reason.name === 'TimeoutError';
}

/** The error for a hardware call whose signal was aborted: `timeout` after a deadline, else `aborted`. */
export function abortError(signal: AbortSignal, what: string): HardwareError {
  return isTimeout(signal)
    ? new HardwareError('timeout', `${what}: no answer in time`)
    : new HardwareError('aborted', `${what}: canceled`);
}

/**
 * Waits for `work`, but no longer than until the signal is aborted: then it rejects with the error that `failure` makes,
 * and the result or error of `work` is dropped.
 */
export function withSignal<T>(work: Promise<T>, signal: AbortSignal, failure: () => HardwareError): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const onAbort = (): void => reject(failure());
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/** Resolves after this many milliseconds; rejects with `abortError` if the signal is aborted earlier. */
export function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const waited = new Promise<void>(resolve => {
    timer = setTimeout(resolve, milliseconds);
  });
  return withSignal(waited, signal, () => abortError(signal, 'pause')).finally(() => clearTimeout(timer));
}
