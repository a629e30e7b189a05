/** What is done with many devices at once. */
import type { BatchOperation, DeviceStatus } from '../../../../src/contract/values.ts';

/** What a person enters for an operation. */
export type EntryName = 'reason' | 'note' | 'validityDays';

/** An operation that a batch carries out on each of its devices. */
interface BulkOperation {
  /** States in which a device is not refused; devices in other states are left out. */
  readonly fits: readonly DeviceStatus[];
  readonly entries: readonly EntryName[];
}

/** The operations for selected devices. An activation needs the code of each device, so it is not among them. */
export const bulkOperations = {
  LOCK: { fits: ['ACTIVE'], entries: ['reason'] },
  UNLOCK: { fits: ['LOCKED'], entries: ['note'] },
  GENERATE_CODE: { fits: ['INACTIVE', 'ACTIVE', 'LOCKED'], entries: ['reason', 'validityDays'] },
  DEACTIVATE: { fits: ['INACTIVE', 'ACTIVE', 'LOCKED'], entries: ['reason'] },
} as const satisfies Partial<Record<BatchOperation, BulkOperation>>;

/** Name of an operation for selected devices. */
export type BulkName = keyof typeof bulkOperations;
/** The operations, in the order of their buttons. */
export const bulkNames = Object.keys(bulkOperations) as BulkName[];
