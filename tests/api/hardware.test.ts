import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { openStream, refusedUpgrade } from '../support/stream-client.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon({ simulateKeys: 2 });
});
afterAll(() => daemon.stop());

const keys = async (token = daemon.adminToken) =>
  (await daemon.call('GET', '/api/hardware/keys', undefined, { token })).data;
const localToken = async () => (await readFile(join(daemon.home, 'local-token'), 'utf8')).trim();
const register = async (serialNumber: string) => {
  const device = { deviceType: 'UKEY', serialNumber, manufacturer: 'devmgr', model: 'Simulated UKEY' };
  return (await daemon.call('POST', '/api/devices/register', device)).data;
};

describe('GET /api/hardware/keys', () => {
  it('lists the attached keys with every field, and the drivers', async () => {
    const { list, drivers } = await keys();
    expect(list.map((key: { serialNumber: string }) => key.serialNumber)).toEqual(['SIM-UKEY-0001', 'SIM-SIMKEY-0002']);
    expect(list[0]).toEqual({
      keyId: expect.any(String),
      deviceType: 'UKEY',
      serialNumber: 'SIM-UKEY-0001',
      serialSource: expect.any(String),
      manufacturer: 'devmgr',
      model: 'Simulated UKEY',
      hardwareVersion: null,
      firmwareVersion: null,
      transport: 'HID',
      reader: null,
      vendorId: null,
      productId: null,
      attachedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*\.\d{3}Z$/),
      simulated: true,
      problem: null,
      claims: {},
      proof: null,
      proving: null,
      device: null,
    });
    expect(drivers).toContainEqual({ name: 'simulated', state: 'ready', detail: expect.stringMatching(/./) });
  });

  it('joins a key with the device that has its serial number', async () => {
    const { deviceId } = await register('SIM-SIMKEY-0002');
    const { list } = await keys();
    expect(list[1].device).toEqual({ deviceId, status: 'INACTIVE' });
  });

  it('is open to every role and to the local token, but not without a token', async () => {
    for (const role of ['ADMIN', 'DEALER', 'VIEWER'] as const) {
      const { token } = await daemon.user(`keys-${role}`, role);
      expect((await keys(token)).list).toHaveLength(2);
    }
    expect((await keys(await localToken())).list).toHaveLength(2);
    const anonymous = await daemon.call('GET', '/api/hardware/keys', undefined, { token: null });
    expect(anonymous).toMatchObject({ status: 401, code: 1004 });
  });
});

describe('the local token', () => {
  it('is valid for a stream of key events and the list of keys only', async () => {
    const token = await localToken();
    const client = await openStream(daemon.url, { token });
    await register('not-for-local');
    client.ws.close();
    await client.closed;
    expect(client.frames).toEqual([]);
    const query = `?token=${token}&types=DEVICE_REGISTERED`;
    expect(await refusedUpgrade(daemon.url, `/api/ws/notifications${query}`)).toMatchObject({
      status: 403,
      code: 2007,
    });
    expect(await daemon.call('GET', '/api/devices/list', undefined, { token })).toMatchObject({ code: 2007 });
  });
});

describe('the use of an attached key', () => {
  it('is recorded when the daemon stops, for an ACTIVE device only', async () => {
    const used = await register('SIM-UKEY-0001');
    const { deviceId, activationCode } = used;
    await daemon.call('POST', '/api/devices/activate', { deviceId, activationCode, userId: 'alice' });
    const unused = (await keys()).list[1].device.deviceId;
    await daemon.restart();
    const statistics = async (id: string) => (await daemon.call('GET', `/api/devices/${id}`)).data;
    const detail = await statistics(deviceId);
    expect(detail.statistics.totalUsageCount).toBe(1);
    expect(detail.lastUsedAt).not.toBeNull();
    expect((await statistics(unused)).statistics.totalUsageCount).toBe(0);
  });
});
