import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { journalEventTypes } from '../../src/contract/event-types.ts';
import { adminPassword, startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { openStream } from '../support/stream-client.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon();
});
afterAll(() => daemon.stop());

const call = async (method: string, path: string, body?: unknown) => {
  const response = await daemon.call(method, path, body);
  expect(response.message).toBe('success');
  return response.data;
};

async function upload(): Promise<string> {
  const form = new FormData();
  form.set('platform', 'ANDROID');
  form.set('version', '1.2.3');
  form.set('file', new Blob(['package']), 'app.apk');
  const response = await daemon.call('POST', '/api/app-versions/upload', undefined, { raw: form });
  return response.data.versionId;
}

describe('an operation that changes something', () => {
  it('sends one notification with the data of its type and without a code, password or token', async () => {
    const client = await openStream(daemon.url, { token: daemon.adminToken });
    const key = { deviceType: 'SIMKEY', serialNumber: 'N-1', manufacturer: 'M', model: 'X' };
    const { deviceId, activationCode } = await call('POST', '/api/devices/register', key);
    const at = `/api/devices/${deviceId}`;
    await call('POST', '/api/devices/activate', { deviceId, activationCode, userId: 'alice' });
    await call('PUT', at, { note: 'secret note' });
    const next = await call('POST', '/api/devices/generate-activation-code', { deviceId, reason: 'why' });
    await call('POST', `${at}/usage`, { durationSeconds: 3 });
    await call('POST', `${at}/lock`, { reason: 'lost' });
    await call('POST', `${at}/unlock`);
    await call('POST', `${at}/deactivate`, { reason: 'gone', confirmPassword: adminPassword });
    const versionId = await upload();

    const frames = await client.untilSome(frame => frame.type === 'APP_VERSION_UPLOADED').then(() => client.frames);
    const device = { deviceId, deviceType: 'SIMKEY' };
    expect(frames.map(({ type, data }) => [type, data])).toEqual([
      ['DEVICE_REGISTERED', { ...device, serialNumber: 'N-1' }],
      ['DEVICE_ACTIVATED', { ...device, userId: 'alice' }],
      ['DEVICE_UPDATED', device],
      ['ACTIVATION_CODE_GENERATED', device],
      ['DEVICE_LOCKED', { ...device, lockReason: 'lost' }],
      ['DEVICE_UNLOCKED', device],
      ['DEVICE_DEACTIVATED', device],
      ['APP_VERSION_UPLOADED', { versionId, platform: 'ANDROID', version: '1.2.3' }],
    ]);
    // Events about persons: people.test.ts and provisioning-refused.test.ts; events about receipts: contract/store/receipt-rules.ts; about
    // identities: identity.test.ts; about cases: people-cases.test.ts; about the standing check: delivery/leavers.test.ts;
    // about keys that are sent or lost: those of holders, and people-retention.test.ts.
    const types = journalEventTypes.filter(
      type =>
        !/^(PERSON|PEOPLE|CASE|PROVISIONING|RECEIPT|LOAN|SHIPMENT|DEVICE_(?:IDENTITY|LOST|SHIPPED))(_|$)/.test(type),
    );
    expect(new Set(frames.map(frame => frame.type))).toEqual(new Set(types));
    expect(frames[2]).toMatchObject({ changes: [{ field: 'note', before: null, after: 'secret note' }] });
    const sent = JSON.stringify(frames.map(({ data }) => data));
    for (const secret of [activationCode, next.activationCode, adminPassword, daemon.adminToken, 'secret note'])
      expect(sent).not.toContain(secret);
    client.ws.terminate();
  });

  it('sends no notification if it is refused', async () => {
    const client = await openStream(daemon.url, { token: daemon.adminToken });
    await daemon.call('POST', '/api/devices/DEV-1/lock', { reason: 'again' });
    await daemon.call('POST', '/api/devices/register', { deviceType: 'UKEY' });
    const key = { deviceType: 'UKEY', serialNumber: 'N-2', manufacturer: 'M', model: 'X' };
    await call('POST', '/api/devices/register', key);
    expect((await client.until(1))[0]!.data.serialNumber).toBe('N-2');
    client.ws.terminate();
  });

  it('is replayed after the daemon was restarted', async () => {
    await daemon.restart();
    const client = await openStream(daemon.url, { token: daemon.adminToken, since: 0 });
    await client.untilSome(({ data }) => data.serialNumber === 'N-2');
    const { frames } = client;
    expect(frames[0]).toMatchObject({ type: 'USER_CREATED', data: { username: 'admin' } });
    expect(frames).toHaveLength(10);
    expect(frames.map(frame => frame.id)).toEqual([...frames.map(frame => frame.id!)].sort((a, b) => a - b));
    expect(frames.at(-1)!.data.serialNumber).toBe('N-2');
    client.ws.terminate();
  });
});

describe('every role', () => {
  it.each(['ADMIN', 'DEALER', 'VIEWER'] as const)('%s sees the stream', async role => {
    const { token } = await daemon.user(`stream-${role}`, role);
    const client = await openStream(daemon.url, { token, since: 0 });
    const first = role === 'ADMIN' ? 'USER_CREATED' : 'DEVICE_REGISTERED';
    expect((await client.until(1))[0]!.type).toBe(first);
    client.ws.terminate();
  });
});

describe('a stream is closed with 4401', () => {
  it('when an administrator disables its user', async () => {
    const { id, token } = await daemon.user('to-disable', 'VIEWER');
    const client = await openStream(daemon.url, { token });
    await call('PUT', `/api/users/${id}`, { disabled: true });
    expect((await client.closed).code).toBe(4401);
  });

  it('when its user changes the password', async () => {
    const { id, token } = await daemon.user('to-change', 'VIEWER');
    const client = await openStream(daemon.url, { token });
    const passwords = { oldPassword: adminPassword, password: 'another horse battery' };
    await daemon.call('POST', `/api/users/${id}/password`, passwords, { token });
    expect((await client.closed).code).toBe(4401);
  });
});

it('a stream is closed with 1001 when the daemon stops', async () => {
  const client = await openStream(daemon.url, { token: daemon.adminToken });
  await daemon.restart();
  expect((await client.closed).code).toBe(1001);
});
