import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const client = JSON.stringify(join(import.meta.dirname, '../../daemon/files/s3/client.ts'));

/** Stores parts one after the other, in a process of its own, and writes the median of the bytes of old objects that a part left behind. */
const script = `
  import { once } from 'node:events';
  import { createServer } from 'node:http';
  import { getHeapSpaceStatistics } from 'node:v8';
  import { UploadPartCommand } from '@aws-sdk/client-s3';
  import { clientOf } from ${client};
  const server = createServer((request, response) => request.resume().on('end', () => response.end()));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const endpoint = 'http://127.0.0.1:' + server.address().port;
  const keys = { accessKeyId: 'id', secretAccessKey: 'secret' };
  const client = clientOf({ bucket: 'bucket', prefix: '', endpoint, region: 'us-east-1', credentials: keys }, null);
  const part = { Bucket: 'bucket', Key: 'file', UploadId: 'id', PartNumber: 1, Body: Buffer.alloc(1000) };
  const store = async count => {
    for (let i = 0; i < count; i++) await client.send(new UploadPartCommand(part));
  };
  const old = () => getHeapSpaceStatistics().find(space => space.space_name === 'old_space').space_used_size;
  const left = [];
  await store(400);
  for (let round = 0; round < 5; round++) {
    const before = old();
    await store(200);
    left.push((old() - before) / 200);
  }
  console.log(left.sort((a, b) => a - b)[2]);
  client.destroy();
  server.close();`;

test('the objects of a request do not outlive it', () => {
  // V8 compiles at the same time, which also takes memory. Objects of requests took 9 kB for each.
  const options = ['--max-semi-space-size=2', '--initial-old-space-size=200', '--input-type=module', '-e', script];
  expect(Number(execFileSync(process.execPath, options, { encoding: 'utf8' }))).toBeLessThan(5_000);
});
