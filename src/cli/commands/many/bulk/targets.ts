import type { Context } from '../../../framework/context.ts';
import { resolveDevice } from '../../../framework/devices/device.ts';
import type { BulkChange } from './change.ts';
import { isBulk } from './flags.ts';
import { offeredStates } from './operations.ts';

/**
 * Changes the device that the command line names with `one`; several devices, and those that are marked in a list at the terminal,
 * as a batch, after one confirmation. `isOne`: the flags belong to one device, so that no list is shown. Resolves to the exit code
 * of a batch.
 */
export async function changeTargets(
  context: Context,
  change: BulkChange,
  one: (deviceId: string) => Promise<void>,
  isOne = false,
): Promise<number | undefined> {
  const { operation, flags } = change;
  const { names, isBatch } =
    isOne && !isBulk(change.names, flags) ? { ...change, isBatch: false } : await targetsOf(context, change);
  if (isBatch) {
    const { changeMany } = await import('./change.ts');
    return changeMany(context, { ...change, names });
  }
  await one(await resolveDevice(context, names[0], flags.plugged, offeredStates[operation]));
  return undefined;
}

/** The devices that the command line names; if it names none, those that are marked in a list. */
async function targetsOf(context: Context, { operation, names, flags }: BulkChange) {
  const isNamed = names.length > 0 || flags.file !== undefined || flags.filter.length > 0 || flags.plugged;
  if (isNamed || !context.canAsk) return { names, isBatch: isBulk(names, flags) };
  const { pickDevices } = await import('../../../framework/pickers/devices.ts');
  const picked = await pickDevices(context, offeredStates[operation]);
  // The command for one device has the stricter confirmation: the id is typed.
  const isSingle = operation === 'DEACTIVATE' && !isBulk(picked, flags);
  return { names: picked, isBatch: !isSingle };
}
