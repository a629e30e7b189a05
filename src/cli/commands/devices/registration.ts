import type { Key } from '../../../contract/hardware.ts';
import { isServerRefusal } from '../../client/failures.ts';
import type { Context } from '../../context.ts';
import { Fault } from '../../fault.ts';
import { findBySerial } from './find-device.ts';

/**
 * The registered device that an attached key is; null if it is not registered. A hardware service that is not the registry
 * looks keys up in a registry of its own, so its `device` is ignored.
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

/** The same for many keys, with a registry that may be unreachable. */
export class Registrations {
  /** Why the registry could not be asked; null if it could. Then it is unknown whether a key without a device is registered. */
  failure: Fault | null = null;
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  async of(key: Key): Promise<Key> {
    try {
      return { ...key, device: await registrationOf(this.#context, key) };
    } catch (error) {
      this.failure = reasonOf(error, this.#context.loginHint());
      return { ...key, device: null };
    }
  }
}

/** Why the registry could not be asked. Other errors are thrown. */
function reasonOf(error: unknown, loginHint: string): Fault {
  if (error instanceof Fault && (error.kind === 'login' || error.kind === 'unreachable')) return error;
  if (isServerRefusal(error)) return new Fault('failure', error.message, loginHint);
  throw error;
}
