import { once } from 'node:events';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Frame, openStream } from '../support/stream-client.ts';
import { registration, type StreamServer, startStreamServer, unnotified } from '../support/stream-server.ts';

let server: StreamServer;
beforeAll(async () => {
  server = await startStreamServer();
});
afterAll(() => server.stop());

const REGISTRATIONS = 10_000;
const CUTS = 50;

/** Registers devices singly and in batches, with entries in between that are not sent to watchers. */
async function registerAll(sizes: readonly number[]): Promise<void> {
  for (let done = 0, turn = 0; done < REGISTRATIONS; turn++) {
    const size = Math.min(sizes[turn % sizes.length]!, REGISTRATIONS - done);
    const batch = Array.from({ length: size }, () => registration());
    const commits = turn % 3 ? [server.commit(...batch)] : batch.map(one => server.commit(one));
    await Promise.all([...commits, server.commit(unnotified(server.user.number))]);
    done += size;
  }
}

/** Watches until `isOver`. Each cut ends a connection after that many frames and loses what is on the way. */
async function watch(cuts: readonly number[], isOver: (seen: readonly Frame[]) => boolean) {
  const seen: Frame[] = [];
  let connections = 0;
  for (; !isOver(seen); connections++) {
    let left = cuts[connections] ?? Number.POSITIVE_INFINITY;
    const client = await openStream(server.url, { token: server.token, since: seen.at(-1)?.id ?? 0 });
    const take = (frame: Frame) => {
      if (left-- > 0) seen.push(frame);
      if (left <= 0 || isOver(seen)) client.ws.terminate();
    };
    for (const frame of client.frames) take(frame);
    client.ws.on('message', data => take(JSON.parse(String(data))));
    if (left === 0) client.ws.terminate();
    await client.closed;
  }
  return { seen, connections };
}

it('a watcher disconnected 50 times during 10,000 registrations gets each event once, in order', async () => {
  const seed = Number(process.env.DEVMGR_TEST_SEED ?? Date.now() % 1_000_000);
  const [cuts, sizes] = fc.sample(
    fc.tuple(
      fc.array(fc.integer({ min: 0, max: 300 }), { minLength: CUTS, maxLength: CUTS }),
      fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 40, maxLength: 40 }),
    ),
    { seed, numRuns: 1 },
  )[0]!;
  const registered = registerAll(sizes);
  let over = false;
  void registered.then(() => {
    over = true;
  });
  const watchers = [0, 1, 2].map(shift =>
    watch([...cuts.slice(shift), ...cuts.slice(0, shift)], seen => over && seen.length >= REGISTRATIONS),
  );
  await registered;
  const journal = await server.store.events({ after: 0, limit: 100_000, types: ['DEVICE_REGISTERED'] });
  expect(journal).toHaveLength(REGISTRATIONS);
  for (const { seen, connections } of await Promise.all(watchers)) {
    const ids = new Set(seen.map(frame => frame.id));
    expect([...ids], `seed ${seed}`).toEqual(journal.map(event => event.id));
    expect(connections).toBe(CUTS + 1);
  }
});

it('a new stream misses nothing that is committed after its upgrade', async () => {
  for (let i = 0; i < 50; i++) {
    const stop = server.commit(registration());
    const client = await openStream(server.url, { token: server.token });
    const serials = Array.from({ length: 5 }, (_, n) => `upgrade-${i}-${n}`);
    await Promise.all(serials.map(serial => server.commit(registration(serial))));
    await stop;
    await client.untilSome(frame => frame.data.serialNumber === serials.at(-1));
    const got = client.frames.map(frame => frame.data.serialNumber).filter(serial => serials.includes(serial));
    expect(got).toEqual(serials);
    client.ws.terminate();
    await once(client.ws, 'close').catch(() => {});
  }
});
