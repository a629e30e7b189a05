/** What a decision carries beside the change: the guard it holds under, and what the journal is told. */
import { describe, expect, test } from 'vitest';
import * as domain from '../../daemon/domain/device.ts';
import type { DeviceRecord } from '../../daemon/store/store.ts';
import type { DeviceStatus } from '../../src/contract/device-fields.ts';

const code = 'ABCD-EFGH-JKLM-NPQR';
const now = 1_800_000_000_000;
const device = (status: DeviceStatus): DeviceRecord => ({
  number: 7,
  deviceType: 'UKEY',
  serialNumber: 'UK-7',
  manufacturer: 'Feitian',
  model: 'ePass K9',
  hardwareVersion: null,
  firmwareVersion: '1.0.3',
  status,
  userId: null,
  activationCode: code,
  activationCodeExpiresAt: now + 1,
  note: 'drawer 3',
  createdAt: now - 1000,
  activatedAt: null,
  lastUsedAt: null,
  lockReason: status === 'LOCKED' ? 'reported lost' : null,
  lockedAt: status === 'LOCKED' ? now - 10 : null,
  deactivatedAt: null,
  updatedAt: null,
  usageCount: 0,
  usageSeconds: 0,
  backupCount: 0,
  lastBackupAt: null,
});

describe('the guard', () => {
  test('of an activation is the state and the very code that was compared: a new code in between undoes the decision', () => {
    expect(domain.activate(device('INACTIVE'), code, 'alice', now).guard).toEqual({
      kind: 'device',
      device: 7,
      status: ['INACTIVE'],
      activationCode: code,
    });
  });

  test('of a new code is the code that it replaces: of two at once the second tells what the first has made', () => {
    expect(domain.replaceCode(device('LOCKED'), 'NEW', now, 'lost').guard).toEqual({
      kind: 'device',
      device: 7,
      status: ['INACTIVE', 'ACTIVE', 'LOCKED'],
      activationCode: code,
    });
  });

  test.each([
    ['lock', domain.lock(device('ACTIVE'), 'lost', null, now), ['ACTIVE']],
    ['unlock', domain.unlock(device('LOCKED'), null), ['LOCKED']],
    ['deactivate', domain.deactivate(device('LOCKED'), 'stolen', null, now), ['INACTIVE', 'ACTIVE', 'LOCKED']],
    ['update', domain.update(device('ACTIVE'), { note: null }, now), ['INACTIVE', 'ACTIVE']],
    ['use', domain.use(device('ACTIVE'), 5), ['ACTIVE']],
  ] as const)('of %s is every state it is allowed from', (_, { guard }, status) => {
    expect(guard).toEqual({ kind: 'device', device: 7, status });
  });
});

describe('the journal', () => {
  const detailOf = ({ change }: domain.Decision) => change.entry.detail;

  test('keeps the notes of lock, unlock and deactivate, which leave the note of the device alone', () => {
    const decisions = [
      domain.lock(device('ACTIVE'), 'lost', 'on the train', now),
      domain.unlock(device('LOCKED'), 'on the train'),
      domain.deactivate(device('ACTIVE'), 'stolen', 'on the train', now),
    ];
    for (const { change } of decisions) {
      expect(change).toMatchObject({ entry: { detail: { note: 'on the train' } } });
      expect(change).not.toHaveProperty('set.note');
    }
  });

  test('tells for what reason a device was locked that is unlocked, and in which state one was that is retired', () => {
    expect(detailOf(domain.unlock(device('LOCKED'), null))).toEqual({ note: null, wasLockedFor: 'reported lost' });
    expect(detailOf(domain.deactivate(device('LOCKED'), 'stolen', null, now))).toEqual({
      reason: 'stolen',
      note: null,
      before: 'LOCKED',
    });
  });

  test('tells what the changed fields held before and after an update, and nothing of the others', () => {
    expect(detailOf(domain.update(device('ACTIVE'), { note: null }, now))).toEqual({
      before: { note: 'drawer 3' },
      after: { note: null },
    });
    expect(detailOf(domain.update(device('ACTIVE'), { firmwareVersion: '1.0.4', note: 'b' }, now))).toEqual({
      before: { firmwareVersion: '1.0.3', note: 'drawer 3' },
      after: { firmwareVersion: '1.0.4', note: 'b' },
    });
  });

  test('never holds an activation code', () => {
    const decisions = [
      domain.activate(device('INACTIVE'), code, 'alice', now),
      domain.replaceCode(device('ACTIVE'), 'WXYZ-2345-6789-ABCD', now, 'lost'),
    ];
    for (const { change } of decisions) expect(JSON.stringify(change.entry)).not.toMatch(/ABCD-EFGH|WXYZ-2345/);
  });
});
