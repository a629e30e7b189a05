/** Work that one daemon of a registry does at a time. */
import { sleep } from '../../src/delivery/wait.ts';
import type { SharedWork } from '../store/store.ts';

/**
 * Milliseconds until a daemon tries again to take the work from another one. The database sends no event when it is free, and a statement
 * that waits for it would occupy a connection of each daemon.
 */
const TURN_MS = 2000;

/**
 * Takes the work and does it until `run` ends; its signal is aborted when another daemon may have the work. If another daemon has
 * it now, resolves after a pause. Without `shared` no other daemon uses the registry.
 */
export async function inTurn(
  shared: SharedWork | undefined,
  work: string,
  signal: AbortSignal,
  run: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  if (!shared) return run(signal);
  const held = await shared.take(work).catch(() => null);
  if (!held) return sleep(TURN_MS, signal);
  await run(AbortSignal.any([signal, held.lost]));
  // A connection that is lost has released it.
  await held.release().catch(() => {});
}
