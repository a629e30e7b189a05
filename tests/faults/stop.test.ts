/** SIGTERM: running requests are finished, then the daemon ends, within ten seconds. */
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type DaemonProcess, spawnDaemon } from '../support/daemon-process.ts';
import { filesIn } from '../support/forms.ts';
import { beginUpload, block, MiB } from '../support/sending.ts';
import { openStream } from '../support/stream-client.ts';

const GRACE_MS = 10_000;

let home: string;
let daemon: DaemonProcess;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'devmgr-stop-'));
  daemon = await spawnDaemon({ home });
});
afterEach(async () => {
  if (daemon.child.exitCode === null && daemon.child.signalCode === null) await daemon.kill();
  await rm(home, { recursive: true, force: true });
});

const serials = (): string[] => {
  const db = new Database(join(home, 'devmgr.db'), { readonly: true });
  const found = db.prepare('SELECT serial_number FROM device').pluck().all() as string[];
  db.close();
  return found;
};

it('under load: every change is answered, a running upload is accepted, streams are closed, and the exit code is 0', async () => {
  const answered = new Set<string>();
  let stopping = false;
  const client = async (name: number) => {
    for (let i = 0; ; i++) {
      const serialNumber = `S-${name}-${i}`;
      const device = { deviceType: 'UKEY', serialNumber, manufacturer: 'Feitian', model: 'K9' };
      // A connection that is refused, or closed before the request was accepted, ends the client.
      const answer = await daemon.call('POST', '/api/devices/register', device).catch(() => null);
      if (!answer) return;
      expect(answer.code).toBe(200);
      answered.add(serialNumber);
      if (answered.size === 300) {
        stopping = true;
        daemon.child.kill('SIGTERM');
      }
    }
  };
  const stream = await openStream(daemon.url, { token: daemon.token });
  const upload = beginUpload(daemon, '1.0.0', { size: 2 * MiB });
  await upload.file(MiB);
  const ended = once(daemon.child, 'exit');
  await Promise.all(Array.from({ length: 32 }, (_, name) => client(name)));
  expect(stopping).toBe(true);
  const started = performance.now();
  expect((await stream.closed).code).toBe(1001);
  await upload.file(MiB);
  upload.end();
  expect(await upload.answered).toMatchObject({ code: 200, data: { fileSize: 2 * MiB } });
  expect((await ended)[0]).toBe(0);
  expect(performance.now() - started).toBeLessThan(GRACE_MS);
  expect(serials().filter(serial => !answered.has(serial))).toEqual([]);
  expect(new Set(serials())).toEqual(answered);
  expect(await filesIn({ home })).toHaveLength(1);
});

it('with requests that never end: their connections are closed after ten seconds, nothing of them stays, and the exit code is 0', async () => {
  const upload = beginUpload(daemon, '1.0.0', { size: 2 * MiB });
  await upload.file(block.length);
  const silent = connect(Number(new URL(daemon.url).port), '127.0.0.1');
  await once(silent, 'connect');
  silent.write('POST /api/auth/login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50\r\n\r\n{');
  await expect.poll(() => filesIn({ home })).toHaveLength(1);
  expect(await daemon.stop()).toBe(0);
  await expect(upload.answered).rejects.toThrow();
  silent.destroy();
  expect(daemon.output()).toContain('closing the connections');
  expect((await readdir(join(home, 'blobs'), { recursive: true })).filter(name => name !== 'incoming')).toEqual([]);
});

it('removes the files of the running daemon and the local token', async () => {
  expect(await daemon.stop()).toBe(0);
  const left = await readdir(home);
  for (const name of ['daemon.json', 'daemon.sock', 'local-token', 'daemon.lock.pid', 'devmgr.db-wal'])
    expect(left).not.toContain(name);
});

it('a second signal ends it at once', async () => {
  const upload = beginUpload(daemon, '1.0.0', { size: 2 * MiB });
  upload.answered.catch(() => {});
  await upload.file(block.length);
  await expect.poll(() => filesIn({ home })).toHaveLength(1);
  const ended = once(daemon.child, 'exit');
  daemon.child.kill('SIGTERM');
  await expect.poll(daemon.output).toContain('"stopping"');
  daemon.child.kill('SIGTERM');
  expect((await ended)[0]).toBe(143);
});
