/** Two daemons on one store with one key, and how stored responses are removed. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { responseSweep } from '../../daemon/background/sweeps.ts';
import { type KeyedInput, KeyedRequests } from '../../daemon/http/idempotency.ts';
import { type Context, commitLast } from '../../daemon/requests/context.ts';
import { ApiError } from '../../src/contract/codes.ts';
import { openTemporary } from '../support/sqlite.ts';
import { registration } from '../support/stream-server.ts';

let opened: Awaited<ReturnType<typeof openTemporary>>;
beforeEach(async () => {
  opened = await openTemporary();
});
afterEach(() => opened.cleanup());

const hour = 3_600_000;
let time = 1_700_000_000_000;
const now = () => time;
const daemonOn = () => new KeyedRequests({ store: opened.store, now });
const context: Context = {
  caller: { role: 'ADMIN', user: null, serviceToken: null, expiresAt: 0, loginAt: 0 },
  requestId: 'r',
  address: '192.0.2.1',
};

/** Registers a device, once `before` has resolved; `seen` receives the headers of the response. */
function asked(before: Promise<void> = Promise.resolve(), seen: string[] = []): KeyedInput {
  const reply = {
    code: (status: number) => {
      seen.push(String(status));
      return reply;
    },
    header: (name: string, value: string) => {
      seen.push(`${name}: ${value}`);
      return reply;
    },
  };
  return {
    key: 'key-1',
    operation: 'registerDevice',
    body: Buffer.from('{"model":"K9"}'),
    context,
    reply: reply as never,
    async run(keyed) {
      await before;
      const changes = [registration()];
      return commitLast(opened.store, { ...context, keyed }, { at: now(), changes }, ([result]) => result);
    },
    textOf: data => JSON.stringify({ data }),
  };
}
const devices = async () =>
  (await opened.store.devices({ sortBy: 'deviceId', descending: false, offset: 0, limit: 10 })).total;

describe('two daemons on one store', () => {
  it('carry out one request, and both send its response', async () => {
    const gate = Promise.withResolvers<void>();
    const seen: string[] = [];
    const second = daemonOn().answer(asked(gate.promise, seen));
    const first = await daemonOn().answer(asked());
    gate.resolve();
    expect(await second).toBe(first);
    expect(seen).toEqual(['200', 'idempotent-replay: true']);
    expect(await devices()).toBe(1);
  });

  it.each([2002, 1001, 412] as const)(
    'send the first response if the second request is refused by now: %i',
    async code => {
      const gate = Promise.withResolvers<void>();
      const refused = daemonOn().answer({
        ...asked(),
        run: async () => {
          await gate.promise;
          throw new ApiError(code);
        },
      });
      const first = await daemonOn().answer(asked());
      gate.resolve();
      expect(await refused).toBe(first);
    },
  );

  it('refuse another body with 1001 without carrying it out', async () => {
    await daemonOn().answer(asked());
    const other = { ...asked(), body: Buffer.from('{"model":"K8"}') };
    await expect(daemonOn().answer(other)).rejects.toMatchObject({ code: 1001 });
    expect(await devices()).toBe(1);
  });
});

it('a request that fails stores nothing and frees its key', async () => {
  const daemon = daemonOn();
  const fails = { ...asked(), run: () => Promise.reject(new Error('a bug')) };
  await expect(daemon.answer(fails)).rejects.toThrow('a bug');
  await daemon.answer(asked());
  expect(await devices()).toBe(1);
});

it('the database has neither the key nor a digest of the body without the key', async () => {
  await daemonOn().answer({ ...asked(), key: 'a-very-secret-key' });
  const { default: Database } = await import('better-sqlite3');
  const db = new Database(opened.file, { readonly: true });
  const row = JSON.stringify(db.prepare('SELECT * FROM response').get());
  db.close();
  expect(row).not.toContain('a-very-secret-key');
  const { createHash } = await import('node:crypto');
  expect(row).not.toContain(createHash('sha256').update('{"model":"K9"}').digest('hex'));
});

describe('the sweep', () => {
  const turn = new AbortController().signal;
  it('removes all expired responses in portions, and no others', async () => {
    const daemon = daemonOn();
    for (let i = 0; i < 250; i++) await daemon.answer({ ...asked(), key: `old-${i}`, run: async () => i });
    time += hour;
    await daemon.answer({ ...asked(), key: 'young', run: async () => 'young' });
    const sizes: number[] = [];
    const commit: typeof opened.store.commit = async what => {
      const results = await opened.store.commit(what);
      sizes.push((results[0] as { count: number }).count);
      return results;
    };
    const sweep = responseSweep({ store: { commit }, now });
    while (await sweep.look(turn));
    time += 23 * hour;
    while (await sweep.look(turn));
    expect(sizes).toEqual([0, 100, 100, 50]);
    const seen: string[] = [];
    await daemon.answer({ ...asked(undefined, seen), key: 'young', run: async () => 'again' });
    expect(seen).toContain('idempotent-replay: true');
  });

  it('keeps responses if the clock is set back by less than a day, and removes them if it was days ahead', async () => {
    const daemon = daemonOn();
    const sweep = responseSweep({ store: opened.store, now });
    const isStored = async () => {
      const seen: string[] = [];
      await daemon.answer({ ...asked(undefined, seen), run: async () => 'x' });
      return seen.includes('idempotent-replay: true');
    };
    await daemon.answer(asked());
    time -= 20 * hour;
    while (await sweep.look(turn));
    expect(await isStored()).toBe(true);
    time -= 30 * hour;
    while (await sweep.look(turn));
    expect(await isStored()).toBe(false);
  });
});
