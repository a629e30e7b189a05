import type { DeviceDetail } from '../../../contract/device-shapes.ts';
import type { Key } from '../../../contract/hardware.ts';
import type { Proof } from '../../../contract/proof.ts';
import { type Contradiction, claimedIn, claimsPoll, contradictionOf } from '../../../enrollment/same-device.ts';
import { isServerRefusal } from '../../client/failures.ts';
import { Fault, failure } from '../../fault.ts';
import { poll } from '../../retry.ts';
import type { Context } from '../context.ts';
import { findBySerial } from './find-device.ts';

/** Why a key is not the device that has its serial number, in words. */
export const otherKeyWords = (deviceId: string, serial: string, { what, recorded, shown }: Contradiction): string =>
  `it is another key than ${deviceId}, which has the serial number ${serial} as well: its ${what} is ${shown}, and that of the device is ${recorded}. Register it under the number printed on it: devmgr register`;

/** The key with what it claims; see `EnrollmentRegistry`. */
export async function withClaims({ hardware, io }: Pick<Context, 'hardware' | 'io'>, key: Key): Promise<Key> {
  const read = async () => claimedIn((await hardware.call('listKeys')).list, key);
  return (await poll(read, { ...claimsPoll, signal: io.interrupt })) ?? key;
}

/** The device that an attached key is; null if it is not registered. A fault if the key contradicts it: then it is another key. */
export async function registeredDevice(
  services: Services & Pick<Context, 'io'>,
  key: Key,
): Promise<DeviceDetail | null> {
  const found = await registrationOf(services, key);
  if (found === null) return null;
  const device = await services.registry.call('getDevice', { params: { deviceId: found.deviceId } });
  const mustClaim = Boolean(device.proof?.aaguid) && !key.claims?.aaguid;
  const contradiction = contradictionOf(mustClaim ? await withClaims(services, key) : key, device);
  if (contradiction === null) return device;
  throw failure(`${key.serialNumber}: ${otherKeyWords(device.deviceId, device.serialNumber, contradiction)}`);
}

/**
 * The registered device that an attached key is; null if it is not registered. A hardware service that is not the registry
 * looks keys up in a registry of its own, so its `device` is ignored.
 */
export async function registrationOf(services: Services, key: Key): Promise<Key['device']> {
  return (await asRegistered(services, key)).device;
}

type Services = Pick<Context, 'registry' | 'hardware'>;

async function asRegistered({ registry, hardware }: Services, key: Key): Promise<Pick<Key, 'device' | 'proof'>> {
  const { serialNumber, device, proof } = key;
  // A hardware service that follows another interface may send neither.
  if (hardware === registry) return { device: device ?? null, proof: proof ?? null };
  const { exact } = serialNumber === null ? { exact: null } : await findBySerial(registry, serialNumber);
  if (exact === null) return { device: null, proof: claimedBy(key) };
  return { device: { deviceId: exact.deviceId, status: exact.status }, proof: exact.proof ?? claimedBy(key) };
}

/** Claims of the key. Any other proof is a verdict of the registry of the hardware service, which does not count. */
const claimedBy = ({ proof }: Key): Proof | null =>
  proof?.grade === 'claimed' && proof.method === 'claims' ? proof : null;

/** Registrations of many keys, in a registry that may be unreachable. */
export class Registrations {
  /** Why the registry could not be asked; null if it could. Then it is unknown whether a key without a device is registered. */
  failure: Fault | null = null;
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  async of(key: Key): Promise<Key> {
    try {
      return { ...key, ...(await asRegistered(this.#context, key)) };
    } catch (error) {
      this.failure = reasonOf(error, this.#context.loginHint());
      return { ...key, device: null, proof: claimedBy(key) };
    }
  }
}

/** Why the registry could not be asked. Other errors are thrown. */
function reasonOf(error: unknown, loginHint: string): Fault {
  if (error instanceof Fault && (error.kind === 'login' || error.kind === 'unreachable')) return error;
  if (isServerRefusal(error)) return failure(error.message, loginHint);
  throw error;
}
