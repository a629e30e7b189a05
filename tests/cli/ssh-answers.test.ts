/** What `devmgr ssh-keys` makes of the answers of servers that are slow, broken or hostile, and of files that are not whole. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { fixedEndpoint } from '../../src/cli/client/addresses.ts';
import { Client } from '../../src/cli/client/client.ts';
import { sshKeys } from '../../src/cli/commands/decisions/ssh-keys.ts';
import { devmgr, temporaryFolder } from './program.ts';

const key =
  'sk-ssh-ed25519@openssh.com AAAAGnNrLXNzaC1lZDI1NTE5QG9wZW5zc2guY29tAAAAIAEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAAAABHNzaDo=';
const keys = [{ key, verifyRequired: false, deviceId: 'DEV-1' }];
const answer = (data: unknown, code = 200) => JSON.stringify({ code, message: 'of a test', data });

/** A registry that is not one, and a host that asks it. */
async function host(respond: RequestListener) {
  const asked: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    asked.push(request.headers['if-none-match']);
    respond(request, response);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const end = () =>
    new Promise<unknown>(resolve => {
      server.close(resolve);
      server.closeAllConnections();
    });
  onTestFinished(() => void end());
  const home = temporaryFolder();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const ask = (...more: string[]) =>
    devmgr(['--server', url, 'ssh-keys', 'ada', ...more], { home, env: { DEVMGR_TOKEN: 'token-of-a-test' } });
  return { home, url, ask, asked, end, file: join(home, 'ssh-keys', 'ada') };
}

test.each([
  ['an error in an answer of HTTP 200', answer({ keys }, 1004)],
  ['an answer without a list', answer({ keys: {} })],
  ['no JSON', '<html>'],
  ['nothing', ''],
  ['an answer that is too large', answer({ keys, more: ' '.repeat(5 * 2 ** 20) })],
])('prints and stores no key from %s', async (_, body) => {
  const { home, ask } = await host((_request, response) => void response.end(body));
  expect(await ask()).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/^devmgr: the response of /),
  });
  expect(readdirSync(home)).not.toContain('ssh-keys');
});

test('stops reading an answer that does not end', async () => {
  const { ask } = await host((_request, response) => {
    const part = Buffer.alloc(64 * 1024, ' ');
    const write = () => {
      while (response.write(part));
    };
    response.on('drain', write);
    write();
  });
  expect(await ask()).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('too large') });
});

test('reads the keys between entries that are none', async () => {
  const odd = [null, 7, 'text', [], {}, { key: null }, { key, deviceId: { toString: 7 } }];
  const { ask } = await host((_request, response) => void response.end(answer({ keys: [...odd, ...keys] })));
  const { code, stdout } = await ask();
  expect(code).toBe(0);
  expect(stdout.split('\n').map(line => line.slice(key.length + 1).split(' ')[0])).toEqual(['devmgr', 'DEV-1', '']);
});

test('uses the last answer of a registry behind a proxy that makes its ETag a weak one', async () => {
  const { ask, asked, end } = await host((request, response) => {
    response.setHeader('etag', 'W/"1"');
    const isAskedAgain = request.headers['if-none-match'] !== undefined;
    response.statusCode = isAskedAgain ? 304 : 200;
    response.end(isAskedAgain ? '' : answer({ keys }));
  });
  const first = await ask();
  expect(first.stdout).toContain(key);
  expect((await ask()).stdout).toBe(first.stdout);
  expect(asked).toEqual([undefined, 'W/"1"']);
  await end();
  expect((await ask('--when-away', '8h')).stdout).toBe(first.stdout);
});

test('uses no answer that was not stored whole, and gets it again', async () => {
  const { ask, asked, file } = await host((request, response) => {
    response.setHeader('etag', '"1"');
    const isAskedAgain = request.headers['if-none-match'] !== undefined;
    response.statusCode = isAskedAgain ? 304 : 200;
    response.end(isAskedAgain ? '' : answer({ keys: [...keys, ...keys] }));
  });
  const { stdout } = await ask();
  const stored = readFileSync(file, 'utf8');
  for (const length of [0, 20, stored.indexOf('\n') + 1, stored.lastIndexOf('sk-'), stored.length - 3]) {
    writeFileSync(file, stored.slice(0, length));
    expect((await ask('--max-age', '1h')).stdout).toBe(stdout);
  }
  expect(asked).toEqual(Array(6).fill(undefined));
});

test('takes a registry for away that does not answer in time, whether it sends nothing or a byte now and then', async () => {
  const responders: RequestListener[] = [
    (_request, response) => void response.end(answer({ keys })),
    () => undefined,
    (_request, response) => void response.write(' '),
  ];
  const { home, url } = await host((request, response) => responders.shift()!(request, response));
  const printed: string[] = [];
  const interrupt = new AbortController().signal;
  const silent = () => undefined;
  const context = {
    globals: {},
    env: {},
    settings: { home },
    io: { interrupt },
    out: { json: false, notice: silent, text: async (text: string) => void printed.push(text) },
    registry: {
      with: (policy: { signal: AbortSignal }) =>
        new Client({
          ...{ endpoint: fixedEndpoint(url), session: { token: async () => 'token' }, wait: false, ...policy },
          ...{ notice: silent, waiting: silent, trace: silent },
        }),
    },
  };
  const ask = (whenAway: string) =>
    sshKeys.run({ args: ['ada'], flags: { maxAge: '0s', whenAway } } as never, context as never);
  await ask('refuse');
  const timeout = vi.spyOn(AbortSignal, 'timeout');
  onTestFinished(() => timeout.mockRestore());
  for (const whenAway of ['8h', 'refuse']) {
    const ended = new AbortController();
    timeout.mockReturnValue(ended.signal);
    const answered = ask(whenAway);
    await vi.waitFor(() => expect(responders).toHaveLength(whenAway === '8h' ? 1 : 0));
    ended.abort();
    if (whenAway === '8h') await answered;
    else await expect(answered).rejects.toMatchObject({ kind: 'unreachable', message: 'no whole answer within 30 s' });
  }
  expect(printed).toEqual([expect.stringContaining(key), printed[0]]);
});
