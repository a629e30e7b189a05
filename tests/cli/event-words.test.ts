/** The words of the command line for each type of event. */
import { expect, it } from 'vitest';
import { wordsOf } from '../../src/cli/commands/devices/event-lines.ts';
import { localTime } from '../../src/cli/terminal/when.ts';
import { type EventType, eventOfOperation, eventTypes } from '../../src/contract/event-types.ts';
import { batchOperations } from '../../src/contract/values.ts';

const time = '2026-03-01T08:30:00.000Z';
const device = { deviceId: 'DEV-1', deviceType: 'UKEY' };

it.each<[EventType, Readonly<Record<string, unknown>>, string]>([
  ['DEVICE_REGISTERED', { ...device, serialNumber: 'S' }, 'registered (UKEY)'],
  ['DEVICE_ACTIVATED', { ...device, userId: 'ada' }, 'activated for ada'],
  ['DEVICE_ACTIVATED', device, 'activated'],
  ['DEVICE_LOCKED', { ...device, lockReason: 'lost [{userId}]', userId: 'ada' }, 'locked: lost [{userId}]'],
  ['DEVICE_LOCKED', { ...device, lockReason: '' }, 'locked'],
  ['DEVICE_UNLOCKED', device, 'unlocked'],
  ['DEVICE_DEACTIVATED', device, 'deactivated'],
  ['DEVICE_UPDATED', device, 'updated'],
  ['ACTIVATION_CODE_GENERATED', device, 'new activation code'],
  ['APP_VERSION_UPLOADED', { versionId: 'APP-1', platform: 'LINUX', version: '1.0' }, 'uploaded: LINUX 1.0'],
  ['PERSON_LEFT', { personId: 'PER-1', source: 'scim', devices: 2 }, 'has left (scim), 2 ACTIVE devices'],
  ['PERSON_HELD', { personId: 'PER-1', source: 'scim', devices: 1 }, 'held, 1 ACTIVE device: devmgr people leave held'],
  ['PERSON_RETURNED', { personId: 'PER-1', lockedDevices: ['DEV-1'] }, 'is back: locked devices stay locked'],
  [
    'PROVISIONING_REFUSED',
    { source: 'directory' },
    'directory: a request was not stored as sent: devmgr people refused',
  ],
  ['RECEIPT_SIGNED', { ...device, receiptId: 'RCT-1', kind: 'loan' }, 'receipt signed: loan (RCT-1)'],
  ['LOAN_OVERDUE', { ...device, receiptId: 'RCT-1', dueAt: time }, `loan overdue since ${localTime(time)} (RCT-1)`],
  ['DEVICE_IDENTITY', { ...device, change: 'proved' }, 'credential of its key proved'],
  [
    'PEOPLE_CHECKED',
    { devices: 1, accounts: 0, tokens: 2, credentials: 3, unmatched: 4, unreported: 5 },
    'persons checked: devices 1, accounts 0, tokens 2, credentials 3 of leavers: devmgr doctor',
  ],
  ['CASE_OPENED', { personId: 'PER-1', source: 'scim' }, 'case opened: devmgr people case PER-1'],
  ['CASE_OVERDUE', { personId: 'PER-1', source: 'scim', kind: 'loan', itemId: 'RCT-1' }, 'case overdue: loan RCT-1'],
  ['CASE_CLOSED', { personId: 'PER-1', source: 'scim', end: 'returned' }, 'case ended: returned'],
  ['KEY_ATTACHED', { manufacturer: 'Acme', model: 'One', problem: 'busy' }, 'plugged in: Acme One: busy'],
  ['KEY_ATTACHED', { manufacturer: null, model: null, problem: null }, 'plugged in'],
  ['KEY_DETACHED', {}, 'unplugged'],
])('%s', (type, data, words) => {
  expect(wordsOf({ type, timestamp: time, data })).toBe(words);
});

it('an update names what has changed', () => {
  const changes = [{ field: 'firmwareVersion', before: '1', after: null }];
  expect(wordsOf({ type: 'DEVICE_UPDATED', timestamp: time, data: device, changes })).toBe(
    'updated: firmware version 1 → none',
  );
});

it('shows a type that only a newer server knows as it is sent', () => {
  const type = 'DEVICE_PAINTED' as EventType;
  expect(wordsOf({ type, timestamp: time, data: device })).toBe(type);
  expect(eventTypes).not.toContain(type);
});

it('each operation on a device has its event', () => {
  expect(batchOperations.map(eventOfOperation)).toEqual([
    'DEVICE_ACTIVATED',
    'DEVICE_LOCKED',
    'DEVICE_UNLOCKED',
    'DEVICE_DEACTIVATED',
    'ACTIVATION_CODE_GENERATED',
    'DEVICE_UPDATED',
  ]);
});
