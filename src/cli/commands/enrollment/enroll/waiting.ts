/** What an enrollment waits for: keys that can appear, and the time in which one must. */
import type { KeyChange } from '../../../../enrollment/line/key-changes.ts';
import { Fault } from '../../../fault.ts';
import type { Context } from '../../../framework/context.ts';
import { reportDrivers } from './keys.ts';

/** The keys to skip. Throws if no driver works and no key is attached: then no key can appear. */
export async function attachedAtStart(context: Context, skipAttached: boolean): Promise<Set<string>> {
  const { list, drivers } = await context.hardware.call('listKeys');
  const working = drivers.some(driver => driver.state === 'ready');
  if (working) await reportDrivers(context, drivers);
  if (!working && list.length === 0) {
    const causes = drivers.map(driver => `${driver.name}: ${driver.detail}`);
    throw new Fault(
      'hardware',
      'no keys can be detected on this machine',
      causes.join('\n    ') || 'find the cause: devmgr doctor',
    );
  }
  return new Set(skipAttached ? list.map(key => key.keyId) : []);
}

/** Whether the key is one of those to skip. A daemon that was restarted has given it another id. */
export function isSkipped(skipped: Set<string>, { key, before }: KeyChange): boolean {
  if (before !== null && skipped.has(before)) skipped.add(key.keyId);
  return skipped.has(key.keyId);
}

/** Aborts its signal if no key is handled for the given time. */
export class Idle {
  readonly #controller = new AbortController();
  readonly #seconds: number | null;
  #timer: NodeJS.Timeout | undefined;

  constructor(seconds: number | null) {
    this.#seconds = seconds;
    this.start();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  start(): void {
    this.stop();
    if (this.#seconds !== null) this.#timer = setTimeout(() => this.#controller.abort(), this.#seconds * 1000);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
