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
  /** States in which a device is not refused. */
  readonly fits: readonly DeviceStatus[];
  /** The states among them in which the operation is of use: what a list at the terminal offers. */
  readonly offers: readonly DeviceStatus[];
}

export const operations: Readonly<Record<BatchOperation, Operation>> = {
  ACTIVATE: {
    verb: 'Activate',
    done: 'activated',
    progress: 'Activating',
    fits: operationStates.ACTIVATE,
    offers: ['INACTIVE'],
  },
  LOCK: {
    verb: 'Lock',
    done: 'locked',
    progress: 'Locking',
    fits: operationStates.LOCK,
    offers: ['ACTIVE'],
  },
  UNLOCK: {
    verb: 'Unlock',
    done: 'unlocked',
    progress: 'Unlocking',
    fits: operationStates.UNLOCK,
    offers: ['LOCKED'],
  },
  DEACTIVATE: {
    verb: 'Retire',
    done: 'retired',
    progress: 'Retiring',
    fits: operationStates.DEACTIVATE,
    offers: ['INACTIVE', 'ACTIVE', 'LOCKED'],
  },
  GENERATE_CODE: {
    verb: 'Replace the activation codes of',
    done: 'given a new code',
    progress: 'Replacing codes',
    fits: operationStates.GENERATE_CODE,
    offers: ['INACTIVE'],
  },
  UPDATE: {
    verb: 'Update',
    done: 'updated',
    progress: 'Updating',
    fits: operationStates.UPDATE,
    offers: ['INACTIVE', 'ACTIVE'],
  },
};

/** Devices that a run changes at most, unless --max allows more. Activations are not limited: each needs the code of its device. */
export const mostUnasked = 500;

/** `1 device`, `2,500 devices`. */
export const devices = (amount: number): string => counted(amount, 'device');
