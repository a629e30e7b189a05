/** Clients that ask for much and read nothing. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { expect, it, onTestFinished } from 'vitest';
import { DeviceExport } from '../../daemon/devices/export.ts';
import type { DeviceRow } from '../../daemon/devices/records.ts';
import { deviceOperations } from '../../daemon/devices/routes.ts';
import { fileOperations } from '../../daemon/files/routes.ts';
import type { Store } from '../../daemon/store/store.ts';
import { startOperations } from '../support/operation-server.ts';
import { openTemporary } from '../support/sqlite.ts';

/** Long enough for two requests on a busy machine. */
const STALL_MS = 1_500;
/** More than the system buffers for a connection. */
const PIECES = 16;
const BYTES = 1024 * 1024;

/** Each piece has memory of its own, which is freed when it is sent. */
function* pieces(): Generator<Buffer> {
  for (let n = 0; n < PIECES; n++) yield Buffer.alloc(BYTES, 'x');
}

const row: DeviceRow = {
  number: 1,
  deviceType: 'UKEY',
  serialNumber: 'S-1',
  manufacturer: 'Acme',
  model: 'K1',
  status: 'INACTIVE',
  userId: null,
  userKey: null,
  person: null,
  activationCode: 'ABCD-EFGH-JKLM-NPQR',
  activationCodeExpiresAt: 0,
  createdAt: 0,
  activatedAt: null,
  lastUsedAt: null,
  tags: {},
  proof: null,
};

async function startServer() {
  const { store, cleanup } = await openTemporary();
  const large = { ...row, model: 'x'.repeat(BYTES) };
  const scanned = {
    // One batch: nothing of the export is left to be made when the first piece waits for the reader.
    async *scanDevices() {
      yield Array(PIECES).fill(large) as DeviceRow[];
    },
  } as unknown as Store;
  let closedFiles = 0;
  const download = () => {
    const content = Readable.from(pieces());
    content.once('close', () => closedFiles++);
    const blob = { size: PIECES * BYTES, stream: () => content, close: async () => {} };
    return Promise.resolve({ blob, sha256: '0'.repeat(64), fileName: 'a.apk' });
  };
  const services = {
    exports: new DeviceExport(scanned),
    apps: { download },
    access: { record() {} },
    stallMs: STALL_MS,
  };
  const server = await startOperations(store, {
    ...deviceOperations(services as never),
    ...fileOperations(services as never),
  });
  onTestFinished(async () => {
    await server.stop();
    await cleanup();
  });
  const get = (path: string) => fetch(server.url + path, { headers: { authorization: `Bearer ${server.token}` } });
  return { ...server, get, closedFiles: () => closedFiles };
}

/** Asks for a path and takes nothing but the beginning of the response. */
async function unread({ url, token }: { readonly url: string; readonly token: string }, path: string) {
  const socket = connect(Number(new URL(url).port), '127.0.0.1').pause();
  socket.on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`);
  await once(socket, 'readable');
  expect(String(socket.read(12))).toBe('HTTP/1.1 200');
  return {
    /** Reads now, to the end of the connection; returns the number of bytes. */
    async read(): Promise<number> {
      socket.on('data', () => undefined).resume();
      if (!socket.closed) await once(socket, 'close');
      return socket.bytesRead;
    },
  };
}

it('an export whose end waits for its reader is running until it is sent, or the reader has taken nothing for the time', async () => {
  const server = await startServer();
  const { read } = await unread(server, '/api/devices/export');
  const again = async () => {
    const { status, body } = await server.get('/api/devices/export');
    await body?.cancel();
    return status;
  };
  expect(await again()).toBe(429);
  await expect.poll(again, { timeout: 20_000 }).toBe(200);
  expect(await read()).toBeLessThan(PIECES * BYTES);
});

it('a download whose reader takes nothing ends, and its file is closed', async () => {
  const server = await startServer();
  const { read } = await unread(server, '/api/app-versions/APP-1/download');
  await expect.poll(server.closedFiles, { timeout: 20_000 }).toBe(1);
  expect(await read()).toBeLessThan(PIECES * BYTES);
});
