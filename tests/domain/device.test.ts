/** The state × operation table, cell by cell, as it is promised to clients. Written out by hand: it checks the code's own table. */
import { describe, expect, test } from 'vitest';
import { allow, type DeviceOperation } from '../../daemon/domain/device.ts';
import type { DeviceRecord } from '../../daemon/store/store.ts';
import type { ApiError } from '../../src/contract/codes.ts';
import { deviceStatuses } from '../../src/contract/device-fields.ts';

const promised: Record<DeviceOperation, readonly ('yes' | number)[]> = {
  //           INACTIVE ACTIVE LOCKED DEACTIVATED
  activate: ['yes', 2002, 2004, 2005],
  lock: [1001, 'yes', 2004, 2005],
  unlock: [1001, 1001, 'yes', 2005],
  deactivate: ['yes', 'yes', 'yes', 2005],
  update: ['yes', 'yes', 2004, 2005],
  newCode: ['yes', 'yes', 'yes', 2005],
  use: [1001, 'yes', 2004, 2005],
  backUp: [1001, 'yes', 2004, 2005],
  restore: ['yes', 'yes', 'yes', 2005],
};

describe.each(Object.entries(promised) as [DeviceOperation, readonly ('yes' | number)[]][])('%s', (operation, row) => {
  test.each(row.map((cell, i) => [deviceStatuses[i]!, cell] as const))('of a device that is %s: %s', (status, cell) => {
    const device = { number: 7, status } as DeviceRecord;
    if (cell === 'yes') expect(() => allow(operation, device)).not.toThrow();
    else
      expect(() => allow(operation, device)).toThrow(
        expect.objectContaining({ code: cell, message: expect.stringContaining('DEV-7') }) as unknown as ApiError,
      );
  });
});
