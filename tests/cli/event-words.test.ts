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
  ['SHIPMENT_OVERDUE', { ...device, shippedAt: time }, `sent to its person ${localTime(time)}, arrival not confirmed`],
  ['DEVICE_IDENTITY', { ...device, change: 'proved' }, 'credential of its key proved'],
  [
    'PEOPLE_CHECKED',
    { devices: 1, accounts: 0, tokens: 2, credentials: 3, unmatched: 4, unreported: 5 },
    'persons checked: devices 1, accounts 0, tokens 2, credentials 3 of leavers: devmgr doctor',
  ],
  ['CASE_OPENED', { personId: 'PER-1', source: 'scim' }, 'case opened: devmgr people case PER-1'],
  ['CASE_OVERDUE', { personId: 'PER-1', source: 'scim', kind: 'loan', itemId: 'RCT-1' }, 'case overdue: loan RCT-1'],
  ['CASE_CLOSED', { personId: 'PER-1', source: 'scim', end: 'returned' }, 'case ended: returned'],
  ['USER_CREATED', { userId: 'USR-2', username: 'ada' }, 'account ada created'],
  ['USER_UPDATED', { userId: 'USR-2', username: null }, 'account changed'],
  ['USER_PASSWORD_CHANGED', { username: 'ada' }, 'password of ada changed'],
  ['USER_LOGGED_OUT', { username: 'ada' }, 'sessions of ada ended'],
  ['USER_REGISTRATION_ALLOWED', { username: 'ada' }, 'ada may register a key'],
  ['USER_KEY_ADDED', { userId: 'USR-2', username: 'ada', name: 'blue' }, 'sign-in key blue of ada registered'],
  ['USER_KEY_REMOVED', { userId: 'USR-2', username: null, name: 'blue' }, 'sign-in key blue removed'],
  ['TOKEN_CREATED', { tokenId: 'TOK-1', name: 'line' }, 'service token line created'],
  ['TOKEN_REVOKED', { tokenId: 'TOK-1', name: 'line' }, 'service token line revoked'],
  ['TOKEN_ADOPTED', { tokenId: 'TOK-1', name: 'line' }, 'service token line has a new owner'],
  ['POLICY_SET', { policy: 'people' }, 'policy set: people'],
  ['WEBHOOK_CREATED', { url: 'https://a.example' }, 'webhook to https://a.example created'],
  ['WEBHOOK_ENABLED', { url: 'https://a.example' }, 'webhook to https://a.example enabled'],
  ['WEBHOOK_DISABLED', { url: 'https://a.example' }, 'webhook to https://a.example disabled'],
  ['WEBHOOK_REMOVED', { url: 'https://a.example' }, 'webhook to https://a.example removed'],
  ['PROVIDER_ADDED', { name: 'Okta' }, 'provider Okta added'],
  ['PROVIDER_SECRET_SET', { name: 'Okta' }, 'secret of provider Okta replaced'],
  ['PROVIDER_REMOVED', { name: 'Okta' }, 'provider Okta removed'],
  ['SSO_SET', {}, 'single sign-on set'],
  ['SSO_ACCOUNT_LINKED', { username: 'ada' }, 'account ada linked to its person at the provider'],
  ['SSO_SESSION_ENDED', { username: 'ada', reason: 'logout' }, 'sessions of ada ended at the provider: logout'],
  ['SSO_SESSIONS_ENDED', {}, 'all sessions of single sign-on ended'],
  ['DIRECTORY_SET', {}, 'directory set'],
  ['PERSON_ADDED', { personId: 'PER-1', source: 'scim' }, 'person added (scim)'],
  ['PERSON_UPDATED', { personId: 'PER-1' }, 'person changed'],
  ['PERSON_ERASED', { personId: 'PER-1' }, 'person erased'],
  ['PERSON_GROUPS_SET', {}, 'groups of persons changed'],
  ['SETTINGS_SET', { setting: 'trust' }, 'setting changed: trust'],
  ['SETTINGS_REMOVED', { setting: 'trust' }, 'setting removed: trust'],
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

it('a change of a setting has what was before and what is after', () => {
  const changes = [{ field: 'leavers', before: 'lock', after: 'retire' }];
  expect(wordsOf({ type: 'POLICY_SET', timestamp: time, data: { policy: 'people' }, changes })).toBe(
    'policy set: people: leavers lock → retire',
  );
});

it('a secret has neither of its values', () => {
  const changes = [{ field: 'secret', before: null, after: 'changed' }];
  expect(wordsOf({ type: 'SSO_SET', timestamp: time, data: {}, changes })).toBe('single sign-on set: secret changed');
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
