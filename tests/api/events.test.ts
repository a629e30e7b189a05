import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { data, deviceIn, register, upload } from '../support/fleet.ts';
import { openStream } from '../support/stream-client.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon();
});
afterAll(() => daemon?.stop());

interface Event {
  readonly id: number;
  readonly type: string;
  readonly data: { readonly deviceId?: string };
}
const ask = (query: string) => daemon.call('GET', `/api/events?${query}`);
const events = async (query: string): Promise<{ list: Event[]; head: number }> => data(await ask(query));
const ids = async (query: string) => (await events(query)).list.map(({ id }) => id);

describe('GET /api/events', () => {
  it('is empty on a new registry, whose journal has private entries only', async () => {
    expect(await events('')).toEqual({ list: [], head: 0 });
    expect(await events('before=100')).toEqual({ list: [], head: 0 });
  });

  it('returns events exactly as the stream sends them', async () => {
    const { head } = await events('');
    const stream = await openStream(daemon.url, { token: daemon.adminToken, since: head });
    const { deviceId } = await deviceIn('LOCKED', daemon);
    await daemon.call('POST', '/api/users', { username: 'private', password: 'correct horse battery', role: 'VIEWER' });
    await upload(daemon);
    await stream.untilSome(({ type }) => type === 'APP_VERSION_UPLOADED');
    const found = await events(`after=${head}`);
    expect(found.list).toEqual(stream.frames);
    expect(found.head).toBe(found.list.at(-1)!.id);
    expect(await events(`deviceId=${deviceId}`)).toEqual({
      list: found.list.filter(event => event.data.deviceId === deviceId),
      head: found.head,
    });
    stream.ws.terminate();
  });

  it('ascends from after, and descends from before; both are exclusive', async () => {
    const { deviceId } = await deviceIn('LOCKED', daemon);
    const all = await ids(`deviceId=${deviceId}`);
    expect(all).toHaveLength(3);
    const [first, second, third] = all;
    expect(await ids(`deviceId=${deviceId}&after=${first}`)).toEqual([second, third]);
    expect(await ids(`deviceId=${deviceId}&after=${first}&limit=1`)).toEqual([second]);
    expect(await ids(`deviceId=${deviceId}&before=${third}`)).toEqual([second, first]);
    expect(await ids(`deviceId=${deviceId}&before=999999999&limit=2`)).toEqual([third, second]);
    expect(await ids(`deviceId=${deviceId}&before=${third}&after=${first}`)).toEqual([second]);
    expect(await ids(`after=${(await events('')).head}`)).toEqual([]);
  });

  it('filters by type; KEY_* have no past', async () => {
    const { deviceId } = await deviceIn('LOCKED', daemon);
    const { list } = await events(`deviceId=${deviceId}&types=DEVICE_LOCKED,%20DEVICE_REGISTERED`);
    expect(list.map(({ type }) => type)).toEqual(['DEVICE_REGISTERED', 'DEVICE_LOCKED']);
    expect(await ids(`deviceId=${deviceId}&types=KEY_ATTACHED`)).toEqual([]);
  });

  it('returns 100 events unless limit is set', async () => {
    const devices = Array.from({ length: 150 }, (_, i) => ({
      deviceType: 'UKEY',
      serialNumber: `E-${i}`,
      manufacturer: 'M',
      model: 'X',
    }));
    await daemon.call('POST', '/api/devices/batch-register', { devices });
    expect(await ids('')).toHaveLength(100);
    expect((await ids('limit=1000')).length).toBeGreaterThan(150);
  });

  it.each(['limit=0', 'limit=1001', 'after=-1', 'after=x', 'before=1.5', 'types=DEVICE_USED', 'types=,'])(
    'refuses %s with 1001 and the name of the parameter',
    async query => {
      const answer = await ask(query);
      expect(answer).toMatchObject({ status: 400, code: 1001 });
      expect(answer.message).toContain(query.split('=')[0]);
    },
  );

  it.each(['DEV-999999', 'nothing'])('refuses the unknown device %s with 2001', async deviceId => {
    expect(await ask(`deviceId=${deviceId}`)).toMatchObject({ status: 404, code: 2001 });
  });
});

describe('a stream of one device', () => {
  it('carries its past and its new events, and no others', async () => {
    const { deviceId } = await deviceIn('ACTIVE', daemon);
    await register(daemon);
    const stream = await openStream(daemon.url, { token: daemon.adminToken, deviceId, since: 0 });
    await stream.until(2);
    await register(daemon);
    await daemon.call('POST', `/api/devices/${deviceId}/lock`, { reason: 'audit' });
    await stream.until(3);
    expect(stream.frames.map(({ type }) => type)).toEqual(['DEVICE_REGISTERED', 'DEVICE_ACTIVATED', 'DEVICE_LOCKED']);
    expect(new Set(stream.frames.map(frame => frame.data.deviceId))).toEqual(new Set([deviceId]));
    stream.ws.terminate();
  });

  it('is refused for an unknown device with 2001', async () => {
    const refused = await daemon.call('GET', '/api/ws/notifications?deviceId=DEV-999999');
    expect(refused).toMatchObject({ status: 404, code: 2001 });
  });
});
