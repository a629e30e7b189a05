/** Operations of the commands for many devices. */
import { operationStates } from '../../../../contract/operation-states.ts';
import type { BatchOperation, DeviceStatus } from '../../../../contract/values.ts';
import { counted } from '../../../count.ts';

interface Operation {
  /** As in "Lock 3 devices?". */
  readonly verb: string;
  /** As in "3 devices locked". */
  readonly done: string;
  readonly progress: string;
}

export const operations: Readonly<Record<BatchOperation, Operation>> = {
  ACTIVATE: { verb: 'Activate', done: 'activated', progress: 'Activating' },
  LOCK: { verb: 'Lock', done: 'locked', progress: 'Locking' },
  UNLOCK: { verb: 'Unlock', done: 'unlocked', progress: 'Unlocking' },
  DEACTIVATE: { verb: 'Retire', done: 'retired', progress: 'Retiring' },
  GENERATE_CODE: { verb: 'Replace the activation codes of', done: 'given a new code', progress: 'Replacing codes' },
  UPDATE: { verb: 'Update', done: 'updated', progress: 'Updating' },
};

/** The states in which a device is not refused. */
export const fittingStates: Readonly<Record<BatchOperation, readonly DeviceStatus[]>> = operationStates;
/** The states in which the operation is of use, among those in which it is not refused: what a list at the terminal offers. */
export const offeredStates: typeof fittingStates = { ...fittingStates, GENERATE_CODE: ['INACTIVE'] };

/** Devices that a run changes at most, unless --max allows more. Activations are not limited: each needs the code of its device. */
export const mostUnasked = 500;

/** `1 device`, `2,500 devices`. */
export const devices = (amount: number): string => counted(amount, 'device');
