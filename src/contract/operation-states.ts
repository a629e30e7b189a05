/** Which states of a device allow an operation. */
import type { BatchOperation, DeviceStatus } from './values.ts';

/** States in which the registry does not refuse an operation. */
export const operationStates = {
  ACTIVATE: ['INACTIVE'],
  LOCK: ['ACTIVE'],
  UNLOCK: ['LOCKED'],
  DEACTIVATE: ['INACTIVE', 'ACTIVE', 'LOCKED'],
  GENERATE_CODE: ['INACTIVE', 'ACTIVE', 'LOCKED'],
  UPDATE: ['INACTIVE', 'ACTIVE'],
} as const satisfies Readonly<Record<BatchOperation, readonly DeviceStatus[]>>;
