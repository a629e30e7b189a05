/** How many exports run at the same time, and what happens to a reader that takes nothing. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { registration } from '../support/fleet.ts';

let daemon: TestDaemon;
const tokens: Record<string, string> = {};

beforeAll(async () => {
  daemon = await startTestDaemon();
  for (const name of ['viewer-1', 'viewer-2', 'viewer-3']) tokens[name] = (await daemon.user(name, 'VIEWER')).token;
  for (const name of ['dealer-1', 'dealer-2', 'dealer-3']) tokens[name] = (await daemon.user(name, 'DEALER')).token;
  // More than the system buffers for a connection.
  const long = '漢'.repeat(200);
  for (let batch = 0; batch < 2; batch++) {
    const devices = Array.from({ length: 6000 }, () => registration({ manufacturer: long, model: long }));
    expect((await daemon.call('POST', '/api/devices/batch-register', { devices })).data.failed).toBe(0);
  }
}, 60_000);
afterAll(() => daemon?.stop());
/** The exports of the test before have ended. */
beforeEach(async () => {
  for (const name in tokens) await free(name);
});

const pathOf = (format: string) => `/api/devices/export?format=${format}`;
const headOf = (token: string, format = 'ndjson') =>
  `GET ${pathOf(format)} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`;

/** Sends requests on one connection and takes nothing but the beginning of the first response. */
async function unread(...heads: string[]): Promise<Socket> {
  const socket = connect(Number(new URL(daemon.url).port), '127.0.0.1').pause();
  socket.on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  socket.write(heads.join(''));
  await once(socket, 'readable');
  expect(String(socket.read(12))).toBe('HTTP/1.1 200');
  return socket;
}

/** Asks for an export of one device and reads it. */
async function asked(name: string) {
  const response = await fetch(`${daemon.url}/api/devices/export?serialNumber=none`, {
    headers: { authorization: `Bearer ${tokens[name]}` },
  });
  const text = await response.text();
  return { status: response.status, retryAfter: response.headers.get('retry-after'), text };
}
const statusOf = async (name: string) => (await asked(name)).status;

/** Resolves when an export of the user is accepted. */
async function free(name: string): Promise<void> {
  while ((await statusOf(name)) !== 200) await new Promise(setImmediate);
}
const held = (name: string): Promise<Socket> => unread(headOf(tokens[name]!));

describe('exports at the same time', () => {
  it('are one for a user; the second is 429 with Retry-After', async () => {
    const first = await held('dealer-1');
    const second = await asked('dealer-1');
    expect(second).toMatchObject({ status: 429, retryAfter: '5' });
    expect(JSON.parse(second.text)).toMatchObject({ code: 429, data: null });
    expect(await statusOf('dealer-2')).toBe(200);
    first.destroy();
    await free('dealer-1');
  });

  it('are two for all VIEWERs, who do not keep others from theirs', async () => {
    const viewers = [await held('viewer-1'), await held('viewer-2')];
    expect(await asked('viewer-3')).toMatchObject({ status: 429, retryAfter: '5' });
    expect(await statusOf('dealer-1')).toBe(200);
    viewers[0]!.destroy();
    await free('viewer-3');
  });

  it('are four in all', async () => {
    const sockets = [];
    for (const name of ['viewer-1', 'viewer-2', 'dealer-1', 'dealer-2']) sockets.push(await held(name));
    expect(await statusOf('dealer-3')).toBe(429);
    sockets[0]!.destroy();
    await free('dealer-3');
  });
});

describe('a reader that takes nothing for 30 s', () => {
  const fakeTimers = () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
  };
  /** Lets time pass until the exports of the user have ended. */
  async function freeInTime(name: string): Promise<number> {
    for (let seconds = 0; ; seconds += 10) {
      if ((await statusOf(name)) === 200) return seconds;
      vi.advanceTimersByTime(10_000);
      for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
    }
  }

  it.each(['ndjson', 'csv'])('in the middle of an export as %s is disconnected', async format => {
    fakeTimers();
    const socket = await unread(headOf(tokens['dealer-1']!, format));
    expect(await freeInTime('dealer-1')).toBeGreaterThanOrEqual(30);
    let received = '';
    socket.on('data', chunk => {
      received += chunk;
    });
    socket.resume();
    if (!socket.closed) await once(socket, 'close');
    expect(received).toMatch(/^ OK\r\n/);
    expect(received).not.toMatch(/"end":true|\r\n0\r\n\r\n$/);
  });

  it('is disconnected with the requests behind it on its connection, none of which has begun', async () => {
    fakeTimers();
    const socket = await unread(headOf(tokens['dealer-1']!), headOf(tokens['dealer-2']!));
    expect(await statusOf('dealer-2')).toBe(200);
    expect(await freeInTime('dealer-1')).toBeGreaterThanOrEqual(30);
    socket.resume();
    if (!socket.closed) await once(socket, 'close');
    expect(await statusOf('dealer-2')).toBe(200);
  });

  it('and sends further bytes on its connection is disconnected all the same', async () => {
    fakeTimers();
    const socket = await unread(headOf(tokens['dealer-1']!));
    const trickle = setInterval(() => socket.write('GET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n'), 5);
    onTestFinished(() => clearInterval(trickle));
    expect(await freeInTime('dealer-1')).toBeGreaterThanOrEqual(30);
  });
});
