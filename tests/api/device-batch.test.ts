import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adminPassword, startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { data, deviceIn, register } from '../support/fleet.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon();
});
afterAll(() => daemon?.stop());

const batch = (operation: string, items: unknown, more: object = {}, token?: string) =>
  daemon.call('POST', '/api/devices/batch-update', { operation, items, ...more }, token === undefined ? {} : { token });
const detail = async (deviceId: string) => data(await daemon.call('GET', `/api/devices/${deviceId}`));

describe('a batch of changes', () => {
  it('activates devices by id and by serial number, and returns what the single operation does', async () => {
    const [one, other] = [await register(daemon), await register(daemon)];
    const { data: result, message } = await batch('ACTIVATE', [
      { deviceId: one.deviceId, activationCode: one.activationCode, userId: 'alice' },
      { serialNumber: other.serialNumber, activationCode: other.activationCode.toLowerCase(), userId: 'bob' },
    ]);
    expect(message).toBe('success');
    expect(result).toMatchObject({ total: 2, success: 2, failed: 0 });
    const { activatedAt } = await detail(one.deviceId);
    expect(result.results[0]).toEqual({
      deviceId: one.deviceId,
      serialNumber: one.serialNumber,
      status: 'success',
      code: 200,
      message: 'success',
      data: { deviceId: one.deviceId, status: 'ACTIVE', userId: 'alice', activatedAt, version: 2 },
    });
    expect(await detail(other.deviceId)).toMatchObject({ status: 'ACTIVE', userId: 'bob' });
  });

  it.each([
    ['LOCK', 'ACTIVE', { reason: 'audit', note: 'drawer 3' }, { status: 'LOCKED', lockReason: 'audit' }],
    ['UNLOCK', 'LOCKED', {}, { status: 'ACTIVE' }],
    ['DEACTIVATE', 'LOCKED', { reason: 'worn out' }, { status: 'DEACTIVATED' }],
  ] as const)('carries out %s', async (operation, state, fields, expected) => {
    const { deviceId } = await deviceIn(state, daemon);
    const more = operation === 'DEACTIVATE' ? { confirmPassword: adminPassword } : {};
    const { data: result } = await batch(operation, [{ deviceId, ...fields }], more);
    expect(result.results[0]).toMatchObject({ status: 'success', data: { deviceId, ...expected } });
    expect(await detail(deviceId)).toMatchObject({ status: expected.status });
  });

  it('changes tags, note and firmware version as the single operation does, and other tags stay', async () => {
    const one = await register(daemon, { tags: { lot: '7', shelf: 'a' } });
    const locked = await deviceIn('LOCKED', daemon);
    const change = { tags: { site: 'berlin', shelf: null }, note: 'moved' };
    const { data: result } = await batch('UPDATE', [
      { deviceId: one.deviceId, ...change },
      { deviceId: one.deviceId },
      { deviceId: locked.deviceId, ...change },
      { deviceId: one.deviceId, tags: { 'Not a name': 'x' } },
    ]);
    const { tags, note, updatedAt, firmwareVersion, version } = await detail(one.deviceId);
    expect([tags, note, version]).toEqual([{ lot: '7', site: 'berlin' }, 'moved', 2]);
    expect(result.results[0]).toMatchObject({
      code: 200,
      data: { deviceId: one.deviceId, tags, note, firmwareVersion, updatedAt, version: 2 },
    });
    expect(result.results.map(({ code }: { code: number }) => code)).toEqual([200, 1001, 2004, 1001]);
    expect(result.results[1].message).toBe('firmwareVersion, note or tags is required');
  });

  it('replaces activation codes, and the old one is the one that was replaced', async () => {
    const { deviceId, activationCode } = await register(daemon);
    const { data: result } = await batch('GENERATE_CODE', [
      { deviceId, reason: 'lost', validityDays: 3 },
      { deviceId, reason: 'lost again' },
    ]);
    const [first, second] = result.results;
    expect(first.data.oldActivationCode).toBe(activationCode);
    expect(second.data.oldActivationCode).toBe(first.data.activationCode);
    expect(second.data.version).toBe(first.data.version + 1);
    expect(Date.parse(first.data.expiresAt) - Date.parse(first.data.generatedAt)).toBe(3 * 86_400_000);
    expect(await detail(deviceId)).toMatchObject({ activationCode: second.data.activationCode });
  });

  it('keeps the order, and one failure does not affect the other items', async () => {
    const [active, inactive] = [await deviceIn('ACTIVE', daemon), await register(daemon)];
    const answer = await batch('LOCK', [
      'no object',
      { deviceId: active.deviceId },
      { reason: 'audit' },
      { deviceId: inactive.deviceId, reason: 'audit' },
      { deviceId: 'DEV-999999', reason: 'audit' },
      { serialNumber: 'unknown serial!', reason: 'audit' },
      { deviceId: active.deviceId, serialNumber: inactive.serialNumber, reason: 'audit' },
      { deviceId: active.deviceId, serialNumber: active.serialNumber, reason: 'audit' },
    ]);
    expect(answer).toMatchObject({ status: 200, code: 200, message: 'batch completed with partial failure' });
    expect(answer.data).toMatchObject({ total: 8, success: 1, failed: 7 });
    const results: { code: number; deviceId: string | null; serialNumber: string | null; data: unknown }[] =
      answer.data.results;
    expect(results.map(({ code }) => code)).toEqual([1001, 1001, 1001, 1001, 2001, 2001, 1001, 200]);
    expect(results.slice(0, 7).every(item => item.data === null)).toBe(true);
    expect(results.map(({ deviceId }) => deviceId)).toEqual([
      null,
      active.deviceId,
      null,
      inactive.deviceId,
      'DEV-999999',
      null,
      active.deviceId,
      active.deviceId,
    ]);
    expect(results[5]!.serialNumber).toBe('unknown serial!');
    expect(answer.data.results.map((item: { message: string }) => item.message)).toEqual([
      'a JSON object is required',
      'reason is required',
      'deviceId or serialNumber is required',
      expect.stringContaining('is not active'),
      'device does not exist',
      'device does not exist',
      'deviceId and serialNumber name different devices',
      'success',
    ]);
  });

  it('evaluates the second item of a device after the first', async () => {
    const { deviceId, serialNumber, activationCode } = await register(daemon);
    const item = { activationCode, userId: 'alice' };
    const { data: result } = await batch('ACTIVATE', [
      { deviceId, ...item },
      { serialNumber, ...item },
    ]);
    expect(result.results.map(({ code }: { code: number }) => code)).toEqual([200, 2002]);
  });

  it('is one commit: its events follow each other and have the request of the batch', async () => {
    const devices = await Promise.all(Array.from({ length: 5 }, () => deviceIn('ACTIVE', daemon)));
    const answer = await batch(
      'LOCK',
      devices.map(({ deviceId }) => ({ deviceId, reason: 'audit' })),
    );
    const times = new Set(answer.data.results.map((item: { data: { lockedAt: string } }) => item.data.lockedAt));
    expect(times.size).toBe(1);
  });

  it('shows changes made at the same moment as some sequence of them', async () => {
    const devices = await Promise.all(Array.from({ length: 20 }, () => deviceIn('ACTIVE', daemon)));
    const items = devices.map(({ deviceId }) => ({ deviceId, reason: 'audit' }));
    const [one, other, ...single] = await Promise.all([
      batch('LOCK', items),
      batch('LOCK', items.toReversed()),
      ...devices.map(({ deviceId }) => daemon.call('POST', `/api/devices/${deviceId}/lock`, { reason: 'single' })),
    ]);
    const locks = one.data.success + other.data.success + single.filter(({ code }) => code === 200).length;
    expect(locks).toBe(20);
  });
});

describe('a deactivation of many', () => {
  it('requires the password of an administrator, once, before anything is changed', async () => {
    const { deviceId } = await register(daemon);
    const items = [{ deviceId, reason: 'worn out' }];
    expect(await batch('DEACTIVATE', items)).toMatchObject({ code: 1001, message: 'confirmPassword is required' });
    expect(await batch('DEACTIVATE', items, { confirmPassword: 'wrong' })).toMatchObject({ status: 403, code: 1003 });
    expect(await detail(deviceId)).toMatchObject({ status: 'INACTIVE' });
  });
});

describe('limits of a batch', () => {
  it('takes 1 to 1,000 items, and only the operations it names', async () => {
    const item = { deviceId: 'DEV-999999', reason: 'audit' };
    expect(await batch('LOCK', [])).toMatchObject({ code: 1001 });
    expect(
      await batch(
        'LOCK',
        Array.from({ length: 1001 }, () => item),
      ),
    ).toMatchObject({ code: 1001 });
    expect(
      await batch(
        'LOCK',
        Array.from({ length: 1000 }, () => item),
      ),
    ).toMatchObject({ code: 200 });
    expect(await batch('REGISTER', [item])).toMatchObject({ code: 1001 });
    expect(await batch('LOCK', item)).toMatchObject({ code: 1001, message: 'items must be an array' });
  });

  it('is refused to a VIEWER', async () => {
    const { token } = await daemon.user('batch-viewer', 'VIEWER');
    expect(await batch('LOCK', [{ deviceId: 'DEV-1', reason: 'audit' }], {}, token)).toMatchObject({ code: 2007 });
  });
});
