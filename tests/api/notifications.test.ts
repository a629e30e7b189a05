import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { openStream, refusedUpgrade } from '../support/stream-client.ts';
import { registration, type StreamServer, startStreamServer, unnotified } from '../support/stream-server.ts';

let server: StreamServer;
beforeAll(async () => {
  server = await startStreamServer();
});
afterAll(() => server.stop());

const open = (query: { since?: number; types?: string } = {}) =>
  openStream(server.url, { token: server.token, ...query });
const head = () => server.store.lastEventId();

it('reports the start of the stream in the upgrade response, so a stream that breaks at once loses nothing', async () => {
  await server.commit(registration('BEGIN-1'));
  const begins = await head();
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}/api/ws/notifications?token=${server.token}`);
  const [response] = (await once(socket, 'upgrade')) as [IncomingMessage];
  expect(response.headers['x-stream-since']).toBe(String(begins));
  socket.terminate();
});

describe('a frame', () => {
  it('is {id, type, timestamp, data}; id is the position in the journal, and data starts with deviceId', async () => {
    const client = await open();
    const before = await head();
    await server.commit(registration('F-1'));
    const [frame] = await client.until(1);
    expect(Object.keys(frame!)).toEqual(['id', 'type', 'timestamp', 'data']);
    expect(frame).toMatchObject({ id: before + 1, type: 'DEVICE_REGISTERED' });
    expect(frame!.timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(Object.keys(frame!.data)).toEqual(['deviceId', 'deviceType', 'serialNumber']);
    expect(frame!.data).toMatchObject({ deviceType: 'UKEY', serialNumber: 'F-1' });
    client.ws.terminate();
  });

  it('of an uploaded version names the version', async () => {
    const client = await open();
    const app = {
      platform: 'ANDROID',
      version: '1.0.0',
      versionName: null,
      changelog: null,
      forceUpdate: false,
      minSupportVersion: null,
      fileName: 'a.apk',
      extension: 'apk',
      fileSize: 1,
      sha256: '0'.repeat(64),
      uploadedBy: 'test',
      blob: 'b',
    } as const;
    const data = { platform: 'ANDROID', version: '1.0.0' };
    await server.commit({ kind: 'app.add', app, entry: { type: 'APP_VERSION_UPLOADED', data } });
    expect((await client.until(1))[0]!.data).toEqual({ versionId: 'APP-1', ...data });
    client.ws.terminate();
  });

  it('is not sent for a journal entry that is not public, which leaves a gap in the ids', async () => {
    const client = await open();
    const before = await head();
    await server.commit(registration());
    await server.commit(unnotified(server.user.number));
    await server.commit(registration());
    const frames = await client.until(2);
    expect(frames.map(frame => frame.id)).toEqual([before + 1, before + 3]);
    client.ws.terminate();
  });

  it('of a key has no id', async () => {
    const client = await open();
    server.hub.publish('KEY_ATTACHED', 0, { keyId: 'k-1' });
    const [frame] = await client.until(1);
    expect(frame).toEqual({ type: 'KEY_ATTACHED', timestamp: '1970-01-01T00:00:00.000Z', data: { keyId: 'k-1' } });
    client.ws.terminate();
  });

  it('of more than 64 KiB arrives complete', async () => {
    const client = await open();
    const long = 'ü'.repeat(40_000);
    server.hub.publish('KEY_ATTACHED', 0, { keyId: long });
    expect((await client.until(1))[0]!.data.keyId).toBe(long);
    client.ws.terminate();
  });
});

describe('the stream', () => {
  it('without since starts with what is committed after the upgrade', async () => {
    await server.commit(registration());
    const client = await open();
    await server.commit(registration('live'));
    const [first] = await client.until(1);
    expect(first!.data.serialNumber).toBe('live');
    client.ws.terminate();
  });

  it('with since sends every later event first, then the live ones', async () => {
    const since = await head();
    await server.commit(...Array.from({ length: 700 }, () => registration()));
    const client = await open({ since });
    await server.commit(registration('after'));
    const frames = await client.until(701);
    expect(frames.map(frame => frame.id)).toEqual(Array.from({ length: 701 }, (_, i) => since + 1 + i));
    expect(frames.at(-1)!.data.serialNumber).toBe('after');
    client.ws.terminate();
  });

  it('with since=0 starts at the first event', async () => {
    const all = await server.store.events({ after: 0, limit: 100_000 });
    const published = all.filter(event => /^(DEVICE|APP)_/.test(event.type)).map(event => event.id);
    const client = await open({ since: 0 });
    expect((await client.until(published.length)).map(frame => frame.id)).toEqual(published);
    client.ws.terminate();
  });

  it('with since at the end of the journal sends live events only', async () => {
    const client = await open({ since: await head() });
    await server.commit(registration('next'));
    expect((await client.until(1))[0]!.data.serialNumber).toBe('next');
    client.ws.terminate();
  });

  it('sends a key event after the events that were committed before it', async () => {
    const since = await head();
    await server.commit(...Array.from({ length: 600 }, () => registration()));
    const client = await open({ since });
    server.hub.publish('KEY_ATTACHED', 0, { keyId: 'k' });
    const frames = await client.until(601);
    expect(frames.map(frame => frame.type).lastIndexOf('DEVICE_REGISTERED')).toBe(599);
    expect(frames[600]!.type).toBe('KEY_ATTACHED');
    client.ws.terminate();
  });

  it('with types sends only these, from the journal and live', async () => {
    const since = await head();
    await server.commit(registration());
    const client = await open({ since, types: 'KEY_DETACHED, APP_VERSION_UPLOADED' });
    await server.commit(registration());
    server.hub.publish('KEY_ATTACHED', 0, { keyId: 'k' });
    server.hub.publish('KEY_DETACHED', 0, { keyId: 'k' });
    expect((await client.until(1)).map(frame => frame.type)).toEqual(['KEY_DETACHED']);
    client.ws.terminate();
  });

  it('sends the role LOCAL only key events', async () => {
    const client = await openStream(server.url, { token: server.tokens.issueLocal().token });
    await server.commit(registration());
    server.hub.publish('KEY_ATTACHED', 0, { keyId: 'k' });
    expect((await client.until(1)).map(frame => frame.type)).toEqual(['KEY_ATTACHED']);
    client.ws.terminate();
  });

  it('accepts the token in the header', async () => {
    const headers = { authorization: `Bearer ${server.token}` };
    const client = await openStream(server.url, {}, { headers });
    await server.commit(registration('header'));
    expect((await client.until(1))[0]!.data.serialNumber).toBe('header');
    client.ws.terminate();
  });

  it('ignores frames from the client, and ends with 1009 after a long one', async () => {
    const client = await open();
    client.ws.send('hello');
    client.ws.send(Buffer.alloc(10));
    await server.commit(registration('still here'));
    await client.until(1);
    client.ws.send('x'.repeat(2000));
    expect((await client.closed).code).toBe(1009);
  });

  it('never writes a token to the log', async () => {
    const client = await open();
    client.ws.terminate();
    await refusedUpgrade(server.url, `/api/ws/notifications?token=${server.token}&since=x`);
    await refusedUpgrade(server.url, '/api/ws/notifications?token=secret-but-wrong');
    expect(server.logged()).toContain('a stream was opened');
    expect(server.logged()).not.toContain(server.token);
    expect(server.logged()).not.toContain('secret-but-wrong');
  });
});
