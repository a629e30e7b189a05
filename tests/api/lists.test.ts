/** The list of devices: order, pages, filters. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { optionalTexts } from '../../src/contract/device-description.ts';
import { deviceSorts } from '../../src/contract/values.ts';
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { activation, data } from '../support/fleet.ts';

interface Row {
  readonly deviceId: string;
  readonly serialNumber: string;
  readonly [field: string]: string | null;
}

let daemon: TestDaemon;
/** 30 devices: few manufacturers and models, so that there are ties; some activated, one used. */
beforeAll(async () => {
  daemon = await startTestDaemon();
  const devices = Array.from({ length: 30 }, (_, i) => ({
    deviceType: i % 3 ? 'UKEY' : 'SIMKEY',
    serialNumber: `Key_${String((i * 7) % 30).padStart(2, '0')}%${i}`.replace('%', i === 5 ? ':' : '-'),
    manufacturer: i % 2 ? 'Feitian' : 'feitian',
    model: ['K9', 'k9', 'Ä1'][i % 3],
  }));
  const { results } = data(await daemon.call('POST', '/api/devices/batch-register', { devices }));
  for (const i of [3, 11, 17])
    data(await daemon.call('POST', '/api/devices/activate', activation(results[i], i === 11 ? 'bob' : 'alice')));
  const { deviceId } = results[11];
  data(await daemon.call('POST', `/api/devices/${deviceId}/usage`, { durationSeconds: 5 }));
  data(await daemon.call('PUT', `/api/devices/${deviceId}`, { note: 'a note' }));
  data(await daemon.call('POST', `/api/devices/${results[17].deviceId}/lock`, { reason: 'reported lost' }));
});
afterAll(() => daemon?.stop());

async function rows(query: Readonly<Record<string, string | number>>): Promise<Row[]> {
  const text = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]));
  return data(await daemon.call('GET', `/api/devices/list?${text}`)).list;
}
const idNumber = ({ deviceId }: Row) => Number(deviceId.slice(4));
const serials = (list: readonly Row[]) => list.map(({ serialNumber }) => serialNumber).sort();
const fieldOf = (sortBy: string) => (sortBy === 'createTime' ? 'createdAt' : sortBy);

describe('the order of a list', () => {
  it('is the newest first by default', async () => {
    expect((await rows({ size: 100 })).map(idNumber)).toEqual(Array.from({ length: 30 }, (_, i) => 30 - i));
  });

  const shown = deviceSorts.filter(sort => sort !== 'updatedAt' && sort !== 'deviceId');
  it.each(shown.flatMap(sort => [[sort, 'asc'] as const, [sort, 'desc'] as const]))(
    'sortBy %s %s: by code unit, null last, ties by deviceId in the same direction',
    async (sortBy, sortOrder) => {
      const found = await rows({ sortBy, sortOrder, size: 100 });
      const field = fieldOf(sortBy);
      const up = sortOrder === 'asc' ? 1 : -1;
      const expected = [...found].sort((a, b) => {
        const [x, y] = [a[field]!, b[field]!];
        if (x === y) return up * (idNumber(a) - idNumber(b));
        if (x === null || y === null) return x === null ? 1 : -1;
        return up * (x < y ? -1 : 1);
      });
      expect(found.map(({ deviceId }) => deviceId)).toEqual(expected.map(({ deviceId }) => deviceId));
      expect(found).toHaveLength(30);
    },
  );

  it('deviceId sorts as a number: DEV-9 before DEV-10', async () => {
    const found = await rows({ sortBy: 'deviceId', sortOrder: 'asc', size: 100 });
    expect(found.map(idNumber)).toEqual(Array.from({ length: 30 }, (_, i) => i + 1));
  });

  it.each(['asc', 'desc'])('updatedAt %s: a device that was never updated comes last', async sortOrder => {
    const [first] = await rows({ sortBy: 'updatedAt', sortOrder });
    expect(first?.deviceId).toBe('DEV-12');
  });
});

describe('the pages of a list', () => {
  it.each(deviceSorts.flatMap(sortBy => [1, 7].map(size => ({ sortBy, size }))))(
    'show each record once: sortBy $sortBy, size $size',
    async ({ sortBy, size }) => {
      const all: Row[] = [];
      for (let page = 1; page <= Math.ceil(30 / size); page++) all.push(...(await rows({ sortBy, size, page })));
      expect(new Set(all.map(({ deviceId }) => deviceId)).size).toBe(30);
      expect(all).toHaveLength(30);
    },
  );

  it('are empty after the last one, whatever the number', async () => {
    for (const page of [31, 2 ** 31, 999_999_999_999]) expect(await rows({ page, size: 1 })).toEqual([]);
  });

  it('ignore empty parameters', async () => {
    expect(await rows({ page: '', size: '', status: '', keyword: '', sortBy: '' })).toHaveLength(20);
  });
});

describe('the filters of a list', () => {
  it('status and deviceType', async () => {
    expect((await rows({ status: 'LOCKED' })).map(({ deviceId }) => deviceId)).toEqual(['DEV-18']);
    expect(await rows({ status: 'ACTIVE' })).toHaveLength(2);
    expect(await rows({ deviceType: 'SIMKEY', size: 100 })).toHaveLength(10);
    expect(await rows({ deviceType: 'SIMKEY', status: 'ACTIVE' })).toHaveLength(1);
  });

  it('manufacturer and userId match the whole value, the manufacturer case-sensitive', async () => {
    expect(await rows({ manufacturer: 'Feitian', size: 100 })).toHaveLength(15);
    expect(await rows({ manufacturer: 'Feit' })).toEqual([]);
    expect(await rows({ userId: 'bob' })).toHaveLength(1);
    expect(await rows({ userId: 'Bob' })).toHaveLength(1);
    expect(await rows({ userId: 'bo' })).toEqual([]);
  });

  it('keyword is a part of the serial number or of the deviceId, case-insensitive', async () => {
    expect(serials(await rows({ keyword: 'kEY_07' }))).toEqual(['Key_07-1']);
    expect((await rows({ keyword: 'dev-12' })).map(({ deviceId }) => deviceId)).toEqual(['DEV-12']);
    expect((await rows({ keyword: 'DEV-3' })).map(idNumber).sort()).toEqual([3, 30]);
    expect(await rows({ keyword: 'Feitian' })).toEqual([]);
  });

  it('%, _, * and \\ are ordinary characters in a keyword', async () => {
    for (const keyword of ['%', 'Key%', '*', '?', '\\', 'KeyX', 'y_0_']) expect(await rows({ keyword })).toEqual([]);
    expect(await rows({ keyword: 'y_', size: 100 })).toHaveLength(30);
    expect(serials(await rows({ keyword: ':5' }))).toEqual(['Key_05:5']);
  });

  it('all filters must match', async () => {
    const found = await rows({ keyword: 'key', manufacturer: 'Feitian', deviceType: 'UKEY', userId: 'bob' });
    expect(found.map(({ deviceId }) => deviceId)).toEqual(['DEV-12']);
  });
});

describe('a row of a list', () => {
  it('has the fields of the interface', async () => {
    const [row] = await rows({ keyword: 'DEV-12' });
    expect(row).toMatchObject({ deviceId: 'DEV-12', status: 'ACTIVE', userId: 'bob', lastUsedAt: expect.any(String) });
    expect(Object.keys(row!).sort()).toEqual(
      [
        'deviceId',
        'deviceType',
        'serialNumber',
        'manufacturer',
        'model',
        'status',
        'userId',
        'personId',
        'activationCode',
        'createdAt',
        'activatedAt',
        'lastUsedAt',
        'tags',
        'proof',
      ].sort(),
    );
  });

  it('the detail has every field of the interface, null if it has no value', async () => {
    const detail = data(await daemon.call('GET', '/api/devices/DEV-1'));
    const nulls = [...optionalTexts, 'userId', 'userName', 'userEmail', 'note', 'activatedAt'];
    const moreNulls = ['lastUsedAt', 'lockReason', 'lockedAt', 'deactivatedAt'];
    for (const field of [...nulls, ...moreNulls]) expect(detail, field).toHaveProperty(field, null);
    expect(detail.statistics).toEqual({
      totalUsageCount: 0,
      totalUsageDuration: 0,
      backupCount: 0,
      lastBackupAt: null,
    });
  });
});
