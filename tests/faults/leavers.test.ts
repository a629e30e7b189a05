/** Persons leave while daemons are killed: each of their devices is locked, and no other. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { audit } from '../../daemon/maintenance/audit.ts';
import { type DaemonProcess, spawnDaemon } from '../support/daemon-process.ts';
import { mulberry } from '../support/mulberry.ts';
import { type Node, Nodes } from '../support/nodes.ts';
import { needsPostgres, PostgresServer } from '../support/postgres.ts';
import { runDaemonProgram } from '../support/programs.ts';
import { patchOp, scimClientWith } from '../support/scim.ts';
import { temporaryFolder } from '../support/temporary.ts';

/** `npm run test:leavers` has 1,000. They stay below the brake, which is at 5 %. */
const LEAVERS = Number(process.env.DEVMGR_LEAVERS ?? 80);
const OTHERS = Math.ceil(LEAVERS * 20.7);
const timeout = 180_000 + 1000 * Math.max(0, LEAVERS - 80);
const seed = Number(process.env.DEVMGR_LEAVERS_SEED ?? Date.now() % 1_000_000_000);

type Registry = Pick<DaemonProcess, 'call' | 'url'>;

async function post(registry: Registry, path: string, body: object): Promise<never> {
  const { code, message, data } = await registry.call('POST', path, body);
  if (code !== 200) throw new Error(`${path}: ${message}`);
  return data;
}

/** Registers devices and binds each to the user name beside it. */
async function fill(registry: Registry, userNames: readonly string[]): Promise<void> {
  const devices = userNames.map((_, i) => ({
    deviceType: 'UKEY',
    serialNumber: `LEAVER-${i}`,
    manufacturer: 'Feitian',
    model: 'K9',
  }));
  const made: { readonly deviceId: string; readonly activationCode: string }[] = [];
  for (let at = 0; at < devices.length; at += 10_000) {
    const body = { devices: devices.slice(at, at + 10_000) };
    const { results } = (await post(registry, '/api/devices/batch-register', body)) as {
      readonly results: typeof made;
    };
    made.push(...results);
  }
  const items = made.map(({ deviceId, activationCode }, i) => ({ deviceId, activationCode, userId: userNames[i]! }));
  for (let at = 0; at < items.length; at += 1000)
    await post(registry, '/api/devices/batch-update', { operation: 'ACTIVATE', items: items.slice(at, at + 1000) });
}

/** The user names of the devices in this state. */
async function ownersIn(registry: Registry, status: string): Promise<string[]> {
  const owners: string[] = [];
  for (let page = 1, pages = 1; page <= pages; page++) {
    const { data } = await registry.call('GET', `/api/devices/list?status=${status}&size=100&page=${page}`);
    const { list, pagination } = data as { list: { userId: string }[]; pagination: { totalPages: number } };
    owners.push(...list.map(({ userId }) => userId));
    pages = pagination.totalPages;
  }
  return owners.sort();
}

/** Makes everyone leave through daemons that are killed in between. `restart` kills one and resolves when it is back. */
async function everyoneLeaves(
  daemons: readonly (() => Registry)[],
  restart: (daemon: number) => Promise<void>,
): Promise<void> {
  const random = mulberry(seed);
  const names = Array.from({ length: LEAVERS }, (_, i) => `leaver.${i}`);
  const first = daemons[0]!();
  await fill(first, [...names, ...Array.from({ length: OTHERS }, (_, i) => `other.${i}`)]);
  const { token } = (await post(first, '/api/tokens', {
    name: 'provider',
    role: 'VIEWER',
    expiresInDays: 1,
    may: ['scim'],
  })) as { readonly token: string };
  const provider = (daemon: number) => scimClientWith(() => daemons[daemon]!().url, token);
  const ids: string[] = [];
  for (const userName of names) ids.push((await provider(0)('POST', '/Users', { userName })).body.id);
  // Fewer than the brake holds.
  for (const username of names.filter((_, i) => i % Math.ceil(LEAVERS / 8) === 0))
    await post(first, '/api/users', { username: username.toUpperCase(), password: 'correct horse 7', role: 'VIEWER' });
  let isRunning = true;
  const killing = (async () => {
    while (isRunning) {
      await pause(150 + 300 * random());
      await restart(Math.floor(random() * daemons.length));
    }
  })();
  /** As a provider does: again and again until a request succeeds, now and then once more. */
  const leaves = async (id: string, i: number) => {
    for (let left = random() < 0.2 ? 2 : 1; left > 0; ) {
      const call = provider(Math.floor(random() * daemons.length));
      const isDeleted = i % 3 === 0;
      const byHand = i % 3 === 1 && i % 2 === 0;
      const request = isDeleted
        ? call('DELETE', `/Users/${id}`)
        : byHand
          ? anyOf(registry => registry.call('POST', `/api/people/${id}/leave`, { reason: 'has left' }))
          : call('PATCH', `/Users/${id}`, patchOp({ op: 'Replace', path: 'active', value: 'False' }));
      const { status } = await request.catch(() => ({ status: 0 }));
      // A repeated DELETE finds no one.
      if (status === 200 || status === 204 || (isDeleted && status === 404)) left--;
      else {
        expect([0, 500, 503]).toContain(status);
        await pause(20);
      }
    }
  };
  const anyOf = async (send: (registry: Registry) => ReturnType<Registry['call']>) => {
    const { status } = await send(daemons[Math.floor(random() * daemons.length)]!());
    return { status };
  };
  const closes = async (id: string) => {
    for (;;) {
      const { status } = await anyOf(registry => registry.call('POST', `/api/people/${id}/case/close`)).catch(() => ({
        status: 0,
      }));
      if (status === 200) return;
      expect([0, 500, 503]).toContain(status);
      await pause(20);
    }
  };
  const waiting = ids.entries();
  const client = async () => {
    for (const [i, id] of waiting) {
      await leaves(id, i);
      if (i % 2 === 0) await closes(id);
    }
  };
  await Promise.all(Array.from({ length: 6 }, client));
  isRunning = false;
  await killing;
  const registry = daemons[0]!();
  expect(await ownersIn(registry, 'LOCKED')).toEqual([...names].sort());
  expect((await ownersIn(registry, 'ACTIVE')).length).toBe(OTHERS);
  const held = (await registry.call('GET', '/api/people/held')).data as { readonly list: readonly unknown[] };
  expect(held.list).toEqual([]);
  const check = async () => (await registry.call('GET', '/api/people/check')).data;
  const nothing = { devices: 0, accounts: 0, tokens: 0, credentials: 0, unmatched: OTHERS, unreported: 0 };
  expect(await check()).toEqual({ ...nothing, cases: Math.floor(LEAVERS / 2) });
  for (const id of ids) await closes(id);
  expect(await check()).toEqual({ ...nothing, cases: 0 });
  for (const type of ['CASE_OPENED', 'CASE_CLOSED']) {
    const { data } = await registry.call('GET', `/api/events?types=${type}&limit=1000`);
    const { list } = data as { readonly list: readonly { readonly data: { readonly personId: string } }[] };
    expect(list.map(event => event.data.personId).sort(), type).toEqual([...ids].sort());
  }
}

describe(`leavers, while daemons are killed (seed ${seed})`, () => {
  it('are all locked by a daemon on SQLite, and no one else is', { timeout }, async () => {
    const home = temporaryFolder();
    let daemon = await spawnDaemon({ home });
    await everyoneLeaves([() => daemon], async () => {
      await daemon.kill();
      daemon = await spawnDaemon({ home });
    });
    await daemon.stop();
    const { stdout } = await runDaemonProgram(audit, {
      home,
      json: true,
      device: null,
      since: null,
      limit: null,
      verify: true,
    });
    expect(JSON.parse(stdout).problems).toEqual([]);
  });
});

needsPostgres(`leavers, while nodes are killed (seed ${seed})`, () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterAll(() => server?.stop());

  it('are all locked by three nodes on PostgreSQL, and no one else is', { timeout }, async () => {
    const nodes = await Nodes.create(server);
    const started: Node[] = [await nodes.start(), await nodes.start(), await nodes.start()];
    await everyoneLeaves(
      started.map((_, i) => () => started[i]!),
      async i => {
        const { home, kill } = started[i]!;
        await kill();
        started[i] = await nodes.start({ home });
      },
    );
  });

  it('are locked within a second on any node', async () => {
    const nodes = await Nodes.create(server);
    const [one, two] = [await nodes.start(), await nodes.start()];
    await fill(one, ['ada', ...Array.from({ length: 9 }, (_, i) => `other.${i}`)]);
    const { personId } = (await post(one, '/api/people', { userName: 'ada' })) as { readonly personId: string };
    const started = performance.now();
    await post(two, `/api/people/${personId}/leave`, { reason: 'has left' });
    expect(await ownersIn(one, 'LOCKED')).toEqual(['ada']);
    expect(performance.now() - started).toBeLessThan(1000);
  });
});
