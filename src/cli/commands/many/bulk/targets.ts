import type { BatchOperation } from '../../../../contract/values.ts';
import type { Context } from '../../../framework/context.ts';
import { type BulkFlags, isBulk } from './flags.ts';
import { operations } from './operations.ts';

/** The devices that a command is about. */
export interface ChangeTargets {
  readonly names: readonly string[];
  /** Whether they are changed as a batch, after one confirmation. */
  readonly isBatch: boolean;
}

/** The devices that the command line names; if it names none, those that are marked in a list at the terminal. */
export async function targetsOf(
  context: Context,
  operation: BatchOperation,
  names: readonly string[],
  flags: BulkFlags & { readonly plugged: boolean },
): Promise<ChangeTargets> {
  const isNamed = names.length > 0 || flags.file !== undefined || flags.filter.length > 0 || flags.plugged;
  if (isNamed || !context.canAsk) return { names, isBatch: isBulk(names, flags) };
  const { pickDevices } = await import('../../../framework/pickers/devices.ts');
  const picked = await pickDevices(context, operations[operation].offers);
  // The command for one device has the stricter confirmation: the id is typed.
  const isOne = operation === 'DEACTIVATE' && !isBulk(picked, flags);
  return { names: picked, isBatch: !isOne };
}
