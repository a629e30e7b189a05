import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Bench } from '../bench.ts';
import { forgetPeak, peakMiB, runJson, startDaemon, startFloor } from '../processes.ts';
import { bound, type Pair, type Row, ratio } from '../report.ts';
import type { UploadOrder, UploadResult } from '../uploader.ts';

const bytes = 1024 ** 3;

/** An upload of 1 GiB beside a raw body that is hashed and written. Both have it on disk when they answer. */
export async function* uploadRows({ scratch, repetitions }: Bench): AsyncGenerator<Row> {
  const folder = join(scratch, 'raw-uploads');
  await mkdir(folder);
  const daemon = await startDaemon(join(scratch, 'upload'));
  const floor = await startFloor('upload.ts', [folder]);
  const pairs: Pair[] = [];
  const peaks: number[] = [];
  try {
    for (let i = 0; i < repetitions; i++) {
      await forgetPeak(daemon.pid);
      const ours = await upload({ url: daemon.url, token: daemon.token, bytes, version: `1.${i}` });
      peaks.push(await peakMiB(daemon.pid));
      const theirs = await upload({ url: floor.url, token: null, bytes, version: null });
      if (ours.fileSize !== theirs.fileSize || ours.sha256 !== theirs.sha256)
        throw new Error('the two sides did not receive the same');
      pairs.push([ours.seconds, theirs.seconds]);
    }
  } finally {
    await floor.stop();
    await daemon.stop();
  }
  yield ratio('upload of 1 GiB', 's', pairs, 'raw body with SHA-256', { atMost: 1.25 });
  yield bound('the same: most memory of the daemon', 'MiB', peaks, 160);
}

async function upload(order: UploadOrder): Promise<UploadResult> {
  const result = await runJson<UploadResult>('uploader.ts', JSON.stringify(order));
  if (result.status !== 200 || result.fileSize !== bytes) throw new Error(`the upload was refused: ${result.status}`);
  return result;
}
