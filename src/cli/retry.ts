/** Waits of the command line, which Ctrl-C ends. */
import * as waiting from '../delivery/wait.ts';
import { interrupted } from './fault.ts';

/** Like `poll` of the delivery engine. Throws a fault of kind `interrupted` if the signal is aborted. */
export async function poll<T>(
  read: () => T | null | Promise<T | null>,
  options: { readonly everyMs: number; readonly forMs?: number; readonly signal: AbortSignal },
): Promise<T | null> {
  const value = await waiting.poll(read, options);
  if (value === null && options.signal.aborted) throw interrupted();
  return value;
}

/** Waits. Throws a fault of kind `interrupted` if the signal is aborted. */
export async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await waiting.sleep(milliseconds, signal);
  if (signal.aborted) throw interrupted();
}
