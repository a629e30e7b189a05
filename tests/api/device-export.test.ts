import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { data, deviceIn, register, registration } from '../support/fleet.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon();
});
afterAll(() => daemon?.stop());

const get = (query: string, token = daemon.adminToken) =>
  fetch(`${daemon.url}/api/devices/export?${query}`, { headers: { authorization: `Bearer ${token}` } });
const linesOf = async (response: Response): Promise<Record<string, unknown>[]> =>
  (await response.text())
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line));
const listed = async (query: string) => data(await daemon.call('GET', `/api/devices/list?${query}`)).list;

describe('an export as NDJSON', () => {
  it('has each match as a list item, by ascending id, and ends with their number', async () => {
    await deviceIn('LOCKED', daemon);
    await register(daemon, { manufacturer: '=1+1, "quoted"' });
    const response = await get('');
    expect(response.headers.get('content-type')).toBe('application/x-ndjson');
    const lines = await linesOf(response);
    const items = await listed('sortBy=deviceId&sortOrder=asc&size=100');
    expect(lines).toEqual([...items, { end: true, count: items.length }]);
    const newestFirst = await linesOf(await get('sortOrder=desc'));
    expect(newestFirst).toEqual([...items.toReversed(), { end: true, count: items.length }]);
  });

  it('has more than one batch', async () => {
    const devices = Array.from({ length: 1700 }, () => registration({ model: 'bulk' }));
    await daemon.call('POST', '/api/devices/batch-register', { devices });
    const lines = await linesOf(await get('format=ndjson&keyword=SN-'));
    expect(lines.at(-1)).toEqual({ end: true, count: lines.length - 1 });
    expect(new Set(lines.map(({ deviceId }) => deviceId)).size).toBe(lines.length);
    expect(lines.length).toBeGreaterThan(1700);
  });

  it('is empty but for its end if nothing matches', async () => {
    expect(await linesOf(await get('serialNumber=unknown'))).toEqual([{ end: true, count: 0 }]);
  });

  it('shows a VIEWER no activation codes', async () => {
    const { token } = await daemon.user('export-viewer', 'VIEWER');
    const lines = await linesOf(await get('', token));
    expect(lines.slice(0, -1).every(({ activationCode }) => activationCode === null)).toBe(true);
  });
});

describe('an export as CSV', () => {
  it('has a header, a line for each match, and no cell that a spreadsheet evaluates', async () => {
    const { serialNumber } = await register(daemon, { manufacturer: '=1+1, "quoted"', model: '@SUM(A1)' });
    const response = await get(`format=csv&serialNumber=${serialNumber}`);
    expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    const [header, line, ...rest] = (await response.text()).split('\r\n');
    expect(header).toBe(
      'deviceId,deviceType,serialNumber,manufacturer,model,status,userId,activationCode,createdAt,activatedAt,lastUsedAt',
    );
    expect(line).toContain(`,${serialNumber},"'=1+1, ""quoted""",'@SUM(A1),INACTIVE,,`);
    expect(rest).toEqual(['']);
  });

  it('refuses another format with 1001', async () => {
    expect(await daemon.call('GET', '/api/devices/export?format=xlsx')).toMatchObject({ status: 400, code: 1001 });
  });
});

describe('filters of lists and exports', () => {
  const serials = async (query: string): Promise<unknown[]> => {
    const lines = await linesOf(await get(query));
    const found = lines.slice(0, -1).map(({ serialNumber }) => serialNumber);
    const list = await listed(`${query}&sortBy=deviceId&sortOrder=asc&size=100`);
    expect(list.map((item: { serialNumber: string }) => item.serialNumber)).toEqual(found.slice(0, 100));
    return found;
  };

  it('select by several states and types, the whole serial number, and times', async () => {
    const model = `filter-${process.pid}`;
    const of = (deviceType: string) => register(daemon, { deviceType, manufacturer: model });
    const [key, sim, active] = [await of('UKEY'), await of('SIMKEY'), await of('UKEY')];
    const body = { deviceId: active.deviceId, activationCode: active.activationCode, userId: 'alice' };
    await daemon.call('POST', '/api/devices/activate', body);
    const { createdAt } = data(await daemon.call('GET', `/api/devices/${sim.deviceId}`));
    const later = new Date(Date.parse(createdAt) + 86_400_000).toISOString();
    const code = new Date(Date.parse(createdAt) + 366 * 86_400_000).toISOString();
    const all = [key, sim, active].map(({ serialNumber }) => serialNumber);
    const base = `manufacturer=${model}`;
    expect(await serials(`${base}&status=INACTIVE,ACTIVE`)).toEqual(all);
    expect(await serials(`${base}&status=ACTIVE,%20LOCKED`)).toEqual([active.serialNumber]);
    expect(await serials(`${base}&deviceType=SIMKEY,UKEY&status=INACTIVE`)).toEqual(all.slice(0, 2));
    expect(await serials(`${base}&model=ePass%20K9`)).toEqual(all);
    expect(await serials(`${base}&model=ePass`)).toEqual([]);
    expect(await serials(`serialNumber=${sim.serialNumber}`)).toEqual([sim.serialNumber]);
    expect(await serials(`serialNumber=${sim.serialNumber.slice(1)}`)).toEqual([]);
    expect(await serials(`${base}&createdFrom=${createdAt}`)).toContain(sim.serialNumber);
    expect(await serials(`${base}&createdTo=${createdAt}`)).not.toContain(sim.serialNumber);
    expect(await serials(`${base}&createdFrom=${later}`)).toEqual([]);
    expect(await serials(`${base}&lastUsedBefore=${later}`)).toEqual([active.serialNumber]);
    expect(await serials(`${base}&codeExpiresBefore=${code}`)).toEqual(all);
    expect(await serials(`${base}&codeExpiresBefore=${later}`)).toEqual([]);
  });

  it('take a zone other than UTC', async () => {
    const { serialNumber, deviceId } = await register(daemon);
    const { createdAt } = data(await daemon.call('GET', `/api/devices/${deviceId}`));
    const inIndia = new Date(Date.parse(createdAt) + 5.5 * 3_600_000).toISOString().replace('Z', '+05:30');
    expect(await serials(`serialNumber=${serialNumber}&createdFrom=${encodeURIComponent(inIndia)}`)).toEqual([
      serialNumber,
    ]);
    expect(await serials(`serialNumber=${serialNumber}&createdTo=${encodeURIComponent(inIndia)}`)).toEqual([]);
  });

  it.each([
    'status=ACTIVE,',
    'status=active',
    'status=ACTIVE,NONE',
    'createdFrom=2026-11-21',
    'createdTo=2026-11-21T10:00:00',
    'lastUsedBefore=2026-02-30T00:00:00Z',
    'codeExpiresBefore=soon',
    'createdFrom=1763716200000',
  ])('refuse %s with 1001 and the name of the parameter', async query => {
    for (const path of ['list', 'export']) {
      const answer = await daemon.call('GET', `/api/devices/${path}?${query}`);
      expect(answer).toMatchObject({ status: 400, code: 1001 });
      expect(answer.message).toContain(query.split('=')[0]);
    }
  });
});
