/** The client's side of the notification stream, against a real one. */
import { getEventListeners } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { WebSocketServer } from 'ws';
import { timeouts } from '../../src/cli/client/http.ts';
import { followNotifications } from '../../src/cli/client/stream.ts';
import { drip, speaking } from '../support/http-servers.ts';
import { quietClient, registration, type StreamServer, startStreamServer } from '../support/stream-server.ts';

let server: StreamServer;
beforeAll(async () => {
  server = await startStreamServer();
});
afterAll(() => server.stop());

/** A stream of everything from the next event on, and the controller that ends it. */
function follow(url = server.url) {
  const ending = new AbortController();
  const client = quietClient(url, server.token, ending.signal);
  const connected = Promise.withResolvers<void>();
  const events = followNotifications({
    client,
    types: [],
    since: null,
    onState: state => state === 'connected' && connected.resolve(),
  });
  return { events, ending, connected: connected.promise };
}

test('a stream does not add listeners with each event', async () => {
  const { events, ending, connected } = follow();
  let next = events.next();
  await connected;
  const listeners = () => getEventListeners(ending.signal, 'abort').length;
  const atFirst = listeners();
  for (let seen = 0; seen < 20; seen++) {
    await server.commit(registration());
    expect(await next).toMatchObject({ value: { type: 'DEVICE_REGISTERED' } });
    next = events.next();
  }
  expect(listeners()).toBe(atFirst);
  ending.abort();
  expect(await next).toEqual({ done: true, value: undefined });
});

test('a stream ends at once with its signal, also while it is idle', async () => {
  const { events, ending, connected } = follow();
  const next = events.next();
  await connected;
  ending.abort();
  expect(await next).toEqual({ done: true, value: undefined });
});

test('an event that arrives over two connections is delivered once, and a frame that is not an event never', async () => {
  const event = (id: number) => JSON.stringify({ id, type: 'DEVICE_LOCKED', timestamp: '2026-03-01', data: {} });
  const key = JSON.stringify({ type: 'KEY_ATTACHED', timestamp: '2026-03-01', data: {} });
  const connections = [
    [event(1), key, 'no JSON', '{"id":2}', '[]', 'null', event(2)],
    [event(1), event(2), key, event(3)],
  ];
  const asked: (string | null)[] = [];
  const repeating = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  onTestFinished(() => void repeating.close());
  repeating.on('connection', (socket, request) => {
    asked.push(new URL(request.url!, 'http://localhost').searchParams.get('since'));
    for (const frame of connections.shift() ?? []) socket.send(frame);
    if (connections.length > 0) socket.close();
  });
  await new Promise(resolve => repeating.once('listening', resolve));
  const { events } = follow(`http://127.0.0.1:${(repeating.address() as AddressInfo).port}`);
  const seen: (number | string)[] = [];
  while (seen.at(-1) !== 3) {
    const { value } = await events.next();
    seen.push(value.id ?? value.type);
  }
  await events.return(undefined);
  expect(seen).toEqual([1, 'KEY_ATTACHED', 2, 'KEY_ATTACHED', 3]);
  expect(asked).toEqual([null, '2']);
});

test('an upgrade whose headers never end is given up', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const asked = Promise.withResolvers<void>();
  const { url } = await speaking(socket => {
    socket.once('data', () => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\n');
      drip(socket, 'x: y\r\n', 20);
      asked.resolve();
    });
  });
  const late = expect(follow(url).events.next()).rejects.toMatchObject({ kind: 'unreachable', timedOut: true });
  await asked.promise;
  vi.advanceTimersByTime(timeouts.connectMs + timeouts.headersMs);
  await late;
});
