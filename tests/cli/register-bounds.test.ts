/** Limits of `register --file`: no request is larger than the server accepts, and no file is read and written at once. */
import { linkSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Daemon, discard, startDaemon, temporaryFolder } from './program.ts';

let daemon: Daemon;
beforeAll(async () => {
  daemon = await startDaemon();
});
afterAll(() => discard(daemon));

test('a batch with too many bytes for one request is split', async () => {
  const count = 10_000;
  // Texts of maximum length, with four bytes per character: 16 MiB hold fewer lines than a batch may have.
  const long = '\u{1f511}'.repeat(200);
  const rows = Array.from({ length: count }, (_, n) => `UKEY,BYTES-${n},${long},${long},1,${long.slice(0, 128)}`);
  const file = join(temporaryFolder(), 'keys.csv');
  writeFileSync(file, ['type,serial,manufacturer,model,hardware,firmware', ...rows].join('\n'));
  const args = ['register', '--file', file, '--batch-size', String(count), '--out', `${file}.jsonl`];
  const { code, stderr } = await daemon.run(args);
  expect(stderr).toContain(`${count.toLocaleString('en')} devices registered`);
  expect(code).toBe(0);
}, 120_000);

test('the results are never written to the input file, under any name', async () => {
  const file = join(temporaryFolder(), 'keys.csv');
  const content = 'type,serial,manufacturer,model\nUKEY,SAME-1,Acme,One\n';
  writeFileSync(file, content);
  linkSync(file, `${file}.link`);
  for (const out of [file, `${file}.link`]) {
    const { code, stderr } = await daemon.run(['register', '--file', file, '--out', out]);
    expect(code).toBe(2);
    expect(stderr).toContain('is the input file');
  }
  expect(readFileSync(file, 'utf8')).toBe(content);
  expect((await daemon.call('GET', '/api/devices/list?keyword=SAME-1')).pagination.total).toBe(0);
});
