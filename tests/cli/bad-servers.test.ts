/** Servers that violate the interface: the program ends with a documented exit code and a message, never a stack trace. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Socket, type Server as TcpServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { devmgr, temporaryFolder } from './program.ts';

const env = { DEVMGR_TOKEN: 'token-of-a-test' };

function opened(server: Server | TcpServer, scheme = 'http'): Promise<string> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
  });
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return new Promise(resolve => {
    server.listen(0, '127.0.0.1', () => resolve(`${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`));
  });
}

const answering = (listener: RequestListener) => opened(createServer(listener));
const speaking = (talk: (socket: Socket) => void) => opened(createTcpServer(talk));

async function asked(url: string, args: readonly string[] = ['list']) {
  const { code, stdout, stderr } = await devmgr([...args, '--server', url], { env });
  expect(stdout).toBe('');
  expect(stderr).not.toMatch(/\n\s+at |node:internal|TypeError/);
  return { code, stderr };
}

const json = { 'content-type': 'application/json' };

describe('a server that is not devmgr', () => {
  test.each<[string, RequestListener, string]>([
    [
      'a web page',
      (_, answer) => answer.setHeader('content-type', 'text/html').end('<html>It works!</html>'),
      'a web page',
    ],
    ['nothing', (_, answer) => answer.end(), 'nothing with HTTP 200'],
    ['JSON of another kind', (_, answer) => answer.writeHead(200, json).end('{"hello":"world"}'), 'no envelope'],
    ['half a document', (_, answer) => answer.writeHead(200, json).end('{"code":200,"mess'), 'no envelope'],
    [
      'an envelope without its data',
      (_, answer) => answer.writeHead(200, json).end('{"code":200,"message":"success","data":null}'),
      'lacks "list"',
    ],
    [
      'data of another shape',
      (_, answer) =>
        answer.writeHead(200, json).end('{"code":200,"message":"success","data":{"list":7,"pagination":null}}'),
      'unexpected',
    ],
    ['a 404 of its own', (_, answer) => answer.writeHead(404).end('not here'), 'HTTP 404'],
  ])('%s is failure 1', async (_, listener, words) => {
    const { code, stderr } = await asked(await answering(listener));
    expect(code).toBe(1);
    expect(stderr).toContain(words);
  });

  test('a redirect is not followed, because it would carry the token', async () => {
    let followed = false;
    const target = await answering((_, answer) => {
      followed = true;
      answer.end();
    });
    const { code, stderr } = await asked(
      await answering((_, answer) => answer.writeHead(302, { location: `${target}/x` }).end()),
    );
    expect(code).toBe(1);
    expect(stderr).toContain(`--server ${target}`);
    expect(followed).toBe(false);
  });

  test('an endless response ends with 1, and is not read into memory', async () => {
    const url = await answering((_, answer) => {
      answer.writeHead(200, json);
      const more = Buffer.alloc(1024 * 1024, ' ');
      const go = () => {
        while (!answer.destroyed && answer.write(more));
      };
      answer.on('drain', go);
      go();
    });
    const { code, stderr } = await asked(url);
    expect(code).toBe(1);
    expect(stderr).toContain('is too large');
  });

  test('a server that does not speak HTTP ends with 1', async () => {
    const { code, stderr } = await asked(await speaking(socket => socket.end('SSH-2.0-OpenSSH_9.2\r\n')));
    expect(code).toBe(1);
    expect(stderr).toContain('does not speak HTTP');
  });
});

describe('a server that cannot be reached', () => {
  test('a truncated response ends with 9, after retries', async () => {
    let requests = 0;
    const url = await answering((_, answer) => {
      requests++;
      answer.writeHead(200, { ...json, 'content-length': 1000 }).write('{"code":200,');
      setImmediate(() => answer.destroy());
    });
    expect((await asked(url)).code).toBe(9);
    expect(requests).toBe(3);
  });

  test('a write with a truncated response is not retried', async () => {
    let requests = 0;
    const url = await answering((request, answer) => {
      requests++;
      request.resume().on('end', () => answer.destroy());
    });
    expect((await asked(url, ['unlock', 'DEV-1'])).code).toBe(9);
    expect(requests).toBe(1);
  });

  test('a gateway without its server ends with 9', async () => {
    expect((await asked(await answering((_, answer) => answer.writeHead(502).end('bad gateway')))).code).toBe(9);
  });

  test('a server that does not answer ends with 9, without a retry', async () => {
    const start = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99999\r\n\r\n{';
    const drip = (socket: Socket) => {
      socket.write(start);
      const timer = setInterval(() => socket.write(' '), 1_000);
      socket.on('close', () => clearInterval(timer));
    };
    const waits: [(socket: Socket) => void, string][] = [
      [() => undefined, 'stopped answering'],
      [socket => void socket.write(start), 'stopped answering'],
      [drip, 'did not finish its answer in time'],
    ];
    let requests = 0;
    const urls = await Promise.all(
      waits.map(([talk]) =>
        speaking(socket => {
          requests++;
          socket.once('data', () => talk(socket));
        }),
      ),
    );
    const answers = await Promise.all(urls.map(url => asked(url)));
    expect(answers.map(({ code }) => code)).toEqual([9, 9, 9]);
    for (const [index, { stderr }] of answers.entries()) expect(stderr).toContain(waits[index]![1]);
    expect(requests).toBe(3);
  }, 120_000);
});

describe('TLS', () => {
  function certificate(names = 'IP:127.0.0.1'): {
    readonly folder: string;
    readonly key: string;
    readonly cert: string;
  } {
    const folder = temporaryFolder();
    const args = [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-days',
      '2',
      '-subj',
      '/CN=localhost',
      '-addext',
      `subjectAltName=${names}`,
      '-keyout',
      join(folder, 'key.pem'),
      '-out',
      join(folder, 'cert.pem'),
    ];
    const made = spawnSync('openssl', args, { encoding: 'utf8' });
    if (made.status !== 0) throw new Error(made.stderr);
    return {
      folder,
      key: readFileSync(join(folder, 'key.pem'), 'utf8'),
      cert: readFileSync(join(folder, 'cert.pem'), 'utf8'),
    };
  }
  const page = {
    code: 200,
    message: 'success',
    data: { list: [], pagination: { page: 1, size: 20, total: 0, totalPages: 0 } },
  };

  test('an untrusted certificate ends with 9, unless --ca names its authority', async () => {
    const { folder, key, cert } = certificate();
    const url = await opened(
      createTlsServer({ key, cert }, (_, answer) => void answer.writeHead(200, json).end(JSON.stringify(page))),
      'https',
    );
    const { code, stderr } = await asked(url);
    expect(code).toBe(9);
    expect(stderr).toContain('--ca FILE');
    const trusted = await devmgr(['list', '--server', url, '--ca', join(folder, 'cert.pem'), '--json'], { env });
    expect(trusted.code).toBe(0);
    expect(trusted.json).toEqual(page.data);
  });

  test('HTTPS to a server that speaks HTTP, and HTTP to one that speaks HTTPS', async () => {
    const plain = await answering((_, answer) => answer.end());
    const { code, stderr } = await asked(plain.replace('http:', 'https:'));
    expect(code).toBe(9);
    expect(stderr).toContain('http://');
    const { key, cert } = certificate();
    const secure = await opened(createTlsServer({ key, cert }));
    const http = await asked(secure);
    expect(http.code).toBe(9);
    expect(http.stderr).toMatch(/speaks HTTPS\n.*--server https:\/\/127\.0\.0\.1:\d+\n/);
  });

  test('the error about a certificate for another name lists its names', async () => {
    const { folder, key, cert } = certificate('DNS:registry.example,DNS:other.example');
    const url = await opened(createTlsServer({ key, cert }), 'https');
    const { code, stderr } = await devmgr(['list', '--server', url, '--ca', join(folder, 'cert.pem')], { env });
    expect(code).toBe(9);
    expect(stderr).toMatch(/is for another name: registry\.example, other\.example\n/);
    expect(stderr).not.toContain('--ca FILE');
  });
});

describe('text of a hostile server', () => {
  const evil = 'x\u001b]0;owned\u0007\u001b[2J\u202egnp.exe\u200b\u0085\r\nfake line';

  test('cannot control the terminal through an error', async () => {
    const url = await answering(
      (_, answer) => void answer.writeHead(400, json).end(JSON.stringify({ code: 1001, message: evil, data: null })),
    );
    const { code, stderr } = await asked(url);
    expect(code).toBe(2);
    expect(stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b\u202e]/);
    expect(stderr).toContain('\\x1b]0;owned');
  });

  test('cannot control the terminal through a table, CSV or JSON, and JSON keeps its value', async () => {
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
    const url = await answering(
      (_, answer) => void answer.writeHead(200, json).end(JSON.stringify({ code: 200, message: 'success', data })),
    );
    for (const flags of [[], ['--csv'], ['--json'], ['--all', '--json']]) {
      const { code, stdout } = await devmgr(['list', '--server', url, ...flags], { env });
      expect(code).toBe(0);
      expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b\u202e]/);
    }
    expect((await devmgr(['list', '--server', url, '--json'], { env })).json).toEqual(data);
  });
});
