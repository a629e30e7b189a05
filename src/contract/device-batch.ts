/** The operation that changes many devices in one request. */
import { type TObject, Type } from 'typebox';
import { batchData, batchOf, itemStatus } from './batch-shapes.ts';
import { Code } from './codes.ts';
import { additions } from './define.ts';
import { deviceOperations } from './devices.ts';
import { nullable, oneOf, secret, shown, token } from './fields.ts';
import { bodyBounds, sizes } from './limits.ts';
import { type BatchOperation, batchOperations, changers } from './values.ts';

/** How an item names its device: one of the two, or both if they name the same device. */
const target = {
  deviceId: Type.Optional(token({ description: 'device id', examples: ['DEV-1'] })),
  serialNumber: Type.Optional(token({ description: 'serial number', examples: ['UK-2026-000001'] })),
};

/** Fields of the body of a single operation, without those that the item states in its own way. */
function fieldsOf<const B extends TObject, const K extends keyof B['properties'] = never>(body: B, ...without: K[]) {
  const fields = Object.entries(body.properties).filter(([name]) => !(without as unknown[]).includes(name));
  return Object.fromEntries(fields) as Omit<B['properties'], K>;
}

const { activateDevice, lockDevice, unlockDevice, deactivateDevice, generateActivationCode, updateDevice } =
  deviceOperations;
/** The items of a batch, by operation: the device, and the fields of the single operation. */
export const batchItems = {
  ACTIVATE: Type.Object({ ...target, ...fieldsOf(activateDevice.body, 'deviceId') }),
  LOCK: Type.Object({ ...target, ...fieldsOf(lockDevice.body) }),
  UNLOCK: Type.Object({ ...target, ...fieldsOf(unlockDevice.body) }),
  DEACTIVATE: Type.Object({ ...target, ...fieldsOf(deactivateDevice.body, 'confirmPassword') }),
  GENERATE_CODE: Type.Object({ ...target, ...fieldsOf(generateActivationCode.body, 'deviceId') }),
  UPDATE: Type.Object({ ...target, ...fieldsOf(updateDevice.body, 'userId') }),
} as const satisfies Record<BatchOperation, TObject>;

/** The operation that changes many devices. */
export const deviceBatchOperations = additions('Devices', {
  /** Not idempotent as a whole: a repeated item fails with the code of the single operation. */
  batchUpdateDevices: {
    summary: `Change up to ${sizes.batchUpdateItems.toLocaleString('en')} devices`,
    description:
      'Returns 200 even if items fail. Results are in the order of the items. The accepted items are committed together or not at all. Of two items for one device, the second is evaluated after the first.',
    access: changers,
    strictQuery: true,
    bodyLimit: sizes.batchBody,
    bodyValues: bodyBounds.manyValues,
    batchOf: 'items',
    body: Type.Object({
      operation: oneOf(batchOperations, { description: 'what is done with each device' }),
      items: batchOf(
        Type.Object(target, {
          additionalProperties: true,
          description: 'deviceId or serialNumber, and the fields of the single operation',
        }),
      ),
      confirmPassword: Type.Optional(
        secret({ min: 1 }, { description: "an administrator's password; required for DEACTIVATE" }),
      ),
    }),
    data: batchData(
      'number of changed devices, counted by item',
      Type.Object({
        deviceId: nullable(shown('id of the device; if it does not exist, the id in the request')),
        serialNumber: nullable(
          shown('serial number of the device; if it does not exist, the serial number in the request'),
        ),
        ...itemStatus,
        code: Type.Integer({ description: '200, or the business code of a failed item' }),
        data: nullable(
          Type.Object({}, { additionalProperties: true, description: 'what the single operation returns' }),
        ),
      }),
    ),
    errors: [Code.wrongPassword],
    example: {
      body: {
        operation: 'LOCK',
        items: [
          { deviceId: 'DEV-1', reason: 'audit' },
          { serialNumber: 'UK-2026-000002', reason: 'audit' },
        ],
      },
    },
  },
});
