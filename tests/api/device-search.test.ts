import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { data, register } from '../support/fleet.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon();
  const add = (serialNumber: string, manufacturer: string, model: string, tags: object) =>
    register(daemon, { serialNumber, manufacturer, model, tags });
  const first = await add('SEARCH-1', 'Yubico', 'YubiKey 5C', { site: 'Bonn' });
  await add('SEARCH-2', 'Nitrokey', 'Nitrokey 3A', { site: 'Köln' });
  await add('SEARCH-3', 'Yubico', 'Security Key', { site: 'Bonn', lot: '2026-43' });
  data(
    await daemon.call('POST', '/api/people', {
      userName: 'ada.l',
      name: 'Ada Lovelace',
      email: 'countess@example.com',
    }),
  );
  const { deviceId, activationCode } = first;
  data(await daemon.call('POST', '/api/devices/activate', { deviceId, activationCode, userId: 'ada.l' }));
  data(await daemon.call('PUT', `/api/devices/${deviceId}`, { note: 'lent until May' }));
});
afterAll(() => daemon?.stop());

const path = (search: string) => `search=${encodeURIComponent(search)}`;
const listed = async (search: string, token = daemon.adminToken) =>
  data(
    await daemon.call('GET', `/api/devices/list?sortBy=deviceId&sortOrder=asc&${path(search)}`, undefined, { token }),
  ).list.map(({ serialNumber }: { serialNumber: string }) => serialNumber.slice(-1));
const exported = async (search: string, token = daemon.adminToken) => {
  const response = await fetch(`${daemon.url}/api/devices/export?format=ndjson&${path(search)}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const lines = (await response.text()).trimEnd().split('\n');
  return lines.slice(0, -1).map(line => JSON.parse(line).serialNumber.slice(-1));
};

describe('a search of devices', () => {
  it.each([
    ['yubico', ['1', '3']],
    ['NITROKEY', ['2']],
    ['YubiKey 5C', ['1']],
    ['"Security key"', ['3']],
    ['site:bonn', ['1', '3']],
    ['site:KÖLN', ['2']],
    ['lot:2026-43', ['3']],
    ['tag:bonn maker:yub', ['1', '3']],
    ['tag:yubico', []],
    ['maker:bonn', []],
    ['ada.l', ['1']],
    ['person:lovelace', ['1']],
    ['lent may', ['1']],
    ['search- security', ['3']],
    ['countess', []],
  ])('finds by %s in the list and the export', async (search, wanted) => {
    expect(await listed(search)).toEqual(wanted);
    expect(await exported(search)).toEqual(wanted);
  });

  it('finds no name of a person for a VIEWER, who sees none', async () => {
    const { token } = await daemon.user('search-viewer', 'VIEWER');
    const dealer = await daemon.user('search-dealer', 'DEALER');
    expect(await listed('lovelace', dealer.token)).toEqual(['1']);
    for (const search of ['lovelace', 'person:lovelace']) {
      expect(await listed(search, token)).toEqual([]);
      expect(await exported(search, token)).toEqual([]);
    }
    for (const search of ['person:ada.l', 'lent', 'site:bonn yubikey'])
      expect(await listed(search, token)).toEqual(['1']);
  });

  it('finds the name that a person has now', async () => {
    const { personId } = data(await daemon.call('POST', '/api/people', { userName: 'grace', name: 'Grace Hopper' }));
    const { deviceId, activationCode } = await register(daemon, { serialNumber: 'SEARCH-4' });
    data(await daemon.call('POST', '/api/devices/activate', { deviceId, activationCode, userId: 'GRACE' }));
    expect(await listed('hopper')).toEqual(['4']);
    data(await daemon.call('POST', `/api/people/${personId}/leave`, { reason: 'moved' }));
    expect(await listed('hopper')).toEqual(['4']);
  });

  it.each([
    ['more than 8 words', 'a b c d e f g h i'],
    ['no word', 'maker: ""'],
    ['more than 200 characters', 'x'.repeat(201)],
  ])('refuses %s with 1001 that names it', async (_, search) => {
    for (const operation of ['list', 'export']) {
      const { status, code, message } = await daemon.call('GET', `/api/devices/${operation}?${path(search)}`);
      expect([status, code]).toEqual([400, 1001]);
      expect(message).toContain('search');
    }
  });

  it('takes an empty value as absent in the list, and refuses it in the export', async () => {
    expect((await listed('')).length).toBeGreaterThanOrEqual(3);
    expect(await daemon.call('GET', '/api/devices/export?search=')).toMatchObject({
      code: 1001,
      message: expect.stringContaining('search'),
    });
  });
});
