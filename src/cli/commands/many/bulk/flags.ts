/** The argument and the flags of commands that change one device or many. The code for many is loaded only if they are used. */

import type { BatchOperation } from '../../../../contract/values.ts';
import { deviceArg } from '../../../framework/devices/device.ts';
import { filterFlags } from '../../../framework/devices/filter.ts';
import type { ArgShape, FlagShapes, FlagValues } from '../../../framework/flags.ts';
import { fileFlag, yesFlag } from '../../../framework/flags.ts';
import { tableFlags } from '../../../jobs/table-flags.ts';
import { fittingStates, mostUnasked } from './operations.ts';

/** Names one device or several. Completion offers those that the operation does not refuse. */
export const devicesArg = (operation: BatchOperation): ArgShape => ({
  ...deviceArg,
  rest: true,
  states: fittingStates[operation],
});

/** Flags that select many devices, and keep a record of what was done. */
export const bulkFlags = {
  file: {
    ...fileFlag('every device in this file: one deviceId or serial number per line, or CSV; - is standard input'),
    short: 'f',
    conflicts: ['filter', 'plugged'],
  },
  ...tableFlags('file'),
  filter: {
    value: 'NAME=VALUE',
    pairs: filterFlags,
    many: 'whole',
    conflicts: ['plugged'],
    help: 'every device that matches, with the filters of list, such as status=ACTIVE,LOCKED; can be repeated',
  },
  'dry-run': { conflicts: ['plugged', 'out'], help: 'show what would be done with each device, and change nothing' },
  max: {
    value: 'N',
    whole: { min: 1 },
    help: `refuse to change more than N devices (default: ${mostUnasked}; for activate, no limit)`,
  },
  ...yesFlag,
  out: { ...fileFlag('write the results to this file'), conflicts: ['plugged'] },
  resume: { needs: 'out', help: 'skip the devices that an earlier run with the same --out has changed' },
} as const satisfies FlagShapes;

/** The values of `bulkFlags`. */
export type BulkFlags = FlagValues<typeof bulkFlags>;

/** Whether a command is about more than one named device. */
export const isBulk = (args: readonly string[], { file, filter, out, dryRun }: BulkFlags): boolean =>
  args.length > 1 || file !== undefined || filter.length > 0 || out !== undefined || dryRun;

/** The part of the description that these commands have in common. */
export const bulkDescription =
  'Without DEVICE, you choose from a list at the terminal. To change many devices, give several, --file or --filter: see devmgr help batches.';
