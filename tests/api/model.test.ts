/** Concurrent clients: the responses are those of a registry that handles one request after the other (linearizability). */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { DeviceDetail } from '../../src/contract/devices.ts';
import { deviceStatuses } from '../../src/contract/values.ts';
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { type Client, DEVICES, Fleet, type Plan, plans } from '../support/device-clients.ts';
import { listed } from '../support/device-model.ts';
import { data } from '../support/fleet.ts';
import { explain } from '../support/linearize.ts';

let daemon: TestDaemon;
let clients: readonly Client[];
beforeAll(async () => {
  daemon = await startTestDaemon();
  const user = async (role: 'ADMIN' | 'DEALER' | 'VIEWER', name: string) => ({
    token: (await daemon.user(name, role)).token,
    isViewer: role === 'VIEWER',
  });
  clients = [
    { token: daemon.adminToken, isViewer: false },
    await user('ADMIN', 'second-admin'),
    await user('DEALER', 'dealer'),
    await user('DEALER', 'another-dealer'),
    await user('VIEWER', 'viewer'),
  ];
});
afterAll(() => daemon?.stop());

/** Every device of every run, as the model has it at the end. */
const registry: DeviceDetail[] = [];
let runs = 0;

const wordsOf = (seen: readonly { readonly words: string }[]) =>
  `no order explains\n${seen.map(({ words }) => words).join('\n')}`;

/** Runs all clients at the same time; returns the devices as they are at the end. */
async function play(parts: readonly (readonly Plan[])[]): Promise<DeviceDetail[]> {
  const fleet = new Fleet(daemon, `RUN${String(++runs).padStart(4, '0')}`);
  await Promise.all(
    clients.map(async (client, i) => {
      for (const plan of parts[i] ?? []) await fleet.act(client, plan);
    }),
  );
  await fleet.look(clients[0]!);
  const ends: DeviceDetail[] = [];
  for (let place = 0; place < DEVICES; place++) {
    const seen = fleet.seenOf(place);
    const explained = explain(seen, null);
    expect(explained, wordsOf(seen)).not.toBeNull();
    if (explained?.end) ends.push(explained.end);
  }
  return ends;
}

it('five clients send random requests for the same devices: the responses fit one order of these requests', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(plans, { maxLength: 14 }), { minLength: clients.length, maxLength: clients.length }),
      async parts => {
        registry.push(...(await play(parts)));
      },
    ),
    { numRuns: 80, endOnFailure: true },
  );
});

const first: Plan[] = [
  { kind: 'register', device: 0 },
  { kind: 'activate', device: 0, code: 'known', userId: 'alice' },
];

it.each([
  ['new activation codes', { kind: 'newCode', device: 0, days: 30 }],
  ['uses', { kind: 'use', device: 0, seconds: 3 }],
  ['changes of tags', { kind: 'update', device: 0, set: { tags: { lot: '8' } } }],
  ['notes', { kind: 'update', device: 0, set: { note: 'a note' } }],
] as const)('many %s of one device at once are done one after the other, none is refused', async (_what, plan) => {
  const fleet = new Fleet(daemon, `RUN${String(++runs).padStart(4, '0')}`);
  for (const step of first) await fleet.act(clients[0]!, step);
  await Promise.all(Array.from({ length: 24 }, (_, i) => fleet.act(clients[i % 4]!, plan)));
  await fleet.look(clients[0]!);
  const seen = fleet.seenOf(0);
  expect(seen.filter(({ words }) => words.includes('→ 500'))).toEqual([]);
  const explained = explain(seen, null);
  expect(explained, wordsOf(seen)).not.toBeNull();
  registry.push(explained!.end!);
});

it('of simultaneous updates of different fields and tags, the last response has all', async () => {
  const note = { kind: 'update', device: 0, set: { note: 'n' } } as const;
  const firmware = { kind: 'update', device: 0, set: { firmwareVersion: '1.0.4' } } as const;
  const lot = { kind: 'update', device: 0, set: { tags: { lot: '9' } } } as const;
  const shelf = { kind: 'update', device: 0, set: { tags: { shelf: 'b' } } } as const;
  for (let i = 0; i < 20; i++) {
    const fleet = new Fleet(daemon, `RUN${String(++runs).padStart(4, '0')}`);
    for (const step of first) await fleet.act(clients[0]!, step);
    await Promise.all([note, firmware, lot, shelf].map((plan, i) => fleet.act(clients[i]!, plan)));
    await fleet.look(clients[0]!);
    const seen = fleet.seenOf(0);
    const explained = explain(seen, null);
    expect(explained, wordsOf(seen)).not.toBeNull();
    registry.push(explained!.end!);
  }
});

it('at the end, the lists and totals are those of the model', async () => {
  const pages = async (query: string) => {
    const rows: { deviceId: string }[] = [];
    for (let page = 1; ; page++) {
      const { list, pagination } = data(await daemon.call('GET', `/api/devices/list?size=100&page=${page}${query}`));
      rows.push(...list);
      if (page >= pagination.totalPages) return { rows, total: pagination.total };
    }
  };
  const number = ({ deviceId }: { readonly deviceId: string }) => Number(deviceId.slice(4));
  const newest = registry.toSorted((a, b) => number(b) - number(a));
  expect(newest.map(number)).toEqual(newest.map((_, i) => newest.length - i));
  const inStatus = (status: string) => newest.filter(device => device.status === status);
  for (const [query, expected] of [
    ['', newest],
    ...deviceStatuses.map(status => [`&status=${status}`, inStatus(status)] as const),
    ['&tag=lot:7', newest.filter(({ tags }) => tags.lot === '7')],
    ['&tag=lot:7&tag=shelf:7', newest.filter(({ tags }) => tags.lot === '7' && tags.shelf === '7')],
    ['&userId=alice', newest.filter(({ userId }) => userId === 'alice')],
    ['&deviceType=SIMKEY', newest.filter(({ deviceType }) => deviceType === 'SIMKEY')],
  ] as const) {
    const { rows, total } = await pages(query);
    expect([query, total]).toEqual([query, expected.length]);
    const byTime = (a: { deviceId: string }, b: { deviceId: string }) => number(b) - number(a);
    expect(rows.toSorted(byTime)).toEqual(expected.map(device => listed(device, false)));
  }
});
