/** Health is answered between the requests of others, however many arrive at the same moment and whatever they ask. */
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rateLimits } from '../../src/contract/limits.ts';
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts';

let daemon: TestDaemon;
const DEVICES = 5000;
beforeAll(async () => {
  daemon = await startTestDaemon({ limits: { ...rateLimits, login: null, query: null, modify: null, document: null } });
  const devices = Array.from({ length: DEVICES }, (_, i) => registration(i));
  expect((await daemon.call('POST', '/api/devices/batch-register', { devices })).data.success).toBe(DEVICES);
});
afterAll(() => daemon?.stop());

const registration = (i: number) => ({
  deviceType: 'UKEY',
  serialNumber: `MANY-${i}`,
  manufacturer: 'Acme',
  model: 'One',
});

const AT_ONCE = 300;

async function opened(): Promise<Socket> {
  const { port, hostname } = new URL(daemon.url);
  const socket = connect(Number(port), hostname);
  await new Promise(resolve => socket.once('connect', resolve));
  return socket;
}

const head = (line: string, ...headers: string[]) =>
  `${[`${line} HTTP/1.1`, 'Host: 127.0.0.1', `Authorization: Bearer ${daemon.adminToken}`, ...headers].join('\r\n')}\r\n\r\n`;

function post(path: string, body: object): string {
  const text = JSON.stringify(body);
  return head(`POST ${path}`, 'Content-Type: application/json', `Content-Length: ${text.length}`) + text;
}

/** How many of the requests were answered before the health that was asked for after them. */
async function answeredBeforeHealth(requestOf: (i: number) => string): Promise<number> {
  const sockets = await Promise.all(Array.from({ length: AT_ONCE }, opened));
  const health = await opened();
  let answered = 0;
  const all = sockets.map(
    (socket, i) =>
      new Promise<void>(resolve => {
        socket.once('data', () => {
          answered++;
          resolve();
        });
        socket.write(requestOf(i));
      }),
  );
  const before = new Promise<number>(resolve => health.once('data', () => resolve(answered)));
  health.write(head('GET /api/health'));
  const found = await before;
  await Promise.all(all);
  for (const socket of [...sockets, health]) socket.destroy();
  return found;
}

describe('300 requests at once', () => {
  const kinds: [string, (i: number) => string][] = [
    ['for events', i => head(`GET /api/events?limit=1000&after=${i}`)],
    ['for events of one type', i => head(`GET /api/events?limit=1000&types=DEVICE_REGISTERED&after=${i}`)],
    ['for statistics', () => head('GET /api/statistics')],
    ['for the YAML document', () => head('GET /api/openapi.yaml')],
    ['for the script of the Swagger page', () => head('GET /api/swagger-ui/swagger-ui-bundle.js')],
  ];
  it.each(kinds)('%s: health does not wait for them', async (_what, requestOf) => {
    expect(await answeredBeforeHealth(requestOf)).toBeLessThan(AT_ONCE / 5);
  });
});

it('requests with large bodies that are cut off give their place back', async () => {
  const body = { devices: Array.from({ length: 2000 }, (_, i) => registration(i)) };
  for (let i = 0; i < 12; i++) {
    const socket = await opened();
    socket.on('error', () => {});
    await new Promise<void>(resolve => socket.write(post('/api/devices/batch-register', body), () => resolve()));
    socket.destroy();
  }
  const { code, data } = await daemon.call('POST', '/api/devices/batch-register', body);
  expect([code, data.failed]).toEqual([200, 2000]);
});
