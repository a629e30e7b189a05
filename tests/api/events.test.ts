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
  readonly timestamp: string;
  readonly actor?: object;
  readonly changes?: readonly object[];
  readonly data: { readonly deviceId?: string };
}
const firstAccount = { userId: 'USR-1', username: 'admin' };
const ask = (query: string) => daemon.call('GET', `/api/events?${query}`);
const events = async (query: string): Promise<{ list: Event[]; head: number }> => data(await ask(query));
const ids = async (query: string) => (await events(query)).list.map(({ id }) => id);

describe('GET /api/events', () => {
  it('has the first account on a new registry, and nothing for a VIEWER', async () => {
    const first = { list: [expect.objectContaining({ type: 'USER_CREATED', data: firstAccount })], head: 1 };
    expect(await events('')).toEqual(first);
    expect(await events('before=100')).toEqual(first);
    const { token } = await daemon.user('first-reader', 'VIEWER');
    for (const query of ['', 'before=100'])
      expect(data(await daemon.call('GET', `/api/events?${query}`, undefined, { token }))).toEqual({
        list: [],
        head: 0,
      });
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

  it('are in the details of a device if the request has `events`, the newest first', async () => {
    const { deviceId } = await deviceIn('LOCKED', daemon);
    const { list } = await events(`deviceId=${deviceId}`);
    const detail = async (query: string) => data(await daemon.call('GET', `/api/devices/${deviceId}${query}`));
    expect((await detail('?events=2')).events).toEqual(list.toReversed().slice(0, 2));
    expect((await detail('?events=100')).events).toEqual(list.toReversed());
    expect(await detail('')).not.toHaveProperty('events');
    expect((await daemon.call('GET', `/api/devices/${deviceId}?events=101`)).code).toBe(1001);
    const viewer = await daemon.user('reader', 'VIEWER');
    const { events: shown } = data(
      await daemon.call('GET', `/api/devices/${deviceId}?events=1`, undefined, { token: viewer.token }),
    );
    expect(shown[0]).not.toHaveProperty('actor');
  });

  it('has, for an ADMIN, the name and kind of who made each change', async () => {
    const service = data(
      await daemon.call('POST', '/api/tokens', { name: 'line-9', role: 'DEALER', expiresInDays: 1 }),
    );
    const { deviceId } = await register(daemon);
    await daemon.call('PUT', `/api/devices/${deviceId}`, { note: 'seen' }, { token: service.token });
    const actors = (await events(`deviceId=${deviceId}`)).list.map(({ actor }) => actor);
    expect(actors).toEqual([
      { name: 'admin', kind: 'user' },
      { name: 'token:line-9', kind: 'token' },
    ]);
    expect(await ids(`deviceId=${deviceId}&actor=token:line-9`)).toHaveLength(1);
    expect(await ids(`deviceId=${deviceId}&actor=carol`)).toEqual([]);
  });

  it.each(['DEALER', 'VIEWER'] as const)('does not show a %s who made a change, in a list or a stream', async role => {
    const { token } = await daemon.user(`curious-${role.toLowerCase()}`, role);
    const { head } = await events('');
    const stream = await openStream(daemon.url, { token, since: head });
    await register(daemon);
    await stream.until(1);
    expect(stream.frames[0]).not.toHaveProperty('actor');
    const { list } = data(await daemon.call('GET', `/api/events?after=${head}`, undefined, { token }));
    expect(list).toEqual(stream.frames);
    for (const query of ['actor=admin', 'from=2026-01-01T00:00:00Z', 'to=2026-01-01T00:00:00Z'])
      expect(await daemon.call('GET', `/api/events?${query}`, undefined, { token })).toMatchObject({ code: 2007 });
    stream.ws.terminate();
  });

  it('has no names any more for an ADMIN who became a DEALER while the stream was open', async () => {
    const { id, token } = await daemon.user('demoted', 'ADMIN');
    const stream = await openStream(daemon.url, { token, types: 'DEVICE_REGISTERED' });
    const next = async () => {
      const seen = stream.frames.length;
      await register(daemon);
      await stream.until(seen + 1);
      return 'actor' in stream.frames[seen]!;
    };
    expect(await next()).toBe(true);
    await daemon.call('PUT', `/api/users/${id}`, { role: 'DEALER' });
    await expect.poll(next).toBe(false);
    stream.ws.terminate();
  });

  it('has the fields that an update has changed, and the first 200 characters of a long note', async () => {
    const { deviceId } = await register(daemon, { tags: { lot: '7' } });
    const put = (body: object) => daemon.call('PUT', `/api/devices/${deviceId}`, body);
    await put({ firmwareVersion: '1.0.4', tags: { lot: '8', box: '1' } });
    await put({ firmwareVersion: '1.0.4', note: '\u{1f511}'.repeat(201) });
    await put({ note: null });
    const { list } = await events(`deviceId=${deviceId}&types=DEVICE_UPDATED`);
    const long = `${'\u{1f511}'.repeat(200)}…`;
    expect(list.map(({ changes }) => changes)).toEqual([
      [
        { field: 'firmwareVersion', before: null, after: '1.0.4' },
        { field: 'tags', before: { lot: '7' }, after: { box: '1', lot: '8' } },
      ],
      [{ field: 'note', before: null, after: long }],
      [{ field: 'note', before: long, after: null }],
    ]);
    expect((await events(`deviceId=${deviceId}`)).list[0]).not.toHaveProperty('changes');
  });

  it('selects a time: from is included, to is not', async () => {
    const { deviceId } = await deviceIn('ACTIVE', daemon);
    const [first, second] = (await events(`deviceId=${deviceId}`)).list as [Event, Event];
    const of = (query: string) => ids(`deviceId=${deviceId}&${query}`);
    expect(await of(`from=${second.timestamp}`)).toContain(second.id);
    expect(await of(`to=${second.timestamp}`)).not.toContain(second.id);
    expect(await of('from=2000-01-01T00:00:00Z&to=2100-01-01T00:00:00Z')).toEqual([first.id, second.id]);
    expect(await of('from=2100-01-01T00:00:00Z')).toEqual([]);
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

  it.each([
    'limit=0',
    'limit=1001',
    'after=-1',
    'after=x',
    'before=1.5',
    'types=DEVICE_USED',
    'types=,',
    'from=1h',
    'to=2026-01-01',
  ])('refuses %s with 1001 and the name of the parameter', async query => {
    const answer = await ask(query);
    expect(answer).toMatchObject({ status: 400, code: 1001 });
    expect(answer.message).toContain(query.split('=')[0]);
  });

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
