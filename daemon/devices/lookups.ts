/** The device that a request names. */
import { ApiError, Code } from '../../src/contract/codes.ts';
import { deviceIds } from '../../src/contract/ids.ts';
import { type Context, VersionChanged } from '../requests/context.ts';
import type { ChangeResult } from '../store/commit.ts';
import type { Reader } from '../store/store.ts';
import type { DeviceRecord } from './records.ts';

/** The device with this id. Refuses with 2001 if there is none. */
export async function readDevice(store: Pick<Reader, 'device'>, deviceId: string): Promise<DeviceRecord> {
  const number = deviceIds.parse(deviceId);
  const device = number === null ? null : await store.device(number);
  if (!device) throw new ApiError(Code.deviceNotFound);
  return device;
}

/** The device that a request changes. Refuses with 412 if it has another version than the request names. */
export async function readCurrent(
  store: Pick<Reader, 'device'>,
  { version }: Pick<Context, 'version'>,
  deviceId: string,
): Promise<DeviceRecord> {
  const device = await readDevice(store, deviceId);
  if (version !== undefined && version !== device.version) throw new VersionChanged(device);
  return device;
}

/** Guards of a change that also hold the version of the device that the request names. */
export const holdVersion = <G extends { readonly kind: string }>(
  { version }: Pick<Context, 'version'>,
  guards: readonly G[],
): readonly G[] =>
  version === undefined ? guards : guards.map(guard => (guard.kind === 'device' ? { ...guard, version } : guard));

/** The version of a device after a change. */
export function versionOf(result: ChangeResult | undefined): number {
  if (result?.kind !== 'set' && result?.kind !== 'used') throw new Error('the store has not changed the device');
  return result.version;
}
