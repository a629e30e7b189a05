/** Services that do not answer as pcscd of a known version does. */
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createPcscDriver } from '../../drivers/pcsc/index.ts';
import { loadPcscMini } from '../../drivers/pcsc/mini/index.ts';
import { PcscdSocket } from '../../drivers/pcsc/mini/pcscd-socket.ts';
import { temporaryFolder } from '../support/temporary.ts';

let greetings: string[];
let serve: (socket: Socket) => void;
let server: ReturnType<typeof createServer>;
const sockets = new Set<Socket>();

beforeEach(async () => {
  greetings = [];
  const path = join(temporaryFolder(), 'pcscd.comm');
  vi.stubEnv('PCSCLITE_CSOCK_NAME', path);
  server = createServer(socket => {
    sockets.add(socket.on('error', () => {}));
    serve(socket);
  });
  await new Promise<void>(resolve => server.listen(path, resolve));
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  vi.unstubAllEnvs();
  await new Promise(resolve => server.close(resolve));
});

/** Answers each greeting with a refusal of its version. */
function refuseVersions(socket: Socket): void {
  socket.on('data', bytes => {
    greetings.push(bytes.toString('hex'));
    const answer = Buffer.alloc(12);
    answer.writeUInt32LE(0x8010_001e, 8);
    socket.write(answer);
  });
}

/** The status of a driver that starts with such a service. */
async function statusWith(load?: typeof loadPcscMini) {
  const driver = createPcscDriver({ ...(load && { load }), retryService: { first: 60_000, most: 60_000 } });
  await driver.start(() => undefined);
  const status = driver.status();
  await driver.stop();
  return status;
}

it('a service of an unknown version is tried with each known one, and the message names what to use', async () => {
  serve = refuseVersions;
  const status = await statusWith(loadPcscMini);
  const minors = greetings.map(greeting => Buffer.from(greeting, 'hex').readUInt32LE(12));
  expect(minors).toEqual([4, 5, 3]);
  expect(status).toMatchObject({
    state: 'unavailable',
    detail: expect.stringMatching(/version of its protocol.*Node 26\.1/),
  });
});

it('with node:ffi, a service of an unknown version is left to the library of the system', async () => {
  serve = refuseVersions;
  const { state } = await statusWith();
  expect(state).toBe('unavailable');
  // The library greets with its own version.
  expect(greetings.length).toBeGreaterThan(3);
});

it('a service that refuses the connection is one that polkit protects', async () => {
  serve = socket => socket.destroy();
  expect(await statusWith(loadPcscMini)).toMatchObject({
    state: 'unavailable',
    detail: expect.stringMatching(/polkit/),
  });
});

it('a service that does not answer is not waited for', async () => {
  serve = () => undefined;
  const ended = new Promise<Error>(resolve => new PcscdSocket({ onList: () => undefined, onEnd: resolve }, 20));
  expect(await ended).toMatchObject({ code: 'NoService', message: 'pcscd does not answer' });
});
