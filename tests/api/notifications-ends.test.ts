import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { journalTypes } from '../../daemon/notifications/frames.ts';
import type { Change } from '../../daemon/store/commit.ts';
import { FakeSink } from '../support/fake-stream.ts';
import { openStream, type StreamClient } from '../support/stream-client.ts';
import { registration, type StreamServer, startStreamServer } from '../support/stream-server.ts';

let server: StreamServer;
beforeEach(async () => {
  server = await startStreamServer();
});
afterEach(() => server.stop());

const open = (query: { since?: number } = {}, options = {}) =>
  openStream(server.url, { token: server.token, ...query }, options);

/** Resolves when the server has read everything that the client sent before. */
async function roundTrip(client: StreamClient): Promise<void> {
  const pong = once(client.ws, 'pong');
  client.ws.ping();
  await pong;
}

const setUser = (set: object, revoke: boolean, type: 'USER_UPDATED' | 'PASSWORD_CHANGED'): Change => ({
  kind: 'user.set',
  user: server.user.number,
  set,
  revoke,
  entry: { type },
});

describe('the stream ends with 4401', () => {
  it('when its token expires, and not a second earlier', async () => {
    const client = await open();
    server.clock.wall += (24 * 60 * 60 - 2) * 1000;
    await server.pass(1);
    await roundTrip(client);
    expect(client.ws.readyState).toBe(client.ws.OPEN);
    await server.pass(2);
    expect((await client.closed).code).toBe(4401);
  });

  it('when its user is disabled', async () => {
    const client = await open();
    await server.commit(setUser({ disabled: true }, true, 'USER_UPDATED'));
    expect((await client.closed).code).toBe(4401);
  });

  it('when the password of its user is changed', async () => {
    const client = await open();
    await server.commit(setUser({ passwordHash: 'another' }, true, 'PASSWORD_CHANGED'));
    expect((await client.closed).code).toBe(4401);
  });

  it('at once if the token became invalid between its check and the start of the stream', async () => {
    await server.hub.ready();
    const start = (isTokenValid: () => Promise<boolean>) => {
      const sink = new FakeSink();
      const until = { holder: String(server.user.number), expiresAt: server.clock.wall / 1000 + 60 };
      const connection = server.hub.subscribe({ sink, isTokenValid, wanted: journalTypes, since: null, ...until });
      return { sink, connection };
    };
    const [valid, refused] = [start(async () => true), start(async () => false)];
    let readable = false;
    const unknown = start(async () => {
      if (!readable) throw new Error('the disk is gone');
      return false;
    });
    await new Promise(setImmediate);
    expect([valid, refused, unknown].map(({ sink }) => sink.closed?.code)).toEqual([undefined, 4401, undefined]);
    readable = true;
    await server.pass(1);
    expect([valid, refused, unknown].map(({ sink }) => sink.closed?.code)).toEqual([undefined, 4401, 4401]);
    for (const { connection } of [valid, refused, unknown]) connection.gone();
  });

  it('for that user only, and not after a change that leaves the token valid', async () => {
    const other = await server.addUser('other');
    const theirs = await openStream(server.url, { token: server.tokens.issue(other).token });
    const client = await open();
    await server.commit(setUser({ email: 'a@example.org' }, false, 'USER_UPDATED'));
    await roundTrip(client);
    await server.commit(setUser({ disabled: true }, true, 'USER_UPDATED'));
    await client.closed;
    await server.commit(registration());
    expect((await theirs.until(1))[0]!.type).toBe('DEVICE_REGISTERED');
    theirs.ws.terminate();
  });
});

describe('the stream ends with 1001', () => {
  it('when the daemon stops, without waiting long for clients that do not answer', async () => {
    const client = await open();
    const deaf = await open();
    deaf.ws.pause();
    await server.app.close();
    expect((await client.closed).code).toBe(1001);
    deaf.ws.resume();
    expect([1001, 1006]).toContain((await deaf.closed).code);
  });
});

describe('pings', () => {
  it('are sent every 30 seconds, and a client that answers stays connected', async () => {
    const client = await open();
    let pings = 0;
    client.ws.on('ping', () => pings++);
    for (let i = 1; i <= 4; i++) {
      const pinged = once(client.ws, 'ping');
      await server.pass(30);
      await pinged;
      await roundTrip(client);
    }
    expect(pings).toBe(4);
    expect(client.ws.readyState).toBe(client.ws.OPEN);
    client.ws.terminate();
  });

  it('end the connection if one is not answered before the next', async () => {
    const client = await open({}, { autoPong: false });
    const pinged = once(client.ws, 'ping');
    await server.pass(30);
    await pinged;
    await server.pass(29);
    await roundTrip(client);
    expect(client.ws.readyState).toBe(client.ws.OPEN);
    await server.pass(1);
    expect((await client.closed).code).toBe(1006);
  });
});

describe('a consumer that does not read', () => {
  /** Far more than the buffers of the operating system hold. */
  const fill = async () => {
    await server.commit(registration('big'));
    for (let i = 0; i < 20; i++)
      await server.commit(
        ...Array.from({ length: 20 }, (): Change => {
          const data = { deviceType: 'UKEY', lockReason: 'x'.repeat(100_000) };
          return { kind: 'device.set', device: 1, set: {}, entry: { type: 'DEVICE_LOCKED', data } };
        }),
      );
  };

  it('is closed with 4409 if something waited for 30 seconds and it took nothing', async () => {
    const since = await server.store.lastEventId();
    const client = await open({ since });
    client.ws.pause();
    await fill();
    await server.pass(200);
    client.ws.resume();
    const { code, reason } = await client.closed;
    expect(code).toBe(4409);
    expect(reason).toContain('since');
    expect(client.frames.length).toBeLessThan(401);
    const again = await open({ since: client.frames.at(-1)?.id ?? since });
    const rest = await again.until(401 - client.frames.length);
    expect([...client.frames, ...rest].map(frame => frame.id)).toEqual(
      Array.from({ length: 401 }, (_, i) => since + 1 + i),
    );
    again.ws.terminate();
  });

  it('stays connected if it continues to read in time', async () => {
    const since = await server.store.lastEventId();
    const client = await open({ since });
    client.ws.pause();
    await fill();
    await server.pass(20);
    client.ws.resume();
    await client.until(401);
    await server.pass(20);
    await roundTrip(client);
    expect(client.ws.readyState).toBe(client.ws.OPEN);
    client.ws.terminate();
  });

  it('is closed with 4409 if too many key events wait for it', async () => {
    const client = await open();
    client.ws.pause();
    for (let i = 0; i < 200; i++) server.hub.publish('KEY_ATTACHED', 0, { keyId: 'x'.repeat(100_000) });
    client.ws.resume();
    expect((await client.closed).code).toBe(4409);
  });
});
