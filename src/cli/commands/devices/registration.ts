/** Which device of the registry a plugged key is. */
import type { Key } from '../../../contract/hardware.ts';
import { isRefusal } from '../../client/failures.ts';
import type { Context } from '../../context.ts';
import { Fault } from '../../fault.ts';
import { findBySerial } from './find-device.ts';

/**
 * The device that the key is in the registry; null where it is none. A hardware service that is not the registry joins keys
 * with a registry of its own, so its word on them is not taken.
 */
export async function registrationOf(
  { registry, hardware }: Pick<Context, 'registry' | 'hardware'>,
  { serialNumber, device }: Key,
): Promise<Key['device']> {
  if (hardware === registry) return device;
  if (serialNumber === null) return null;
  const { exact } = await findBySerial(registry, serialNumber);
  return exact && { deviceId: exact.deviceId, status: exact.status };
}

/** The same for many keys, by a registry that may be out of reach while the keys are not. */
export class Registrations {
  /** Why the registry cannot be asked; null as long as it can. Keys without a device are then of unknown registration. */
  failure: Fault | null = null;
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  async of(key: Key): Promise<Key> {
    try {
      return { ...key, device: await registrationOf(this.#context, key) };
    } catch (error) {
      this.failure = reasonOf(error);
      return { ...key, device: null };
    }
  }
}

/** A fault with its words; what is no matter of the registry is thrown on. */
function reasonOf(error: unknown): Fault {
  if (error instanceof Fault && (error.kind === 'login' || error.kind === 'unreachable')) return error;
  if (isRefusal(error)) return new Fault('failure', error.message, 'log in: devmgr login');
  throw error;
}
