/** The client's side of the notification stream, against a real one. */
import { getEventListeners } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Client } from '../../src/client/client.ts';
import { followNotifications } from '../../src/client/stream.ts';
import { registration, type StreamServer, startStreamServer } from '../support/stream-server.ts';

let server: StreamServer;
beforeAll(async () => {
  server = await startStreamServer();
});
afterAll(() => server.stop());

const silent = () => undefined;

/** A stream of everything from now on, and the call that ends it. */
function follow() {
  const ending = new AbortController();
  const address = () => Promise.resolve(server.url);
  const client = new Client({
    place: { address, whereabouts: address, revive: () => Promise.resolve(false) },
    session: { token: () => Promise.resolve(server.token) },
    signal: ending.signal,
    wait: false,
    notice: silent,
    waiting: silent,
    trace: silent,
  });
  const connected = Promise.withResolvers<void>();
  const events = followNotifications({
    client,
    types: [],
    since: null,
    onState: state => state === 'connected' && connected.resolve(),
  });
  return { events, ending, connected: connected.promise };
}

test('a stream that is followed for long costs no more than a new one', async () => {
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

test('a stream ends at once when nobody wants it any more, also while nothing happens', async () => {
  const { events, ending, connected } = follow();
  const next = events.next();
  await connected;
  ending.abort();
  expect(await next).toEqual({ done: true, value: undefined });
});
