/** Commands reach the daemon of their own home on its Unix socket; what listens at its address gets nothing. */
import { once } from 'node:events';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Daemon, devmgr, discard, startDaemon, temporaryFolder } from './program.ts';

let daemon: Daemon;
/** Counts the connections to the address that daemon.json names. */
let stranger: Server;
let connections = 0;
let info: string;

beforeAll(async () => {
  daemon = await startDaemon();
  stranger = createServer(socket => {
    connections++;
    socket.destroy();
  });
  stranger.listen(0, '127.0.0.1');
  await once(stranger, 'listening');
  info = readFileSync(infoFile(), 'utf8');
});
afterAll(async () => {
  stranger?.close();
  await discard(daemon);
});
beforeEach(() => {
  connections = 0;
  const url = `http://127.0.0.1:${(stranger.address() as AddressInfo).port}`;
  writeFileSync(infoFile(), JSON.stringify({ ...JSON.parse(info), url }));
});
afterEach(() => writeFileSync(infoFile(), info));

const infoFile = () => join(daemon.home, 'daemon.json');

test.each([
  ['a request', ['list', '--json']],
  ['all pages of a list', ['list', '--all', '--json']],
  ['the state of the daemon', ['daemon', 'status', '--json']],
  ['the hardware service', ['keys', '--json']],
])('%s uses the socket', async (_, args) => {
  expect((await daemon.run(args)).code).toBe(0);
  expect(connections).toBe(0);
});

test('a batch and an upload use the socket', async () => {
  const folder = temporaryFolder();
  const rows = join(folder, 'rows.csv');
  const app = join(folder, 'app.apk');
  writeFileSync(rows, 'type,serial,manufacturer,model\nUKEY,B-1,Feitian,K9\n');
  writeFileSync(app, 'package');
  expect((await daemon.run(['register', '--file', rows, '--json'])).code).toBe(0);
  const uploaded = await daemon.run(['apps', 'add', app, '--platform', 'ANDROID', '--version', '1.0.0', '--json']);
  expect(uploaded.code).toBe(0);
  const out = join(folder, 'again.apk');
  const { versionId } = uploaded.json as { versionId: string };
  expect((await daemon.run(['apps', 'download', versionId, '--out', out])).code).toBe(0);
  expect(readFileSync(out, 'utf8')).toBe('package');
  expect(connections).toBe(0);
});

test('the notification stream uses the socket', async () => {
  const { code, rows } = await daemon.run(['watch', '--since', '0', '--count', '1', '--json']);
  expect(code).toBe(0);
  expect(rows[0]).toMatchObject({ type: expect.any(String) });
  expect(connections).toBe(0);
});

test('without the socket file, the port is used', async () => {
  writeFileSync(infoFile(), info);
  const { socket } = JSON.parse(info) as { socket: string };
  renameSync(socket, `${socket}.away`);
  const { code } = await daemon.run(['list', '--json']);
  renameSync(`${socket}.away`, socket);
  expect(code).toBe(0);
});

test('a home whose path is too long for a socket is served on the port', async () => {
  const home = join(temporaryFolder(), 'x'.repeat(100));
  const started = await devmgr(['daemon', 'start', '--port', '0', '--json'], { home });
  expect(started.code).toBe(0);
  expect((await devmgr(['daemon', 'status', '--json'], { home })).json).toMatchObject({ running: true, socket: null });
  expect((await devmgr(['daemon', 'stop', '--json'], { home })).json.stopped).toBe(true);
});
