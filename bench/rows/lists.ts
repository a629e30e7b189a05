import { fill } from '../fill.ts';
import type { Bench } from '../main.ts';
import { benchFolder, removeFolder, startDaemon } from '../processes.ts';
import { median, type Row } from '../report.ts';
import { ratio } from './http.ts';

/** Median milliseconds of one request after another: the size of the registry shows, not the number of clients. */
async function timed(url: string, token: string, path: string, times: number): Promise<number> {
  const samples: number[] = [];
  for (let i = 0; i < times + 10; i++) {
    const begun = performance.now();
    const response = await fetch(url + path, { headers: { authorization: `Bearer ${token}` } });
    await response.arrayBuffer();
    if (response.status !== 200) throw new Error(`${path}: ${response.status}`);
    if (i >= 10) samples.push(performance.now() - begun);
  }
  return median(samples);
}

/** Page 1 with its total at the size of the bench beside the same at 1,000 devices, with every filter. */
export async function* listRows({ daemon, repetitions, devices }: Bench): AsyncGenerator<Row> {
  if (devices <= 1000) return;
  const folder = await benchFolder();
  const small = await startDaemon(folder);
  const filters = [
    '',
    'deviceType=UKEY',
    'status=INACTIVE',
    'manufacturer=Maker%203',
    'status=INACTIVE&deviceType=SIMKEY&manufacturer=Maker%201',
  ];
  try {
    await fill(small, 1000);
    for (const filter of filters) {
      const path = `/api/devices/list?${filter}`;
      const pairs: [number, number][] = [];
      for (let i = 0; i < repetitions; i++)
        pairs.push([await timed(daemon.url, daemon.token, path, 100), await timed(small.url, small.token, path, 100)]);
      yield ratio(`list page 1, total, ${filter || 'no filter'}, ${devices} devices`, 'ms', pairs, 'at 1,000 devices', {
        atMost: 1.5,
      });
    }
  } finally {
    await small.stop();
    await removeFolder(folder);
  }
}
