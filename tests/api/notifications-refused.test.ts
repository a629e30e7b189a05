import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { streamQuota } from '../../daemon/notifications/websocket.ts';
import { Quota } from '../../daemon/requests/quota.ts';
import { openStream, refusedUpgrade } from '../support/stream-client.ts';
import { type StreamServer, startStreamServer } from '../support/stream-server.ts';

let server: StreamServer;
beforeAll(async () => {
  server = await startStreamServer({ streams: { each: 2, all: 4 } });
});
afterAll(() => server.stop());

const path = '/api/ws/notifications';
const withToken = (more = '', token = server.token) => `${path}?token=${token}${more}`;
const refused = (where: string, headers: Record<string, string | undefined> = {}, method = 'GET') =>
  refusedUpgrade(server.url, where, headers, method);

describe('a refused upgrade', () => {
  it('is answered with an envelope and the id of the request', async () => {
    const response = await refused(path);
    expect(response).toMatchObject({ status: 401, code: 1004, data: null });
    expect(response.headers['x-request-id']).toBeTruthy();
    expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
  });

  it.each(['/', '/api/devices/list', '/api/ws/notification', '/api/ws/notifications/', '/API/ws/notifications'])(
    'is 404 at %s, with or without a token',
    async where => {
      expect(await refused(where)).toMatchObject({ status: 404, code: 404 });
      expect(await refused(`${where}?token=${server.token}`)).toMatchObject({ status: 404, code: 404 });
    },
  );

  it('is 404 with another method', async () => {
    expect(await refused(withToken(), {}, 'POST')).toMatchObject({ status: 404, code: 404 });
  });

  it('is 2007 for a page of another site, and for another name of this machine', async () => {
    expect(await refused(withToken(), { origin: 'https://evil.example' })).toMatchObject({ status: 403, code: 2007 });
    expect(await refused(withToken(), { host: 'evil.example' })).toMatchObject({ status: 403, code: 2007 });
  });

  it('is 1004 without a token, with an invalid one and with two', async () => {
    expect(await refused(path)).toMatchObject({ status: 401, code: 1004 });
    expect(await refused(`${path}?token=`)).toMatchObject({ code: 1004 });
    expect(await refused(`${path}?token=wrong`)).toMatchObject({ code: 1004 });
    expect(await refused(withToken(`&token=${server.token}`))).toMatchObject({ code: 1004 });
  });

  it('is 1004 before it is 1001', async () => {
    expect(await refused(`${path}?since=x`)).toMatchObject({ code: 1004 });
  });

  it.each(['x', '-1', '1.5', '1e3', '0x1', ' 1', '99999999999999999999', ''])('is 1001 with since=%j', async since => {
    const response = await refused(withToken(`&since=${encodeURIComponent(since)}`));
    expect(response).toMatchObject({ status: 400, code: 1001 });
    expect(response.message).toContain('since');
  });

  it('is 1001 with since ahead of the log', async () => {
    const next = (await server.store.lastEventId()) + 1;
    const response = await refused(withToken(`&since=${next}`));
    expect(response).toMatchObject({ status: 400, code: 1001 });
    expect(response.message).toContain('since');
  });

  it.each(['NOPE', 'DEVICE_ACTIVATED,', 'device_activated', 'DEVICE_ACTIVATED;DEVICE_LOCKED', 'USER_CREATED'])(
    'is 1001 with types=%s',
    async types => {
      const response = await refused(withToken(`&types=${encodeURIComponent(types)}`));
      expect(response).toMatchObject({ status: 400, code: 1001, details: [{ field: 'types' }] });
      expect(response.message).toContain('types');
    },
  );

  it('is 2007 if the role LOCAL asks for events of the journal', async () => {
    const local = server.tokens.issueLocal().token;
    expect(await refused(withToken('&types=KEY_ATTACHED,DEVICE_LOCKED', local))).toMatchObject({
      status: 403,
      code: 2007,
    });
  });

  it('is 1001 if the handshake is invalid', async () => {
    expect(await refused(withToken(), { 'sec-websocket-key': 'short' })).toMatchObject({ status: 400, code: 1001 });
    expect(await refused(withToken(), { 'sec-websocket-version': '7' })).toMatchObject({ status: 400, code: 1001 });
    expect(await refused(withToken(), { 'sec-websocket-key': undefined })).toMatchObject({ code: 1001 });
  });

  it('is 429 if a user has too many streams, or as many as are free, until one is closed', async () => {
    const other = server.tokens.issue(await server.addUser('other')).token;
    const open = (token = server.token) => openStream(server.url, { token });
    const first = await open();
    const second = await open();
    expect(await refused(withToken())).toMatchObject({ status: 429, code: 429 });
    const third = await open(other);
    expect(await refused(withToken('', other))).toMatchObject({ status: 429, code: 429 });
    first.ws.close();
    await first.closed;
    const fourth = await open();
    for (const client of [second, third, fourth]) client.ws.terminate();
  });
});

it('two users with all the streams they can get leave many to the others', () => {
  const quota = new Quota(streamQuota);
  const takeAll = (holder: string) => {
    let taken = 0;
    while (quota.take(holder)) taken++;
    return taken;
  };
  expect([takeAll('first'), takeAll('second')]).toEqual([12_000, 9_000]);
  expect(takeAll('third')).toBeGreaterThan(4_000);
});

describe('a plain request for the path of the stream', () => {
  const get = async (where: string, headers: Record<string, string> = {}) => {
    const response = await fetch(server.url + where, { headers });
    const envelope = (await response.json()) as { code: number; message: string; data: unknown };
    return { status: response.status, id: response.headers.get('x-request-id'), ...envelope };
  };

  it('is 1004 without a token, then 1001 for its input, then 1001 because the upgrade is missing', async () => {
    expect(await get(path)).toMatchObject({ status: 401, code: 1004, data: null, id: expect.any(String) });
    expect((await get(withToken('&since=x'))).message).toContain('since');
    expect((await get(withToken())).message).toContain('upgrade');
    expect(await get(path, { authorization: `Bearer ${server.token}` })).toMatchObject({ status: 400, code: 1001 });
  });

  it('that offers another protocol is an ordinary request', async () => {
    const headers = { connection: 'Upgrade', upgrade: 'h2c' };
    const response = await refusedUpgrade(server.url, path, headers);
    expect(response).toMatchObject({ status: 401, code: 1004 });
  });
});

it('survives a client that disconnects during an upgrade', async () => {
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
  socket.write(`GET ${withToken()} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n`);
  socket.write(`Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${Buffer.alloc(16).toString('base64')}\r\n\r\n`);
  socket.resetAndDestroy();
  const client = await openStream(server.url, { token: server.token });
  client.ws.close();
  expect((await client.closed).code).toBe(1005);
});
