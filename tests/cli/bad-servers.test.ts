/** Servers that misbehave: a documented exit code, a message, and never a stack trace. */
import { readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeCertificate } from '../support/certificates.ts';
import { answering, answeringTls, drip, flood, json, speaking, success } from '../support/http-servers.ts';
import { devmgr, temporaryFolder } from './program.ts';

const env = { DEVMGR_TOKEN: 'token-of-a-test' };

async function asked(url: string, args: readonly string[] = ['list']) {
  const { code, stdout, stderr } = await devmgr([...args, '--server', url], { env });
  expect(stdout).toBe('');
  expect(stderr).not.toMatch(/\n\s+at |node:internal|TypeError/);
  return { code, stderr };
}

/** HTTP 101, which no request asks for. */
const changesProtocol: RequestListener = ({ socket }) =>
  void socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n');

const time = '2026-11-22T00:00:00.000Z';
const deviceOf = (n: number) => ({
  deviceId: `DEV-${n + 1}`,
  deviceType: 'UKEY',
  serialNumber: `S-${n}`,
  manufacturer: 'M',
  model: 'K',
  status: 'INACTIVE',
  userId: null,
  activationCode: null,
  createdAt: time,
  activatedAt: null,
  lastUsedAt: null,
});
const userOf = (n: number) => ({ id: `USR-${n}`, username: `u${n}`, role: 'ADMIN', email: null, disabled: false });

describe('a server that is not devmgr', () => {
  test.each<[string, RequestListener, string]>([
    [
      'a web page',
      (_, response) => response.setHeader('content-type', 'text/html').end('<html>It works!</html>'),
      'sent a web page',
    ],
    ['nothing', (_, response) => response.end(), 'sent nothing with HTTP 200'],
    [
      'JSON of another kind',
      (_, response) => response.writeHead(200, json).end('{"hello":"world"}'),
      'an unexpected response',
    ],
    [
      'half a document',
      (_, response) => response.writeHead(200, json).end('{"code":200,"mess'),
      'an unexpected response',
    ],
    [
      'an envelope without its data',
      (_, response) => response.writeHead(200, json).end('{"code":200,"message":"success","data":null}'),
      '"list" is missing',
    ],
    [
      'data of another shape',
      (_, response) =>
        response.writeHead(200, json).end('{"code":200,"message":"success","data":{"list":7,"pagination":null}}'),
      '"list" is not a list of objects',
    ],
    ['a change of the protocol', changesProtocol, 'HTTP 101'],
    ['a 404 of its own', (_, response) => response.writeHead(404).end('not here'), 'HTTP 404'],
  ])('%s is failure 1', async (_, listener, words) => {
    const { code, stderr } = await asked((await answering(listener)).url);
    expect(code).toBe(1);
    expect(stderr).toContain(words);
  });

  test.each([
    ['stats', null, '"total" is missing'],
    ['stats', { total: 1, byStatus: null, byType: {}, byManufacturer: [], registrations: {} }, '"byStatus" is not'],
    ['list', { list: [null], pagination: {} }, '"list" is not a list of objects'],
    ['users list', { list: [[]], pagination: {} }, '"list" is not a list of objects'],
    ['tokens list', { list: [], pagination: 'x' }, '"pagination" is not an object'],
    ['device-backups list DEV-1', { list: null, pagination: {} }, '"list" is not a list of objects'],
    ['search x', { list: ['x'], pagination: {} }, '"list" is not a list of objects'],
  ])('%s: data %j is failure 1', async (line, data, words) => {
    const { url } = await answering((_, response) => void response.writeHead(200, json).end(success(data)));
    const { code, stderr } = await asked(url, line.split(' '));
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining(words) });
  });

  const paged = (...list: unknown[]) => ({
    list,
    pagination: { page: 1, size: 20, total: list.length, totalPages: 1 },
  });
  const event = { id: 1, type: 'DEVICE_LOCKED', timestamp: time, data: {} };

  test.each([
    ['list', paged({ ...deviceOf(1), createdAt: 7 }), '"createdAt" of an item of "list" is not text'],
    ['list --all --sort model', paged({ ...deviceOf(1), status: {} }), '"status" of an item of "list" is not text'],
    ['list --quiet', paged({ serialNumber: 'S' }), '"deviceId" is missing in an item of "list"'],
    [
      'list',
      { list: [], pagination: { page: 1, total: '0', totalPages: 0 } },
      '"total" of "pagination" is not a number',
    ],
    ['show DEV-1', { ...deviceOf(1), deviceType: 7 }, '"deviceType" is not text'],
    ['users list', paged({ ...userOf(1), role: 7 }), '"role" of an item of "list" is not text'],
    ['tokens list', paged({ name: 'x' }), '"tokenId" is missing in an item of "list"'],
    ['apps list', paged({ versionId: 'APP-1', platform: [] }), '"platform" of an item of "list" is not text'],
    ['events', { list: [{ ...event, timestamp: 7 }], head: 1 }, '"timestamp" of an item of "list" is not text'],
    ['events', { list: [{ ...event, data: null }], head: 1 }, '"data" is missing in an item of "list"'],
  ])('%s: data %j names the field', async (line, data, words) => {
    const { url } = await answering((request, response) => {
      // Whether a device has the deviceId as its serial number.
      const isLookUp = line.startsWith('show') && request.url!.includes('/list?');
      response.writeHead(200, json).end(success(isLookUp ? paged() : data));
    });
    const { code, stderr } = await asked(url, line.split(' '));
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining(words) });
  });

  test.each([
    ['list', paged({ deviceId: 'DEV-1', serialNumber: 'S-1', status: 'ACTIVE' }), /DEV-1 +- +S-1 +ACTIVE +- .*-\n$/],
    ['users list', paged({ id: 'USR-1', username: 'ada' }), /USR-1 +ada +- +- +enabled +-\n$/],
    ['tokens list', paged({ tokenId: 'TOK-1', name: 'line' }), /TOK-1 +line +-/],
    ['events', { list: [{ type: 'DEVICE_LOCKED', data: {} }], head: 1 }, /^- +locked\n$/],
  ])('%s: a field that is absent in %j is shown as -', async (line, data, words) => {
    const { url } = await answering((_, response) => void response.writeHead(200, json).end(success(data)));
    const { code, stdout } = await devmgr([...line.split(' '), '--server', url], { env });
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(words) });
  });

  test.each([
    ['an empty page', [], /page 2 is empty, after 1 of 100,000,000,000,000,000 records/],
    ['a page again', [0], /page 2 repeats an earlier one, after 1 of 100,000,000,000,000,000 records/],
    ['two pages in turns', [1, 0], /page 4 repeats an earlier one, after 3 of /],
    ['three pages in turns', [1, 2, 0], /page 7 repeats an earlier one, after 6 of /],
  ])('that announces pages without end, and sends %s, is not followed', async (_, turns, words) => {
    const pagination = { page: 1, size: 100, total: 1e17, totalPages: 1e15 };
    let requests = 0;
    const { url } = await answering((request, response) => {
      if (++requests > 50) return void response.writeHead(404).end();
      const page = Number(new URL(request.url!, 'http://x').searchParams.get('page') ?? 1);
      const n = page === 1 ? 0 : turns[(page - 2) % turns.length];
      const list = n === undefined ? [] : [{ ...deviceOf(n), ...userOf(n) }];
      response.writeHead(200, json).end(success({ list, pagination }));
    });
    for (const args of [
      ['list', '--all', '--sort', 'model', '--json'],
      ['show', 'NO-SUCH'],
      ['users', 'update', 'no-such', '--disable'],
    ]) {
      requests = 0;
      const { code, stderr } = await devmgr([...args, '--server', url], { env });
      const message = args.includes('--json') ? JSON.parse(stderr).error.message : stderr;
      expect({ args, code, message }).toEqual({ args, code: 1, message: expect.stringMatching(words) });
    }
  });

  test.each([
    ['a line without an end', 'x'.repeat(17 * 2 ** 20), 'a line has more than 16 MiB'],
    ['a line that is not an object', 'null\n{"end":true,"count":1}\n', 'a line is not a JSON object'],
    ['a device without an id', '{"serialNumber":"S"}\n{"end":true,"count":1}\n', '"deviceId" is missing'],
    [
      'a field that is not text',
      '{"deviceId":"DEV-1","serialNumber":"S","status":{}}\n{"end":true,"count":1}\n',
      '"status" is not text',
    ],
  ])('an export with %s is failure 1', async (_, text, words) => {
    const { url } = await answering((_request, response) => void response.writeHead(200).end(text));
    const out = join(temporaryFolder(), 'results.jsonl');
    const args = ['lock', '--filter', 'status=ACTIVE', '--reason', 'r', '--yes', '--out', out];
    const { code, stderr } = await asked(url, args);
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining(words) });
  });

  test('a redirect is not followed: the token would go with it', async () => {
    const target = await answering((_, response) => void response.end());
    const { url } = await answering(
      (_, response) => void response.writeHead(302, { location: `${target.url}/x` }).end(),
    );
    const { code, stderr } = await asked(url);
    expect(code).toBe(1);
    expect(stderr).toContain(`--server ${target.url}`);
    expect(target.connections()).toBe(0);
  });

  test('a response without an end is failure 1: it is not read to memory for as long as it lasts', async () => {
    const { url } = await answering((_, response) => flood(response.writeHead(200, json)));
    const { code, stderr } = await asked(url);
    expect(code).toBe(1);
    expect(stderr).toContain('is too large');
  });

  test('no command ends with process.exit: it can wait forever for a thread of V8', async () => {
    const told = 'const exit = process.exit; process.exit = code => { console.error("forced"); exit(code); }';
    const options = { env: { ...env, NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(told)}` } };
    const endless = await answering((_, response) => flood(response.writeHead(200, json)));
    const empty = { list: [], pagination: { page: 1, size: 20, total: 0, totalPages: 0 } };
    const good = await answering((_, response) => void response.writeHead(200, json).end(success(empty)));
    for (const [url, code] of [
      [endless.url, 1],
      [good.url, 0],
    ] as const) {
      const ran = await devmgr(['list', '--server', url], options);
      expect({ code: ran.code, forced: ran.stderr.includes('forced') }).toEqual({ code, forced: false });
    }
  });

  test('a server that does not speak HTTP is failure 1', async () => {
    const { url } = await speaking(socket => void socket.end('SSH-2.0-OpenSSH_9.2\r\n'));
    const { code, stderr } = await asked(url);
    expect(code).toBe(1);
    expect(stderr).toContain('does not speak HTTP');
  });
});

describe('a server that cannot be reached', () => {
  test('a response that breaks off is 9, after further attempts', async () => {
    let requests = 0;
    const { url } = await answering((_, response) => {
      requests++;
      response.writeHead(200, { ...json, 'content-length': 1000 }).write('{"code":200,');
      setImmediate(() => response.destroy());
    });
    expect((await asked(url)).code).toBe(9);
    expect(requests).toBe(3);
  });

  test('a write whose response is lost is not sent again if the server does not accept keys', async () => {
    let requests = 0;
    const health = { service: 'devmgr', version: '0.1.0', status: 'ok', ready: true };
    const emptyList = { list: [], pagination: { page: 1, size: 1, total: 0, totalPages: 0 } };
    const { url } = await answering((request, response) => {
      const found = request.url!.includes('/list?') ? emptyList : health;
      if (request.method === 'GET') return void response.writeHead(200, json).end(success(found));
      requests++;
      request.resume().on('end', () => response.destroy());
    });
    expect((await asked(url, ['unlock', 'DEV-1'])).code).toBe(9);
    expect(requests).toBe(1);
  });

  test('a gateway without its server is 9', async () => {
    const { url } = await answering((_, response) => void response.writeHead(502).end('bad gateway'));
    expect((await asked(url)).code).toBe(9);
  });

  test('a server that is too slow is 9, and is asked once', async () => {
    const start = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99999\r\n\r\n{';
    const slowly = (socket: Socket, first: string, piece: string) => {
      socket.write(first);
      drip(socket, piece, 1_000);
    };
    const waits: [(socket: Socket) => void, string][] = [
      [() => undefined, 'did not send a response in time'],
      [socket => slowly(socket, 'HTTP/1.1 200 OK\r\n', 'x: y\r\n'), 'did not send a response in time'],
      [socket => void socket.write(start), 'stopped responding'],
      [socket => slowly(socket, start, ' '), 'did not finish its response in time'],
    ];
    let requests = 0;
    const servers = await Promise.all(
      waits.map(([talk]) =>
        speaking(socket => {
          requests++;
          socket.once('data', () => talk(socket));
        }),
      ),
    );
    const results = await Promise.all(servers.map(({ url }) => asked(url)));
    expect(results.map(({ code }) => code)).toEqual(waits.map(() => 9));
    for (const [index, { stderr }] of results.entries()) expect(stderr).toContain(waits[index]![1]);
    expect(requests).toBe(waits.length);
  }, 120_000);
});

describe('TLS', () => {
  const page = { list: [], pagination: { page: 1, size: 20, total: 0, totalPages: 0 } };

  test('a certificate of an unknown authority is 9; --ca names the authority', async () => {
    const { key, cert } = makeCertificate(temporaryFolder(), 'registry');
    const options = { key: readFileSync(key), cert: readFileSync(cert) };
    const { url } = await answeringTls(options, (_, response) => void response.writeHead(200, json).end(success(page)));
    const { code, stderr } = await asked(url);
    expect(code).toBe(9);
    expect(stderr).toContain('--ca FILE');
    const trusted = await devmgr(['list', '--server', url, '--ca', cert, '--json'], { env });
    expect(trusted.code).toBe(0);
    expect(trusted.json).toEqual(page);
  });

  test('the hint for plain HTTP to a TLS server can be typed', async () => {
    const { key, cert } = makeCertificate(temporaryFolder(), 'registry');
    const { url } = await answeringTls({ key: readFileSync(key), cert: readFileSync(cert) });
    const { code, stderr } = await asked(url.replace('https:', 'http:'));
    expect(code).toBe(9);
    expect(stderr).toMatch(/speaks HTTPS\n.*--server https:\/\/127\.0\.0\.1:\d+\n/);
  });
});

describe('text of a hostile server', () => {
  const evil = 'x\u001b]0;owned\u0007\u001b[2J\u202egnp.exe\u200b\u0085\r\nfake line';

  test('does not control the terminal in an error', async () => {
    const { url } = await answering(
      (_, response) =>
        void response.writeHead(400, json).end(JSON.stringify({ code: 1001, message: evil, data: null })),
    );
    const { code, stderr } = await asked(url);
    expect(code).toBe(2);
    expect(stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b\u202e]/);
    expect(stderr).toContain('\\x1b]0;owned');
  });

  test('does not control it in a table, in CSV, nor in JSON, which reads back unchanged', async () => {
    const device = {
      deviceId: 'DEV-1',
      deviceType: 'UKEY',
      serialNumber: evil,
      manufacturer: evil,
      model: evil,
      status: evil,
      userId: evil,
      activationCode: evil,
      createdAt: evil,
      activatedAt: null,
      lastUsedAt: null,
    };
    const data = { list: [device], pagination: { page: 1, size: 20, total: 1, totalPages: 1 } };
    const { url } = await answering(
      (_, response) => void response.writeHead(200, json).end(JSON.stringify({ code: 200, message: 'success', data })),
    );
    for (const flags of [[], ['--csv'], ['--json'], ['--all', '--sort', 'model', '--json']]) {
      const { code, stdout } = await devmgr(['list', '--server', url, ...flags], { env });
      expect(code).toBe(0);
      expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b\u202e]/);
    }
    expect((await devmgr(['list', '--server', url, '--json'], { env })).json).toEqual(data);
  });
});
