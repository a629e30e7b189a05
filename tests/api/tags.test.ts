/** Tags of devices at registration, in changes, in lists and exports. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { data, deviceIn, register, registration } from '../support/fleet.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon();
});
afterAll(() => daemon?.stop());

const names = (count: number) => Array.from({ length: count }, (_, i) => `t${i}`);
const many = (count: number) => Object.fromEntries(names(count).map(name => [name, 'x']));
const put = (deviceId: string, body: object) => daemon.call('PUT', `/api/devices/${deviceId}`, body);
const tagsOf = async (deviceId: string) => data(await daemon.call('GET', `/api/devices/${deviceId}`)).tags;
const listed = async (query: string) => data(await daemon.call('GET', `/api/devices/list?${query}`));
const exported = async (query: string) =>
  (
    await fetch(`${daemon.url}/api/devices/export?${query}`, {
      headers: { authorization: `Bearer ${daemon.adminToken}` },
    })
  ).text();
const refusal = async (answer: Promise<{ status: number; code: number; message: string; data: unknown }>) => {
  const { status, code, message, data: none } = await answer;
  expect({ status, code, none }).toEqual({ status: 400, code: 1001, none: null });
  return message;
};

/** Tags that no request may have, and the message about them. */
const malformed: readonly (readonly [tags: unknown, words: string])[] = [
  ['lot:7', 'tags must be an object'],
  [['lot'], 'tags must be an object'],
  [7, 'tags must be an object'],
  [{ Lot: '7' }, 'tags has a name that is not'],
  [{ '7': 'x' }, 'tags has a name that is not'],
  [{ '': 'x' }, 'tags has a name that is not'],
  [{ 'lot ': 'x' }, 'tags has a name that is not'],
  [{ ['a'.repeat(33)]: 'x' }, 'tags has a name that is not'],
  [{ lot: 7 }, 'tags.lot must be a string'],
  [{ lot: { value: '7' } }, 'tags.lot must be a string'],
  [{ lot: 'x'.repeat(129) }, 'tags.lot is longer than 128 characters'],
  [{ lot: 'a\nb' }, 'tags.lot contains a control character'],
  [{ lot: 'a\u202eb' }, 'tags.lot contains an invisible'],
  [{ lot: '\ud800' }, 'tags.lot contains an unpaired surrogate'],
];

describe('tags at registration', () => {
  it('are trimmed, stored, and shown in details and lists; a device without any has {}', async () => {
    const tags = { shelf: ' b 4 ', constructor: '=1', lot: 'ü:🔑', ['z'.repeat(32)]: '🔑'.repeat(128), 'a_-9': "'" };
    const { deviceId, serialNumber } = await register(daemon, { tags });
    const stored = { ...tags, shelf: 'b 4' };
    expect(await tagsOf(deviceId)).toEqual(stored);
    expect(Object.keys(await tagsOf(deviceId))).toEqual(Object.keys(stored).sort());
    expect((await listed(`serialNumber=${serialNumber}`)).list[0].tags).toEqual(stored);
    for (const without of [{}, { tags: {} }, { tags: null }]) {
      const { deviceId } = await register(daemon, without);
      expect(await tagsOf(deviceId)).toEqual({});
    }
  });

  it('are at most 16', async () => {
    const { deviceId } = await register(daemon, { tags: many(16) });
    expect(await tagsOf(deviceId)).toEqual(many(16));
    const body = registration({ tags: many(17) });
    expect(await refusal(daemon.call('POST', '/api/devices/register', body))).toContain('tags must have at most 16');
  });

  it.each([...malformed, [{ lot: '' }, 'tags.lot is required'], [{ lot: null }, 'tags.lot']] as const)(
    'refuse %j with 1001 and the name of the field, alone and in a batch',
    async (tags, words) => {
      const body = registration({ tags });
      expect(await refusal(daemon.call('POST', '/api/devices/register', body))).toContain(words);
      const answer = await daemon.call('POST', '/api/devices/batch-register', { devices: [body, registration()] });
      const [failed, fine] = data(answer).results;
      expect(failed).toMatchObject({ status: 'failed', code: 1001 });
      expect(failed.message).toContain(words);
      expect(fine.status).toBe('success');
    },
  );

  it('refuse __proto__ with 1001', async () => {
    const text = JSON.stringify(registration()).replace('{', '{"tags":{"__proto__":"x"},');
    const response = await fetch(`${daemon.url}/api/devices/register`, {
      method: 'POST',
      headers: { authorization: `Bearer ${daemon.adminToken}`, 'content-type': 'application/json' },
      body: text,
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: 1001, data: null });
  });

  it('are part of a batch', async () => {
    const devices = [registration({ tags: { lot: 'batch' } }), registration()];
    const { results } = data(await daemon.call('POST', '/api/devices/batch-register', { devices }));
    expect(await tagsOf(results[0].deviceId)).toEqual({ lot: 'batch' });
    expect(await tagsOf(results[1].deviceId)).toEqual({});
  });
});

describe('a change of tags', () => {
  it('sets and removes the named tags, keeps the others, and returns all', async () => {
    const { deviceId } = await register(daemon, { tags: { lot: '7', shelf: 'b' } });
    const answer = await put(deviceId, { tags: { shelf: null, zone: ' n ', lot: '8', none: null } });
    expect(data(answer)).toEqual({
      deviceId,
      firmwareVersion: null,
      note: null,
      tags: { lot: '8', zone: 'n' },
      updatedAt: expect.any(String),
      version: 2,
    });
    expect(await tagsOf(deviceId)).toEqual({ lot: '8', zone: 'n' });
    expect(data(await put(deviceId, { note: 'n' })).tags).toEqual({ lot: '8', zone: 'n' });
    expect(data(await put(deviceId, { tags: {} })).tags).toEqual({ lot: '8', zone: 'n' });
    expect(data(await put(deviceId, { tags: { lot: '  ', zone: null } })).tags).toEqual({});
    expect(await tagsOf(deviceId)).toEqual({});
  });

  it('leaves at most 16', async () => {
    const { deviceId } = await register(daemon, { tags: many(15) });
    expect(Object.keys(data(await put(deviceId, { tags: { one: 'x' } })).tags)).toHaveLength(16);
    expect(await refusal(put(deviceId, { tags: { two: 'x' } }))).toContain('tags');
    expect(await refusal(put(deviceId, { tags: many(33) }))).toContain('tags must have at most 32');
    const swap = { ...Object.fromEntries(names(15).map(name => [name, null])), one: null };
    const others = Object.fromEntries(names(16).map(name => [`u${name}`, 'y']));
    expect(data(await put(deviceId, { tags: { ...swap, ...others } })).tags).toEqual(others);
  });

  it.each(malformed)('refuses %j with 1001 and the name of the field', async (tags, words) => {
    const { deviceId } = await register(daemon, { tags: { lot: '7' } });
    expect(await refusal(put(deviceId, { note: 'n', tags }))).toContain(words);
    expect(await tagsOf(deviceId)).toEqual({ lot: '7' });
  });

  it('is refused like any update if the device is locked or deactivated, also beyond 16 tags', async () => {
    for (const [state, code] of [['LOCKED', 2004] as const, ['DEACTIVATED', 2005] as const]) {
      const { deviceId } = await deviceIn(state, daemon);
      expect(await put(deviceId, { tags: { lot: '7' } })).toMatchObject({ status: 400, code });
      expect(await put(deviceId, { tags: many(17) })).toMatchObject({ status: 400, code });
      expect(await tagsOf(deviceId)).toEqual({});
    }
  });

  it('names tags among the fields if there is nothing to change', async () => {
    const { deviceId } = await register(daemon);
    expect(await refusal(put(deviceId, {}))).toContain('tags');
    expect(await refusal(put(deviceId, { tags: null }))).toContain('tags');
  });

  it('is not part of the notification', async () => {
    const { deviceId } = await register(daemon, { tags: { lot: 'secret' } });
    await put(deviceId, { tags: { lot: 'secret 2' } });
    const { list } = data(await daemon.call('GET', `/api/events?deviceId=${deviceId}`));
    expect(list.map(({ data }: { data: object }) => Object.keys(data).sort())).toEqual([
      ['deviceId', 'deviceType', 'serialNumber'],
      ['deviceId', 'deviceType'],
    ]);
  });
});

describe('the filter tag', () => {
  const serials = async (query: string) => {
    const { list, pagination } = await listed(`${query}&sortBy=deviceId&sortOrder=asc`);
    const found = list.map((item: { serialNumber: string }) => item.serialNumber);
    expect(pagination.total).toBe(found.length);
    const lines = (await exported(query)).trimEnd().split('\n').slice(0, -1);
    expect(lines.map(line => JSON.parse(line).serialNumber)).toEqual(found);
    return found;
  };

  it('selects devices that have every tag, with the other filters', async () => {
    const both = await register(daemon, { tags: { 'f-lot': '7', 'f-shelf': 'a:b,c' } });
    const one = await register(daemon, { tags: { 'f-lot': '7', 'f-shelf': 'a' }, deviceType: 'SIMKEY' });
    await register(daemon, { tags: { 'f-lot': '77' } });
    expect(await serials('tag=f-lot:7')).toEqual([both.serialNumber, one.serialNumber]);
    expect(await serials('tag=f-lot:7&tag=f-shelf:a')).toEqual([one.serialNumber]);
    expect(await serials('tag=f-lot:7&tag=f-lot:7&tag=f-shelf:a:b,c')).toEqual([both.serialNumber]);
    expect(await serials('tag=f-lot:7&tag=f-lot:77')).toEqual([]);
    expect(await serials('tag=%20f-lot:%207%20&deviceType=UKEY')).toEqual([both.serialNumber]);
    expect(await serials('tag=f-lot:unknown')).toEqual([]);
    await put(one.deviceId, { tags: { 'f-lot': null } });
    expect(await serials('tag=f-lot:7')).toEqual([both.serialNumber]);
  });

  it.each([
    'tag=lot',
    'tag=lot:',
    'tag=:7',
    'tag=Lot:7',
    'tag=lot=7',
    `tag=lot:${'x'.repeat(129)}`,
    'tag=lot:a%0Ab',
    'tag=lot:7&tag=7',
    'tag=lot:7&tag=',
    Array.from({ length: 17 }, (_, i) => `tag=t${i}:x`).join('&'),
  ])('refuses %s with 1001 and the name of the parameter', async query => {
    for (const path of ['list', 'export'])
      expect(await refusal(daemon.call('GET', `/api/devices/${path}?${query}`))).toMatch(/^tag /);
  });
});

describe('an export', () => {
  it('has the tags in NDJSON exactly, and as columns in CSV', async () => {
    const tags = { 'e-b': '=1+1', 'e-a': 'x, "y"' };
    const first = await register(daemon, { tags, manufacturer: 'export of tags' });
    const second = await register(daemon, { tags: { 'e-c': '7' }, manufacturer: 'export of tags' });
    const query = 'manufacturer=export%20of%20tags';
    const [line] = (await exported(query)).split('\n');
    expect(JSON.parse(line!)).toMatchObject({ serialNumber: first.serialNumber, tags });
    const [header, a, b, end] = (await exported(`${query}&format=csv`)).split('\r\n');
    expect(header).toMatch(/,lastUsedAt,tag:e-a,tag:e-b,tag:e-c$/);
    expect(a).toMatch(/,,,"x, ""y""",'=1\+1,$/);
    expect(b).toMatch(/,,,,,7$/);
    expect(end).toBe('');
    expect((await exported(`format=csv&serialNumber=${second.serialNumber}`)).split('\r\n')[0]).toMatch(
      /,lastUsedAt,tag:e-c$/,
    );
    expect((await exported('format=csv&serialNumber=unknown')).split('\r\n')).toEqual([
      expect.stringMatching(/,lastUsedAt$/),
      '',
    ]);
  });

  it('as CSV is refused with 1001 if the devices have more than 1,000 names of tags; others are not in the way', async () => {
    const devices = Array.from({ length: 63 }, (_, i) =>
      registration({
        manufacturer: 'many names',
        tags: Object.fromEntries(names(16).map(name => [`m${i}-${name}`, 'x'])),
      }),
    );
    await daemon.call('POST', '/api/devices/batch-register', { devices });
    for (let i = 0; i < 5; i++)
      expect(await refusal(daemon.call('GET', '/api/devices/export?format=csv'))).toContain('format');
    expect((await exported('format=csv&tag=m1-t0:x')).split('\r\n')[0]!.split(',')).toHaveLength(11 + 16);
    expect((await exported('manufacturer=many%20names')).trimEnd().split('\n')).toHaveLength(64);
  });
});
