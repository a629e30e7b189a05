/** Versions of devices: what raises them, and changes that are based on one. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, adminPassword, startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { activation, backUp, data, deviceIn, form, register, type TestDevice } from '../support/fleet.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon();
});
afterAll(() => daemon?.stop());

const read = ({ deviceId }: TestDevice) => daemon.call('GET', `/api/devices/${deviceId}`);
const versionOf = async (device: TestDevice): Promise<number> => data(await read(device)).version;

type Sent = (device: TestDevice) => readonly [method: string, path: string, body: object];
const below =
  (path: string, body: object): Sent =>
  ({ deviceId }) => ['POST', `/api/devices/${deviceId}/${path}`, body];
const update: Sent = ({ deviceId }) => ['PUT', `/api/devices/${deviceId}`, { note: 'drawer 3' }];
const operations: Readonly<Record<string, readonly ['INACTIVE' | 'ACTIVE' | 'LOCKED', Sent]>> = {
  activate: ['INACTIVE', device => ['POST', '/api/devices/activate', activation(device)]],
  lock: ['ACTIVE', below('lock', { reason: 'reported lost' })],
  unlock: ['LOCKED', below('unlock', {})],
  deactivate: ['ACTIVE', below('deactivate', { reason: 'worn out', confirmPassword: adminPassword })],
  update: ['INACTIVE', update],
  'new activation code': [
    'INACTIVE',
    ({ deviceId }) => ['POST', '/api/devices/generate-activation-code', { deviceId, reason: 'code was lost' }],
  ],
};
const use = below('usage', { durationSeconds: 95 });
const sendBased = (device: TestDevice, sent: Sent, ifMatch: string, more: Readonly<Record<string, string>> = {}) =>
  daemon.call(...sent(device), { headers: { 'if-match': ifMatch, ...more } });

describe('the version of a device', () => {
  it('is 1 at first, and the details have it as their ETag', async () => {
    const device = await register(daemon);
    const { headers, data: details } = await read(device);
    expect([details.version, headers.get('etag')]).toEqual([1, '"1"']);
  });

  it('rises with each operation that changes the details, with a batch and a backup, but not with a use', async () => {
    for (const [state, sent] of Object.values(operations)) {
      const device = await deviceIn(state, daemon);
      const before = await versionOf(device);
      const written = await daemon.call(...sent(device));
      expect(data(written).version).toBe(before + 1);
      expect(written.headers.get('etag')).toBe(`"${before + 1}"`);
      expect(await versionOf(device)).toBe(before + 1);
    }
    const device = await deviceIn('ACTIVE', daemon);
    const before = await versionOf(device);
    expect(data(await daemon.call(...use(device))).version).toBe(before);
    expect(await versionOf(device)).toBe(before);
    await backUp(daemon, device.deviceId);
    expect(await versionOf(device)).toBe(before + 1);
    const items = [{ deviceId: device.deviceId, reason: 'reported lost' }];
    data(await daemon.call('POST', '/api/devices/batch-update', { operation: 'LOCK', items }));
    expect(await versionOf(device)).toBe(before + 2);
  });
});

it('is in the response to a write, with the ETag, also if the response is a stored one: the next write needs no read', async () => {
  const device = await register(daemon);
  let version = 1;
  for (const note of ['drawer 3', 'drawer 4']) {
    const headers = { 'if-match': `"${version}"`, 'idempotency-key': `note-${version}` };
    const sent = () => daemon.call('PUT', `/api/devices/${device.deviceId}`, { note }, { headers });
    for (const replayed of [null, 'true']) {
      const written = await sent();
      expect(written.headers.get('idempotent-replay')).toBe(replayed);
      expect([data(written).version, written.headers.get('etag')]).toEqual([version + 1, `"${version + 1}"`]);
    }
    version++;
  }
  expect(device).toMatchObject({ version: 1 });
});

describe('a client that has a copy', () => {
  const get = (path: string, tag: string, method = 'GET') =>
    fetch(daemon.url + path, {
      method,
      headers: { authorization: `Bearer ${daemon.adminToken}`, 'if-none-match': tag },
    });

  it('of a device gets 304 until the device has changed', async () => {
    const device = await register(daemon);
    const path = `/api/devices/${device.deviceId}`;
    const same = await get(path, '"1"');
    expect([same.status, same.headers.get('etag'), await same.text()]).toEqual([304, '"1"', '']);
    expect((await get(path, 'W/"1"')).status).toBe(304);
    expect((await get(`${path}?events=5`, '"1"')).status).toBe(200);
    data(await daemon.call(...update(device)));
    expect((await get(path, '"1"')).status).toBe(200);
  });

  it('of another record gets 304 by the digest of the response', async () => {
    const { personId } = data(await daemon.call('POST', '/api/people', { userName: 'copied' }));
    const path = `/api/people/${personId}`;
    const first = await get(path, '"none"');
    const tag = first.headers.get('etag')!;
    expect([first.status, tag]).toEqual([200, expect.stringMatching(/^"[\w-]{43}"$/)]);
    expect((await get(path, tag)).status).toBe(304);
    data(await daemon.call('POST', `${path}/leave`, { reason: 'end of contract' }));
    expect((await get(path, tag)).status).toBe(200);
  });

  it('of a page of a list, or of settings, gets 304 until something in it has changed', async () => {
    await register(daemon);
    for (const path of ['/api/devices/list?size=1&sortBy=createTime', '/api/policies/people', '/api/webhooks/list']) {
      const tag = (await get(path, '"none"')).headers.get('etag')!;
      expect([path, (await get(path, tag)).status, (await get(path, tag, 'HEAD')).status]).toEqual([path, 304, 304]);
    }
    const tag = (await get('/api/devices/list', '"none"')).headers.get('etag')!;
    await register(daemon);
    expect((await get('/api/devices/list', tag)).status).toBe(200);
    const document = await get('/api/openapi.json', '"none"');
    expect((await get('/api/openapi.json', document.headers.get('etag')!)).status).toBe(304);
    expect((await get('/api/openapi.json', '"none"', 'HEAD')).status).toBe(200);
  });

  it('asks with HEAD as with GET', async () => {
    const { deviceId } = await register(daemon);
    for (const path of [`/api/devices/${deviceId}`, '/api/devices/list?size=1', '/api/health', '/api/devices/DEV-0']) {
      const [whole, head] = [await get(path, '"none"'), await get(path, '"none"', 'HEAD')];
      expect([head.status, await head.text()]).toEqual([whole.status, '']);
      for (const name of ['content-type', 'content-length', 'etag'])
        expect(head.headers.get(name), `${name} of ${path}`).toBe(whole.headers.get(name));
    }
    expect((await get(`/api/devices/${deviceId}`, '"1"', 'HEAD')).status).toBe(304);
    expect((await get('/api/devices/lock', '"none"', 'HEAD')).status).toBe(404);
  });
});

describe('a change with If-Match', () => {
  it.each(Object.entries({ ...operations, use: ['ACTIVE', use] as const }))(
    '%s is carried out in the version, and in another one it is 412 with the ETag and changes nothing',
    async (_, [state, sent]) => {
      const device = await deviceIn(state, daemon);
      const { data: before } = await read(device);
      const refused = await sendBased(device, sent, `"${before.version + 1}"`);
      expect(refused).toMatchObject({ status: 412, code: 412, data: null });
      expect(refused.message).toContain(`version ${before.version} now`);
      expect(refused.headers.get('etag')).toBe(`"${before.version}"`);
      expect((await read(device)).data).toEqual(before);
      expect(await sendBased(device, sent, `"${before.version}"`)).toMatchObject({ status: 200, code: 200 });
    },
  );

  it('backs up and restores a device in the version only', async () => {
    const device = await deviceIn('ACTIVE', daemon);
    const version = await versionOf(device);
    const based = (path: string, ifMatch: string, raw?: FormData): Promise<Answer> =>
      daemon.call('POST', `/api/devices/${device.deviceId}/backups${path}`, undefined, {
        headers: { 'if-match': ifMatch },
        ...(raw ? { raw } : {}),
      });
    const file = () => form({}, { name: 'key.bin', content: 'sealed' });
    expect(await based('', `"${version + 1}"`, file())).toMatchObject({ status: 412, code: 412, data: null });
    expect((await based('', 'x', file())).code).toBe(1001);
    const { backupId } = data(await based('', `"${version}"`, file()));
    const refused = await based(`/${backupId}/restore`, `"${version}"`);
    expect([refused.code, refused.headers.get('etag')]).toEqual([412, `"${version + 1}"`]);
    expect((await based(`/${backupId}/restore`, `"${version + 1}"`)).code).toBe(200);
    expect((await read(device)).data.statistics.backupCount).toBe(1);
  });

  it('is 412 before the state of the device is looked at, and 2001 without a device', async () => {
    const device = await deviceIn('DEACTIVATED', daemon);
    const [, sent] = operations.deactivate!;
    expect((await sendBased(device, sent, '"1"')).code).toBe(412);
    expect((await sendBased({ ...device, deviceId: 'DEV-999999' }, sent, '"1"')).code).toBe(2001);
  });

  it.each(['1', '*', 'W/"1"', '"x"', '""', '"0"', '"01"', '"-1"', '"1.0"', '"1", "2"', `"${'9'.repeat(16)}"`])(
    'is 1001 if the header is %s',
    async ifMatch => {
      const device = await register(daemon);
      expect(await sendBased(device, update, ifMatch)).toMatchObject({ status: 400, code: 1001 });
      expect(await versionOf(device)).toBe(1);
    },
  );

  it('of several at the same time, one is carried out', async () => {
    const device = await register(daemon);
    const responses = await Promise.all(Array.from({ length: 8 }, () => sendBased(device, update, '"1"')));
    expect(responses.map(({ code }) => code).sort()).toEqual([200, ...Array.from({ length: 7 }, () => 412)]);
    expect(await versionOf(device)).toBe(2);
  });

  it('and an Idempotency-Key gets its response again, and after a 412 the key is free', async () => {
    const device = await register(daemon);
    const key = { 'idempotency-key': `versions-${device.deviceId}` };
    expect((await sendBased(device, update, '"2"', key)).code).toBe(412);
    const first = await sendBased(device, update, '"1"', key);
    const again = await sendBased(device, update, '"1"', key);
    expect([first.code, again.data, again.headers.get('idempotent-replay')]).toEqual([200, first.data, 'true']);
    expect((await sendBased(device, update, '"3"', key)).code).toBe(1001);
    expect(await versionOf(device)).toBe(2);
  });
});
