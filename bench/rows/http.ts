import { join } from 'node:path';
import type { Bench } from '../main.ts';
import { load, runJson, startFloor } from '../processes.ts';
import { median, type Row } from '../report.ts';

/** Detail, and single registrations, beside a Fastify that does nothing else and one that commits each request. */
export async function* httpRows(bench: Bench): AsyncGenerator<Row> {
  const { daemon, repetitions, seconds, devices } = bench;
  const path = `/api/devices/DEV-${Math.max(1, devices >> 1)}`;
  const answer = await fetch(daemon.url + path, { headers: { authorization: `Bearer ${daemon.token}` } });
  const floor = await startFloor('http.ts', join(bench.folder, 'floor.db'), await answer.text());
  const order = { token: null, connections: 64, seconds };
  const ours = { ...order, url: daemon.url, token: daemon.token };
  const paths = Array.from({ length: 1000 }, (_, i) => `/api/devices/DEV-${1 + Math.floor((i * devices) / 1000)}`);
  try {
    const detail: [number, number][] = [];
    for (let i = 0; i < repetitions; i++)
      detail.push([
        (await load({ ...ours, kind: 'get', paths })).perSecond,
        (await load({ ...order, url: floor.url, kind: 'get', paths: ['/static'] })).perSecond,
      ]);
    yield ratio('detail, authenticated', 'req/s', detail, 'bare Fastify, static envelope', { atLeast: 0.5 });

    const kinds = { committed: [] as [number, number][], answered: [] as [number, number][] };
    for (let i = 0; i < repetitions; i++) {
      const figure = (await load({ ...ours, kind: 'register', prefix: `s${Date.now()}` })).perSecond;
      const at = (path: string) =>
        load({ ...order, url: floor.url, kind: 'register', prefix: `f${Date.now()}`, paths: [path] });
      kinds.committed.push([figure, (await at('/commit/api/devices/register')).perSecond]);
      kinds.answered.push([figure, (await at('/api/devices/register')).perSecond]);
    }
    yield ratio('single registers, 64 clients, durable', 'reg/s', kinds.committed, 'one durable commit per request', {
      atLeast: 6,
    });
    yield ratio('the same', 'reg/s', kinds.answered, 'answered without a database', { atLeast: 0.6 });
  } finally {
    await floor.stop();
  }
}

/** A batch of 10,000 beside one raw transaction of the same rows into the same tables. */
export async function* batchRows({ daemon, repetitions, folder }: Bench): AsyncGenerator<Row> {
  const samples: [number, number][] = [];
  for (let i = 0; i < repetitions; i++) {
    const devices = Array.from({ length: 10_000 }, (_, n) => ({
      deviceType: n % 2 ? 'UKEY' : 'SIMKEY',
      serialNumber: `b${Date.now()}-${n}`,
      manufacturer: `Maker ${n % 5}`,
      model: 'M1',
    }));
    const begun = performance.now();
    const { status, data } = await daemon.call('POST', '/api/devices/batch-register', { devices });
    const figure = 10_000 / ((performance.now() - begun) / 1000);
    if (status !== 200 || (data as { success: number }).success !== 10_000)
      throw new Error('the batch was not accepted whole');
    const floor = await runJson<{ rowsPerSecond: number }>('floors/transaction.ts', join(folder, `raw-${i}.db`));
    samples.push([figure, floor.rowsPerSecond]);
  }
  yield ratio('batch of 10,000', 'devices/s', samples, 'one raw transaction of the same rows', { atLeast: 0.45 });
}

export function ratio(
  work: string,
  unit: string,
  pairs: readonly (readonly [number, number])[],
  what: string,
  goal: Row['goal'],
): Row {
  return {
    work,
    unit,
    figure: median(pairs.map(([figure]) => figure)),
    floor: { what, figure: median(pairs.map(([, floor]) => floor)) },
    samples: pairs.map(([figure, floor]) => figure / floor),
    goal,
  };
}
