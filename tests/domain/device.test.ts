import { describe, expect, it } from 'vitest';
import type { Decision } from '../../daemon/base/decision.ts';
import { Refusal } from '../../daemon/base/decision.ts';
import * as domain from '../../daemon/devices/decisions.ts';
import type { DeviceRecord } from '../../daemon/devices/records.ts';
import { undescribed } from '../../src/contract/device-description.ts';
import { type DeviceStatus, deviceStatuses } from '../../src/contract/values.ts';

const code = 'ABCD-EFGH-JKLM-NPQR';
const now = 1_800_000_000_000;
const device = (status: DeviceStatus): DeviceRecord => ({
  ...undescribed,
  number: 7,
  deviceType: 'UKEY',
  serialNumber: 'UK-7',
  manufacturer: 'Feitian',
  model: 'ePass K9',
  firmwareVersion: '1.0.3',
  status,
  userId: null,
  userKey: null,
  person: null,
  activationCode: code,
  activationCodeExpiresAt: now + 1,
  note: 'drawer 3',
  createdAt: now - 1000,
  activatedAt: null,
  lastUsedAt: null,
  lockReason: status === 'LOCKED' ? 'reported lost' : null,
  lockedAt: status === 'LOCKED' ? now - 10 : null,
  deactivatedAt: null,
  shippedAt: null,
  receivedAt: null,
  updatedAt: null,
  usageCount: 0,
  usageSeconds: 0,
  backupCount: 0,
  version: 1,
  lastBackupAt: null,
  tags: {},
  proof: null,
});

/** The decision; fails if it is a refusal. */
function decided<C, G>(decision: Decision<C, G> | Refusal): Decision<C, G> {
  if (decision instanceof Refusal) throw new Error(`refused: ${decision.message}`);
  return decision;
}

/** Operation × state as promised to clients, written by hand: it checks the table in the code. */
const promised: Record<domain.DeviceOperation, readonly ('yes' | number)[]> = {
  //           INACTIVE ACTIVE LOCKED DEACTIVATED
  activate: ['yes', 2002, 2004, 2005],
  lock: [1001, 'yes', 2004, 2005],
  unlock: [1001, 1001, 'yes', 2005],
  deactivate: ['yes', 'yes', 'yes', 2005],
  update: ['yes', 'yes', 2004, 2005],
  newCode: ['yes', 'yes', 'yes', 2005],
  use: [1001, 'yes', 2004, 2005],
  backUp: [1001, 'yes', 2004, 2005],
  handOver: [1001, 'yes', 2004, 2005],
  takeBack: [1001, 'yes', 'yes', 'yes'],
  restore: ['yes', 'yes', 'yes', 2005],
};

describe.each(Object.entries(promised) as [domain.DeviceOperation, readonly ('yes' | number)[]][])(
  '%s',
  (operation, row) => {
    it.each(row.map((cell, i) => [deviceStatuses[i]!, cell] as const))('of a device that is %s: %s', (status, cell) => {
      const refusal = domain.refusalOf(operation, device(status));
      if (cell === 'yes') expect(refusal).toBeNull();
      else expect(refusal).toMatchObject({ code: cell, message: expect.stringContaining('DEV-7') });
    });
  },
);

describe('an operation', () => {
  const attempts: Record<string, (device: DeviceRecord) => domain.DeviceDecision | Refusal> = {
    activate: device => domain.activate(device, code, 'alice', now),
    lock: device => domain.lock(device, 'lost', null, now),
    unlock: device => domain.unlock(device, null),
    deactivate: device => domain.deactivate(device, 'stolen', null, now),
    edit: device => domain.edit(device, { note: null }, {}, now),
    replaceCode: device => domain.replaceCode(device, 'NEW', now, 'lost'),
    use: device => domain.use(device, 5),
  };

  it.each(Object.entries(attempts))('%s returns the refusal of a deactivated device', (_, attempt) => {
    expect(attempt(device('DEACTIVATED'))).toMatchObject({ code: 2005 });
  });
});

describe('an activation', () => {
  it.each([
    ['a wrong code', 'ABCD-EFGH-JKLM-NPQS', now],
    ['an expired code', code, now + 1],
  ])('with %s is refused with 2003', (_, given, at) => {
    expect(domain.activate(device('INACTIVE'), given, 'alice', at)).toMatchObject({ code: 2003 });
  });

  it('takes the code in lower case', () => {
    const { change } = decided(domain.activate(device('INACTIVE'), code.toLowerCase(), 'alice', now));
    expect(change).toMatchObject({ set: { status: 'ACTIVE', userId: 'alice', activatedAt: now } });
  });
});

describe('an edit', () => {
  it('that sets nothing is refused, and names the fixed fields that were sent', () => {
    expect(domain.emptyEdit({}, { serialNumber: 'X' })?.message).toBe(
      'firmwareVersion, note or tags is required; serialNumber cannot be changed',
    );
    expect(domain.emptyEdit({ note: null }, {})).toBeNull();
  });

  it('may repeat fixed fields, but not change them', () => {
    const edit = (given: object) => domain.edit(device('ACTIVE'), { note: 'n' }, { ...given }, now);
    expect(edit({ model: 'ePass K9' })).not.toBeInstanceOf(Refusal);
    expect(edit({ model: 'other' })).toMatchObject({ code: 1001, message: 'model cannot be changed' });
  });
});

describe('the guard', () => {
  it('of an activation holds the state and the compared code: a new code in between undoes the decision', () => {
    expect(decided(domain.activate(device('INACTIVE'), code, 'alice', now)).guards).toEqual([
      { kind: 'device', device: 7, status: ['INACTIVE'], activationCode: code },
    ]);
  });

  it('of a new code holds the code it replaces: of two at once, the second reports the code of the first as the old one', () => {
    expect(decided(domain.replaceCode(device('LOCKED'), 'NEW', now, 'lost')).guards).toEqual([
      { kind: 'device', device: 7, status: ['INACTIVE', 'ACTIVE', 'LOCKED'], activationCode: code },
    ]);
  });

  it.each([
    ['lock', domain.lock(device('ACTIVE'), 'lost', null, now), ['ACTIVE']],
    ['use', domain.use(device('ACTIVE'), 5), ['ACTIVE']],
  ] as const)('of %s holds every state that allows it', (_, decision, status) => {
    expect(decided(decision).guards).toEqual([{ kind: 'device', device: 7, status }]);
  });

  it('of an unlock holds the reason of the lock, which the journal repeats', () => {
    expect(decided(domain.unlock(device('LOCKED'), null)).guards).toEqual([
      { kind: 'device', device: 7, status: ['LOCKED'], fields: { lockReason: device('LOCKED').lockReason } },
    ]);
  });

  it('of a deactivation holds the state that it ends, which the journal repeats', () => {
    const status = ['LOCKED'];
    expect(decided(domain.deactivate(device('LOCKED'), 'stolen', null, now)).guards).toEqual([
      { kind: 'device', device: 7, status },
    ]);
  });

  it('of an edit holds every field that an edit can change: the response shows all of them', () => {
    const { firmwareVersion, note, tags } = device('ACTIVE');
    const status = ['INACTIVE', 'ACTIVE'];
    expect(decided(domain.edit(device('ACTIVE'), { note: null }, {}, now)).guards).toEqual([
      { kind: 'device', device: 7, status, fields: { firmwareVersion, note, tags } },
    ]);
  });
});

describe('the journal', () => {
  const detailOf = (decision: domain.DeviceDecision | Refusal) => decided(decision).change.entry.detail;

  it('records the notes of lock, unlock and deactivate, which do not change the note of the device', () => {
    const decisions = [
      domain.lock(device('ACTIVE'), 'lost', 'on the train', now),
      domain.unlock(device('LOCKED'), 'on the train'),
      domain.deactivate(device('ACTIVE'), 'stolen', 'on the train', now),
    ];
    for (const { change } of decisions.map(decided)) {
      expect(change).toMatchObject({ entry: { detail: { note: 'on the train' } } });
      expect(change).not.toHaveProperty('set.note');
    }
  });

  it('records why an unlocked device was locked, and the state of a device before its deactivation', () => {
    expect(detailOf(domain.unlock(device('LOCKED'), null))).toEqual({ note: null, wasLockedFor: 'reported lost' });
    expect(detailOf(domain.deactivate(device('LOCKED'), 'stolen', null, now))).toEqual({
      reason: 'stolen',
      note: null,
      before: 'LOCKED',
    });
  });

  it('records the edited fields before and after, and no others', () => {
    expect(detailOf(domain.edit(device('ACTIVE'), { note: null }, {}, now))).toEqual({
      before: { note: 'drawer 3' },
      after: { note: null },
    });
    expect(detailOf(domain.edit(device('ACTIVE'), { firmwareVersion: '1.0.4', note: 'b' }, {}, now))).toEqual({
      before: { firmwareVersion: '1.0.3', note: 'drawer 3' },
      after: { firmwareVersion: '1.0.4', note: 'b' },
    });
  });

  it('never contains an activation code', () => {
    const changes = [
      domain.register({ ...device('INACTIVE') }, code, now),
      decided(domain.activate(device('INACTIVE'), code, 'alice', now)).change,
      decided(domain.replaceCode(device('ACTIVE'), 'WXYZ-2345-6789-ABCD', now, 'lost')).change,
    ];
    for (const { entry } of changes) expect(JSON.stringify(entry)).not.toMatch(/ABCD-EFGH|WXYZ-2345/);
  });
});
