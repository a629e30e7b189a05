import { HardwareError } from '../driver.ts';

/** A signal that is aborted when the given one is, and after so many milliseconds in any case. */
export function deadline(signal: AbortSignal, milliseconds: number): AbortSignal {
  return AbortSignal.any([signal, AbortSignal.timeout(milliseconds)]);
}

/** The error a hardware call ends with when its signal was aborted: `timeout` by a deadline, else `aborted`. */
export function abortError(signal: AbortSignal, what: string): HardwareError {
  const late = signal.reason instanceof DOMException && signal.reason.name === 'TimeoutError';
  return late
    ? new HardwareError('timeout', `${what}: no answer in time`)
    : new HardwareError('aborted', `${what}: given up`);
}

/** Waits for the work or for the signal, whichever is first; work that is left behind fails silently. */
export function withSignal<T>(work: Promise<T>, signal: AbortSignal, what: string): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const onAbort = (): void => reject(abortError(signal, what));
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/** Resolves after so many milliseconds; rejects as `withSignal` does when the signal comes first. */
export function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const waited = new Promise<void>(resolve => {
    timer = setTimeout(resolve, milliseconds);
  });
  return withSignal(waited, signal, 'pause').finally(() => clearTimeout(timer));
}
