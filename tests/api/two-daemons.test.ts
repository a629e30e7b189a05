/** Clients of two daemons on one database: the responses are those of one registry that handles one request after the other. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { homeFiles } from '../../src/contract/local.ts';
import type { TestDaemon } from '../support/daemon.ts';
import { type Client, DEVICES, Fleet, type Plan, plans } from '../support/device-clients.ts';
import { activation, data, deviceIn, register, registration } from '../support/fleet.ts';
import { explain } from '../support/linearize.ts';
import { needsPostgres, PostgresServer } from '../support/postgres.ts';
import { inTurns, startTwoDaemons, type TwoDaemons } from '../support/two-daemons.ts';

let server: PostgresServer;
let daemons: TwoDaemons;
let clients: readonly Client[];
let runs = 0;

/** All clients at once; each request goes to the daemon whose turn it is. */
async function play(parts: readonly (readonly Plan[])[]): Promise<void> {
  const fleet = new Fleet(inTurns(daemons), `TWO${String(++runs).padStart(4, '0')}`);
  await Promise.all(
    parts.map(async (part, i) => {
      for (const plan of part) await fleet.act(clients[i % clients.length]!, plan);
    }),
  );
  await fleet.look(clients[0]!);
  for (let place = 0; place < DEVICES; place++) {
    const seen = fleet.seenOf(place);
    expect(explain(seen, null), seen.map(({ words }) => words).join('\n')).not.toBeNull();
  }
}

/** Sends `calls` requests at once, half of them to each daemon. */
const both = <T>(calls: number, call: (daemon: TwoDaemons['one'], i: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: calls }, (_, i) => call(i % 2 ? daemons.two : daemons.one, i)));

needsPostgres('two daemons on one database', () => {
  beforeAll(async () => {
    server = await PostgresServer.start();
    daemons = await startTwoDaemons(server);
    const user = async (role: 'ADMIN' | 'DEALER' | 'VIEWER', name: string) => ({
      token: (await daemons.one.user(name, role)).token,
      isViewer: role === 'VIEWER',
    });
    clients = [
      { token: daemons.one.adminToken, isViewer: false },
      await user('DEALER', 'dealer'),
      await user('DEALER', 'another-dealer'),
      await user('VIEWER', 'viewer'),
    ];
  });
  afterAll(async () => {
    await daemons?.stop();
    await server?.stop();
  });

  it('random requests for the same devices: the responses fit one order of these requests', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(plans, { maxLength: 12 }), { minLength: clients.length, maxLength: clients.length }),
        play,
      ),
      { numRuns: 25, endOnFailure: true },
    );
  });

  it.each([
    ['new activation codes', { kind: 'newCode', device: 0, days: 30 }],
    ['uses', { kind: 'use', device: 0, seconds: 3 }],
    ['changes of tags', { kind: 'update', device: 0, set: { tags: { lot: '8' } } }],
  ] as const)('many %s of one device at once are done one after the other, none is refused', async (_what, plan) => {
    const fleet = new Fleet(inTurns(daemons), `TWO${String(++runs).padStart(4, '0')}`);
    await fleet.act(clients[0]!, { kind: 'register', device: 0 });
    await fleet.act(clients[0]!, { kind: 'activate', device: 0, code: 'known', userId: 'alice' });
    await Promise.all(Array.from({ length: 12 }, (_, i) => fleet.act(clients[i % 3]!, plan)));
    await fleet.look(clients[0]!);
    const seen = fleet.seenOf(0);
    expect(seen.filter(({ words }) => words.includes('→ 500'))).toEqual([]);
    expect(explain(seen, null), seen.map(({ words }) => words).join('\n')).not.toBeNull();
  });

  it('of tags that many requests add, none is lost', async () => {
    const { deviceId } = await register(daemons.one);
    const answers = await both(16, (daemon, i) =>
      daemon.call('PUT', `/api/devices/${deviceId}`, { tags: { [`t-${i}`]: 'x' } }),
    );
    expect(answers.map(({ code }) => code)).toEqual(answers.map(() => 200));
    const { tags } = data(await daemons.two.call('GET', `/api/devices/${deviceId}`));
    expect(Object.keys(tags)).toHaveLength(16);
  });

  it('of many activations, and of many locks, one succeeds', async () => {
    const device = await register(daemons.one);
    const activated = await both(10, (daemon, i) =>
      daemon.call('POST', '/api/devices/activate', activation(device, `user-${i}`)),
    );
    expect(activated.map(({ code }) => code).sort()).toEqual([200, ...Array.from({ length: 9 }, () => 2002)]);
    const { deviceId } = await deviceIn('ACTIVE', daemons.one);
    const locked = await both(10, daemon => daemon.call('POST', `/api/devices/${deviceId}/lock`, { reason: 'lost' }));
    expect(locked.map(({ code }) => code).sort()).toEqual([200, ...Array.from({ length: 9 }, () => 2004)]);
  });

  it('the names of users and service tokens and the serial numbers stay unique', async () => {
    const one = (answers: readonly { readonly code: number }[]) => answers.filter(({ code }) => code === 200).length;
    const password = 'correct horse battery';
    const users = { username: 'same-name', password, role: 'VIEWER' };
    expect(one(await both(4, daemon => daemon.call('POST', '/api/users', users)))).toBe(1);
    const tokens = { name: 'same-name', role: 'VIEWER', expiresInDays: 1 };
    expect(one(await both(10, daemon => daemon.call('POST', '/api/tokens', tokens)))).toBe(1);
    const body = registration();
    expect(one(await both(10, daemon => daemon.call('POST', '/api/devices/register', body)))).toBe(1);
  });

  it('the local token of a home is refused by the other daemon, which has the same signing key', async () => {
    const keysOf = async (asked: TestDaemon, home: string) => {
      const token = (await readFile(join(home, homeFiles.localToken), 'utf8')).trim();
      return (await asked.call('GET', '/api/hardware/keys', undefined, { token })).code;
    };
    const { one, two } = daemons;
    expect(await readFile(join(one.home, homeFiles.signingKey))).toEqual(
      await readFile(join(two.home, homeFiles.signingKey)),
    );
    for (const [own, other] of [
      [one, two],
      [two, one],
    ] as const) {
      expect(await keysOf(own, own.home)).toBe(200);
      expect(await keysOf(other, own.home)).toBe(1004);
    }
  });

  it('one enabled administrator remains', async () => {
    const second = await daemons.one.user('second-admin', 'ADMIN');
    const first = data(await daemons.one.call('GET', '/api/users/me'));
    for (let i = 0; i < 5; i++) {
      const answers = await Promise.all([
        daemons.one.call('PUT', `/api/users/${first.id}`, { role: 'VIEWER' }),
        daemons.two.call('PUT', `/api/users/${second.id}`, { role: 'VIEWER' }, { token: second.token }),
      ]);
      expect(answers.filter(({ code }) => code === 200)).toHaveLength(1);
      const firstStayed = answers[0]!.code !== 200;
      const [token, demoted] = firstStayed ? [daemons.one.adminToken, second.id] : [second.token, first.id];
      data(await daemons.one.call('PUT', `/api/users/${demoted}`, { role: 'ADMIN' }, { token }));
    }
  });
});
