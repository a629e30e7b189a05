/** The client of the notification stream, with a real server. */
import { getEventListeners } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { followNotifications } from '../../src/cli/client/stream.ts';
import { quietClient, registration, type StreamServer, startStreamServer } from '../support/stream-server.ts';

let server: StreamServer;
beforeAll(async () => {
  server = await startStreamServer();
});
afterAll(() => server.stop());

/** A stream of all new events, and the function that ends it. */
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

test('a stream does not use more memory over time', async () => {
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

test('a stream ends at once when it is aborted, also while it is idle', async () => {
  const { events, ending, connected } = follow();
  const next = events.next();
  await connected;
  ending.abort();
  expect(await next).toEqual({ done: true, value: undefined });
});

test('an event that arrives over two connections is yielded once, and invalid messages are ignored', async () => {
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
