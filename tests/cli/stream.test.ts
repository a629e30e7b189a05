/** The client's side of the notification stream, against a real one. */
import { getEventListeners } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { WebSocketServer } from 'ws';
import { listEndpoint } from '../../src/cli/client/addresses.ts';
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
function follow(...urls: string[]) {
  const ending = new AbortController();
  const several = urls.length > 1 ? { endpoint: listEndpoint(urls) } : {};
  const client = quietClient(urls[0] ?? server.url, server.token, ending.signal, several);
  const states: string[] = [];
  const connected = Promise.withResolvers<void>();
  const events = followNotifications({
    client,
    types: [],
    since: null,
    onState: state => {
      states.push(state);
      if (state === 'connected') connected.resolve();
    },
  });
  return { events, states, ending, connected: connected.promise };
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

/** A server of streams: sends these events to each connection in turn, then ends it with the code; null leaves it open. */
async function streaming(
  turns: readonly { events: readonly number[]; close: number | null }[],
  isBehind = () => false,
) {
  const left = [...turns];
  const asked: (string | null)[] = [];
  const behind = JSON.stringify({ code: 1001, message: 'since is after the last event', data: null });
  const sockets = new WebSocketServer({
    host: '127.0.0.1',
    port: 0,
    verifyClient: ({ req }, done) => {
      asked.push(new URL(req.url!, 'http://localhost').searchParams.get('since'));
      done(!isBehind(), 400, behind);
    },
  });
  onTestFinished(() => void sockets.close());
  sockets.on('connection', socket => {
    const { events, close } = left.shift() ?? { events: [], close: null };
    for (const id of events)
      socket.send(JSON.stringify({ id, type: 'DEVICE_LOCKED', timestamp: '2026-03-01', data: {} }));
    if (close !== null) socket.close(close);
  });
  await new Promise(resolve => sockets.once('listening', resolve));
  return { url: `http://127.0.0.1:${(sockets.address() as AddressInfo).port}`, asked };
}

async function idsUntil(events: AsyncGenerator<{ id?: number }>, last: number): Promise<number[]> {
  const ids: number[] = [];
  while (ids.at(-1) !== last) ids.push((await events.next()).value!.id!);
  await events.return(undefined);
  return ids;
}

test('a stream that a stopping server closes continues at the next address, after the last event', async () => {
  const one = await streaming([{ events: [1, 2], close: 1001 }]);
  const other = await streaming([{ events: [2, 3, 4], close: null }]);
  const { events, states } = follow(one.url, other.url);
  expect(await idsUntil(events, 4)).toEqual([1, 2, 3, 4]);
  expect([one.asked, other.asked]).toEqual([[null], ['2']]);
  expect(states).toEqual(['connecting', 'connected', 'lost', 'connecting', 'resumed']);
});

test('a stream returns to the first address if the second one fails as well', async () => {
  const one = await streaming([
    { events: [1], close: 1001 },
    { events: [3], close: null },
  ]);
  const other = await streaming([{ events: [2], close: 1001 }]);
  const { events } = follow(one.url, other.url);
  expect(await idsUntil(events, 3)).toEqual([1, 2, 3]);
  expect([one.asked, other.asked]).toEqual([[null, '2'], ['1']]);
});

test('an address that does not have the last event yet is asked again, without a gap', async () => {
  let refusals = 0;
  const one = await streaming([{ events: [1, 2], close: 1001 }]);
  const other = await streaming([{ events: [3], close: null }], () => refusals++ < 2);
  const { events, states } = follow(one.url, other.url);
  expect(await idsUntil(events, 3)).toEqual([1, 2, 3]);
  expect(other.asked).toEqual(['2', '2', '2']);
  expect(states).not.toContain('gap');
});

test('a stream begins at the second address if the first one is away', async () => {
  const gone = await streaming([]);
  const away = gone.url.replace(/\d+$/, '1');
  const other = await streaming([{ events: [1], close: null }]);
  expect(await idsUntil(follow(away, other.url).events, 1)).toEqual([1]);
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
