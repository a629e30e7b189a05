/** The promises of the client's transport. A server that misbehaves costs a clear error, never a hang or the token. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { describe, expect, test, vi } from 'vitest';
import { linkFailure, ServerRefusal, Unreachable } from '../../src/cli/client/failures.ts';
import { type HttpRequest, readText, timeouts } from '../../src/cli/client/http.ts';
import { sendHttp } from '../../src/cli/client/transport.ts';
import { Fault } from '../../src/cli/fault.ts';
import { makeCertificate } from '../support/certificates.ts';
import {
  answering,
  answeringTls,
  closedAddress,
  drip,
  flood,
  json,
  listening,
  speaking,
  success,
} from '../support/http-servers.ts';
import { quietClient } from '../support/stream-server.ts';
import { temporaryFolder } from '../support/temporary.ts';

const never = new AbortController().signal;
const short = { connectMs: 5_000, headersMs: 300, idleMs: 300, bodyMs: 300 };
const page = { list: [], pagination: { page: 1, size: 20, total: 0, totalPages: 0 } };

const request = (url: string, more: Partial<HttpRequest> = {}): HttpRequest => ({
  method: 'GET',
  url: new URL('/x?y=1', url),
  headers: {},
  signal: never,
  ...more,
});

/** The error that a promise rejects with; fails if it does not. */
const failure = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => Promise.reject(new Error('there was no failure')),
    error => error,
  );

describe('the transport', () => {
  const textOf = async (asked: HttpRequest) => {
    const response = await sendHttp(asked);
    return { ...response, text: await readText(response, asked.url.origin, asked.signal, asked.timeouts) };
  };

  test('sends method, path, headers and body as they are given', async () => {
    const seen: unknown[] = [];
    const { url } = await answering(async (incoming, response) => {
      const { method, headers } = incoming;
      let body = '';
      for await (const chunk of incoming) body += chunk;
      seen.push([method, incoming.url, headers['content-length'], headers.authorization, body]);
      response.writeHead(201, { 'x-request-id': 'r-1' }).end('é');
    });
    const headers = { authorization: 'Bearer t', 'content-length': '3' };
    const { status, headers: answered, text } = await textOf(request(url, { method: 'POST', headers, body: '{é' }));
    expect(seen).toEqual([['POST', '/x?y=1', '3', 'Bearer t', '{é']]);
    expect([status, answered['x-request-id'], text]).toEqual([201, 'r-1', 'é']);
  });

  test('delivers an error page that is not JSON like any response', async () => {
    const { url } = await answering((_, response) => void response.writeHead(503).end('<html>busy'));
    expect(await textOf(request(url))).toMatchObject({ status: 503, text: '<html>busy' });
  });

  test('does not follow a redirect', async () => {
    const target = await answering((_, response) => void response.end());
    const { url } = await answering((_, response) => void response.writeHead(302, { location: target.url }).end());
    expect(await textOf(request(url))).toMatchObject({ status: 302, headers: { location: target.url } });
    expect(target.connections()).toBe(0);
  });

  test('uses a connection again for reads that follow each other', async () => {
    const server = await answering((_, response) => void response.end('a'));
    for (let n = 0; n < 8; n++) await textOf(request(server.url));
    // A second one is opened if a read comes before the end of the last one has been processed.
    expect(server.connections()).toBeLessThanOrEqual(2);
  });

  test('uses a connection again for writes with a key, and not for other writes', async () => {
    const server = await answering((incoming, response) => void incoming.resume().on('end', () => response.end('a')));
    const write = (headers: Record<string, string>) =>
      textOf(request(server.url, { method: 'POST', headers, body: 'x' }));
    for (let n = 0; n < 8; n++) await write({ 'idempotency-key': `key-${n}` });
    expect(server.connections()).toBeLessThanOrEqual(2);
    const before = server.connections();
    for (let n = 0; n < 3; n++) await write({});
    expect(server.connections()).toBe(before + 3);
  });

  test('lets more requests than connections wait for each other, and does not count that as connecting', async () => {
    const held: (() => void)[] = [];
    const full = Promise.withResolvers<void>();
    let letGo = false;
    const server = await answering((_, response) => {
      if (letGo) return void response.end();
      if (held.push(() => response.end()) === 4) full.resolve();
    });
    const limits = { ...timeouts, connectMs: 200 };
    const all = Array.from({ length: 6 }, () => textOf(request(server.url, { timeouts: limits })));
    await full.promise;
    // A server that never finishes the handshake: this request fails when the time limit for connecting has passed.
    const mute = await speaking(() => undefined);
    await failure(textOf(request(mute.url.replace('http:', 'https:'), { timeouts: limits })));
    letGo = true;
    for (const end of held) end();
    expect((await Promise.all(all)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
    expect(server.connections()).toBe(4);
  });

  test('reaches a server by IPv6', async () => {
    const { url } = await answering((_, response) => void response.end('six'), '::1');
    expect((await textOf(request(url))).text).toBe('six');
  });

  test('does not use the proxies of the environment for this machine', async () => {
    const proxy = await answering((_, response) => void response.end('proxy'));
    const { url } = await answering((_, response) => void response.end('server'));
    for (const name of ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'HTTPS_PROXY']) vi.stubEnv(name, proxy.url);
    try {
      expect((await textOf(request(url))).text).toBe('server');
      expect(proxy.connections()).toBe(0);
    } finally {
      vi.unstubAllEnvs();
    }
  });

  describe('TLS', () => {
    const certificate = () => {
      const { cert, key } = makeCertificate(temporaryFolder(), 'registry');
      return { cert: readFileSync(cert, 'utf8'), key: readFileSync(key) };
    };

    test('trusts the authority that is given, and no other', async () => {
      const options = certificate();
      const ca = options.cert;
      const server = await answeringTls(options, (_, response) => void response.end('secure'));
      expect((await textOf(request(server.url, { ca }))).text).toBe('secure');
      const refused = await failure(textOf(request(server.url)));
      expect(refused).toBeInstanceOf(Unreachable);
      expect(refused).toMatchObject({ maybeDone: false, hint: expect.stringContaining('--ca FILE') });
      expect((await textOf(request(server.url, { anyCertificate: true }))).text).toBe('secure');
    });

    test('shows the names in the certificate of another server', async () => {
      const options = certificate();
      const { url } = await answeringTls(options, undefined, '::1');
      expect(await failure(textOf(request(url, { ca: options.cert })))).toMatchObject({
        message: expect.stringMatching(/is for another name: localhost, 127\.0\.0\.1$/),
      });
    });

    test('reports a wrong scheme', async () => {
      const plain = await answering((_, response) => void response.end());
      expect(await failure(textOf(request(plain.url.replace('http:', 'https:'))))).toMatchObject({
        message: expect.stringContaining('does not speak TLS'),
      });
      const { url } = await answeringTls(certificate());
      expect(await failure(textOf(request(url.replace('https:', 'http:'))))).toMatchObject({
        message: expect.stringContaining('speaks HTTPS'),
      });
    });
  });

  describe('fails with a clear error if a server', () => {
    const head = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n';

    test('is not there: nothing can have been done', async () => {
      const refused = await failure(textOf(request(await closedAddress())));
      expect(refused).toBeInstanceOf(Unreachable);
      expect(refused).toMatchObject({ maybeDone: false, timedOut: false });
    });

    test('resets the connection instead of a response: something may have been done', async () => {
      const { url } = await answering(
        (incoming, response) => void incoming.resume().on('end', () => response.destroy()),
      );
      const lost = await failure(textOf(request(url, { method: 'POST', body: 'x' })));
      expect(lost).toBeInstanceOf(Unreachable);
      expect(lost).toMatchObject({ maybeDone: true, timedOut: false });
    });

    test('resets the connection in the middle of the body', async () => {
      const { url } = await answering((_, response) => {
        response.writeHead(200, { ...json, 'content-length': 1000 }).write('{"code":200,');
        setImmediate(() => response.destroy());
      });
      const lost = await failure(textOf(request(url)));
      expect(lost).toBeInstanceOf(Unreachable);
      expect(lost).toMatchObject({ maybeDone: true, timedOut: false });
    });

    test('does not speak HTTP', async () => {
      const { url } = await speaking(socket => void socket.end('SSH-2.0-OpenSSH_9.2\r\n'));
      const fault = await failure(textOf(request(url)));
      expect(fault).toBeInstanceOf(Fault);
      expect(fault).toMatchObject({ kind: 'failure', message: expect.stringContaining('does not speak HTTP') });
    });

    test.each<[string, (socket: import('node:net').Socket) => void]>([
      ['reports nothing', () => undefined],
      ['sends a header now and then', socket => drip(socket, 'x: y\r\n', 50)],
    ])('%s: the headers have a deadline', async (_, talk) => {
      const server = await speaking(socket => {
        socket.once('data', () => {
          socket.write(head);
          talk(socket);
        });
      });
      const late = await failure(textOf(request(server.url, { timeouts: short })));
      expect(late).toBeInstanceOf(Unreachable);
      expect(late).toMatchObject({ maybeDone: true, timedOut: true });
    });

    test.each<[string, number, RegExp]>([
      ['sends the body too slowly', 50, /did not finish its response in time/],
      ['stops in the middle of the body', 1e6, /stopped responding/],
    ])('%s', async (_, everyMs, words) => {
      const { url } = await speaking(socket => {
        socket.once('data', () => {
          socket.write(`${head}content-length: 9999\r\n\r\n{`);
          drip(socket, ' ', everyMs);
        });
      });
      const limits = everyMs < 1e6 ? short : { ...short, bodyMs: 60_000 };
      const late = await failure(textOf(request(url, { timeouts: limits })));
      expect(late).toMatchObject({ timedOut: true, message: expect.stringMatching(words) });
    });

    test('sends a body without end, and closes the connection', async () => {
      const server = await answering((_, response) => flood(response.writeHead(200, json)));
      const fault = await failure(textOf(request(server.url)));
      expect(fault).toMatchObject({ kind: 'failure', message: expect.stringContaining('too large') });
      await vi.waitFor(() => expect(server.open.size).toBe(0));
    });
  });

  describe('ends with its signal', () => {
    const aborted = expect.objectContaining({ kind: 'interrupted' });

    test('before the request is sent', async () => {
      const server = await answering((_, response) => void response.end());
      expect(await failure(textOf(request(server.url, { signal: AbortSignal.abort() })))).toEqual(aborted);
      expect(server.connections()).toBe(0);
    });

    test.each<[string, string]>([
      ['while it waits for the response', ''],
      ['while it reads the body', 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{'],
    ])('%s, and closes the connection', async (_, start) => {
      const ending = new AbortController();
      const closed = Promise.withResolvers<void>();
      const { url } = await speaking(socket => {
        socket.on('close', () => closed.resolve());
        socket.once('data', () => {
          socket.write(start);
          setImmediate(() => ending.abort());
        });
      });
      expect(await failure(textOf(request(url, { signal: ending.signal })))).toEqual(aborted);
      await closed.promise;
    });
  });

  describe('a client', () => {
    const clientOf = (url: string, more = {}) => quietClient(url, 'secret', never, more);

    test('sends its token to its own server only, whatever that server responds', async () => {
      const heard: (string | undefined)[] = [];
      const other = await answering(({ headers }, response) => {
        heard.push(headers.authorization);
        response.end();
      });
      const { url } = await answering((_, response) => void response.writeHead(307, { location: other.url }).end());
      expect(await failure(clientOf(url).call('getOwnUser'))).toMatchObject({
        message: expect.stringContaining('redirects'),
      });
      await failure(quietClient(other.url, 'another', never).call('getOwnUser'));
      expect(heard).toEqual(['Bearer another']);
    });

    test('waits for a limit as long as the server requests, once for all requests', async () => {
      let left = 3;
      const waits: string[] = [];
      const { url } = await answering((_, response) => {
        const limited = left-- > 0;
        response.writeHead(limited ? 429 : 200, { ...json, ...(limited ? { 'retry-after': '0' } : {}) });
        response.end(limited ? JSON.stringify({ code: 429, message: 'slow down', data: null }) : success(page));
      });
      const client = clientOf(url, { wait: true, waiting: (text: string) => waits.push(text) });
      const all = Array.from({ length: 3 }, () => client.call('listDevices', {}));
      expect(await Promise.all(all)).toEqual([page, page, page]);
      expect(waits).toEqual([expect.stringContaining('continuing in 0 s')]);
    });

    test('throws the refusal of a limit if it must not wait', async () => {
      const { url } = await answering(
        (_, response) => void response.writeHead(429, { 'retry-after': '7' }).end('<html>'),
      );
      const refusal = await failure(clientOf(url).call('getOwnUser'));
      expect(refusal).toBeInstanceOf(ServerRefusal);
      expect(refusal).toMatchObject({ code: 429, waitSeconds: 7 });
    });

    test('asks once whether the server accepts keys, and sends a new key with each write', async () => {
      const seen: string[] = [];
      const keys = new Set<unknown>();
      const { url } = await answering((incoming, response) => {
        seen.push(incoming.method!);
        if (incoming.method === 'POST') keys.add(incoming.headers['idempotency-key']);
        const data = { service: 'devmgr', version: '1', idempotencyKeys: true, deviceId: 'DEV-1', status: 'ACTIVE' };
        incoming.resume().on('end', () => response.end(success(data)));
      });
      const client = clientOf(url);
      for (let i = 0; i < 3; i++) await client.call('unlockDevice', { params: { deviceId: 'DEV-1' }, body: {} });
      expect(seen).toEqual(['GET', 'POST', 'POST', 'POST']);
      expect(keys.size).toBe(3);
      for (const key of keys) expect(key).toMatch(/^[0-9a-f-]{36}$/);
    });

    test('repeats a read whose connection broke, and no write if the server does not say that it accepts keys', async () => {
      let requests = 0;
      let writes = 0;
      const { url } = await answering((incoming, response) => {
        requests++;
        const isWrite = incoming.method === 'POST';
        if (isWrite) writes++;
        incoming.resume().on('end', () => (isWrite || requests < 3 ? response.destroy() : response.end(success(page))));
      });
      expect(await clientOf(url).call('listDevices', {})).toEqual(page);
      expect(requests).toBe(3);
      const lost = await failure(clientOf(url).call('unlockDevice', { params: { deviceId: 'DEV-1' }, body: {} }));
      expect(lost).toMatchObject({ maybeDone: true });
      expect(writes).toBe(1);
    });
  });
});

describe('a streamed body', () => {
  const megabyte = Buffer.alloc(1024 * 1024, 7);

  /** Counts the pieces that are taken, and whether it was closed. */
  function source(pieces: number) {
    const state = { taken: 0, closed: false };
    async function* body() {
      try {
        for (; state.taken < pieces; state.taken++) yield megabyte;
      } finally {
        state.closed = true;
      }
    }
    return { state, body: body() };
  }

  test('arrives whole', async () => {
    let received = 0;
    const { url } = await answering(async (incoming, response) => {
      for await (const chunk of incoming) received += (chunk as Buffer).length;
      response.end('done');
    });
    const { body } = source(20);
    const headers = { 'content-length': String(20 * megabyte.length) };
    const response = await sendHttp({ ...request(url), method: 'POST', headers, body });
    expect(await readText(response, url, never)).toBe('done');
    expect(received).toBe(20 * megabyte.length);
  });

  test('is taken no faster than the server reads it, and is closed with the request', async () => {
    const ending = new AbortController();
    const server = createServer(() => undefined);
    const { url } = await listening(server);
    const { state, body } = source(1_000);
    const headers = { 'content-length': String(1_000 * megabyte.length) };
    const sending = failure(sendHttp({ ...request(url), method: 'POST', headers, body, signal: ending.signal }));
    await once(server, 'request');
    // The buffers of both sides fill up; nothing more is taken once they are full.
    let before = -1;
    await vi.waitFor(
      () => {
        const same = before === state.taken && before > 0;
        before = state.taken;
        expect(same).toBe(true);
      },
      { interval: 200, timeout: 30_000 },
    );
    expect(state.taken).toBeLessThan(100);
    ending.abort();
    expect(await sending).toMatchObject({ kind: 'interrupted' });
    await vi.waitFor(() => expect(state.closed).toBe(true));
  });

  test('stops when the server refuses early, and the refusal is delivered', async () => {
    const { url } = await answering((_, response) => void response.writeHead(413, json).end('too large'));
    const { state, body } = source(1_000);
    const headers = { 'content-length': String(1_000 * megabyte.length) };
    const response = await sendHttp({ ...request(url), method: 'POST', headers, body });
    expect([response.status, await readText(response, url, never)]).toEqual([413, 'too large']);
    await vi.waitFor(() => expect(state.closed).toBe(true));
    expect(state.taken).toBeLessThan(1_000);
  });

  test('that fails ends the request with its error', async () => {
    const { url } = await answering(incoming => void incoming.resume());
    async function* body() {
      yield megabyte;
      throw new Fault('failure', 'the file changed');
    }
    const headers = { 'content-length': String(9 * megabyte.length) };
    const fault = await failure(sendHttp({ ...request(url), method: 'POST', headers, body: body() }));
    expect(fault).toMatchObject({ kind: 'failure', message: 'the file changed' });
  });
});

test('a lost connection is reported with the code of the system, and without one of a library', () => {
  const lost = (code: string) =>
    linkFailure(Object.assign(new Error('other side closed'), { code }), 'http://a').message;
  expect(lost('ECONNRESET')).toBe('the connection to http://a was lost (ECONNRESET)');
  expect(lost('UND_ERR_SOCKET')).toBe('the connection to http://a was lost');
});
