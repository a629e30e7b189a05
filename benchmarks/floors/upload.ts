/** Takes a raw body: hashes it with SHA-256 on the way to a file, has the file on disk before it answers, and removes it. */
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';

const folder = process.argv[2]!;

async function take(request: IncomingMessage): Promise<{ fileSize: number; sha256: string }> {
  const hash = createHash('sha256');
  let fileSize = 0;
  const hashing = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      fileSize += chunk.length;
      done(null, chunk);
    },
  });
  const file = join(folder, `raw-${process.pid}`);
  await pipeline(request, hashing, createWriteStream(file, { flush: true }));
  await rm(file);
  return { fileSize, sha256: hash.digest('hex') };
}

const server = createServer(async (request, response) => {
  const body = JSON.stringify(request.method === 'POST' ? { data: await take(request) } : {});
  response.setHeader('content-length', body.length).end(body);
});
server.requestTimeout = 0;
server.listen(0, '127.0.0.1', () => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  process.stdout.write(`${JSON.stringify({ event: 'listening', url })}\n`);
});
process.on('SIGTERM', () => process.exit(0));
