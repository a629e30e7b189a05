/** `devmgr open`: how the browser gets its code, and where the code is not. */
import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { browserCommands, whyNoBrowser } from '../../src/cli/commands/session/open/browser.ts';
import { type Daemon, devmgr, startDaemon, temporaryFolder } from './program.ts';

/** A daemon whose console is a page of the test. */
let daemon: Daemon;
let front: Server;
let url: string;
/** As a browser is given it. */
let shown: string;
let hasConsole = true;
beforeAll(async () => {
  daemon = await startDaemon({ args: ['--verbose'] });
  front = createServer((from, to) => {
    if (from.url?.startsWith('/console/')) return void to.writeHead(hasConsole ? 200 : 404).end('page');
    const options = { method: from.method ?? 'GET', headers: from.headers };
    from.pipe(
      request(daemon.url + from.url, options, answer => {
        to.writeHead(answer.statusCode!, answer.headers);
        answer.pipe(to);
      }),
    );
  }).listen(0, '127.0.0.1');
  await new Promise(resolve => front.once('listening', resolve));
  url = `http://127.0.0.1:${(front.address() as AddressInfo).port}`;
  shown = url.replace('127.0.0.1', 'localhost');
});
afterAll(async () => {
  front?.closeAllConnections();
  front?.close();
  await daemon?.end('SIGTERM');
});

let home: string;
let record: string;
let runtime: string;
beforeEach(() => {
  hasConsole = true;
  home = temporaryFolder();
  record = temporaryFolder();
  runtime = join(temporaryFolder(), 'runtime');
  mkdirSync(runtime, { mode: 0o700 });
  writeFileSync(
    join(record, 'browser'),
    `#!/bin/sh
cd '${record}'
printf '%s\\n' "$@" > argv; env > env; stat -c %a "$1" > mode; cp "$1" page; tr '\\0' ' ' < /proc/$PPID/cmdline > parent
exit \${BROWSER_EXIT:-0}
`,
    { mode: 0o755 },
  );
});
// They would wait for the end of the codes.
afterEach(() => {
  for (const folder of [home, runtime])
    for (const pid of processesWith(`${folder}/devmgr-open-`)) process.kill(Number(pid));
});
const recorded = (name: string) => readFileSync(join(record, name), 'utf8');
const run = (args: readonly string[], env: Record<string, string | undefined> = {}) =>
  devmgr(['open', '--server', url, ...args], {
    home,
    env: {
      DEVMGR_TOKEN: daemon.token,
      DISPLAY: ':9',
      BROWSER: join(record, 'browser'),
      XDG_RUNTIME_DIR: runtime,
      ...env,
    },
  });
const exchange = async (code: string) => {
  const headers = { 'content-type': 'application/json' };
  const sent = { method: 'POST', headers, body: JSON.stringify({ code }) };
  return (await (await fetch(`${url}/api/auth/exchange`, sent)).json()) as {
    code: number;
    data: { user: { username: string } };
  };
};
/** The address in the page, and its fragment. */
const targetOf = (page: string) => {
  const target = JSON.parse(/location\.replace\((".*")\)/.exec(page)![1]!) as string;
  return { target, fragment: new URLSearchParams(new URL(target).hash.slice(1)) };
};
/** The processes whose arguments have this text. */
const processesWith = (text: string) =>
  readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .filter(pid => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(text);
      } catch {
        return false;
      }
    });

/** Whether the process has a handler for the signal of this number (`SigCgt` of proc_pid_status(5), bit 0 is signal 1). */
const catches = (pid: string, signal: number) => {
  const caught = /^SigCgt:\s*([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]!;
  return (BigInt(`0x${caught}`) & (1n << BigInt(signal - 1))) !== 0n;
};

test('the browser gets the path of a private file that leads to the console; the code in it opens a session', async () => {
  const ran = await run(['devices?status=LOCKED'], { DEVMGR_VERBOSE: '1' });
  expect(ran).toMatchObject({ code: 0, stdout: `Opened ${shown}/console/ in the browser.\n` });
  const file = recorded('argv').trim();
  expect([file.startsWith(`${runtime}/`), recorded('mode')]).toEqual([true, '600\n']);
  const { target, fragment } = targetOf(recorded('page'));
  expect(target.startsWith(`${shown}/console/#`)).toBe(true);
  expect(fragment.get('page')).toBe('devices?status=LOCKED');
  const code = fragment.get('code')!;
  for (const text of [ran.stdout, ran.stderr, recorded('argv'), recorded('env'), recorded('parent')])
    expect(text).not.toContain(code);
  expect(recorded('env')).not.toContain(daemon.token);
  expect(processesWith(code)).toEqual([]);
  expect(await exchange(code)).toMatchObject({ code: 200, data: { user: { username: 'admin' } } });
  expect((await exchange(code)).code).toBe(1004);
  // The process that removes the file after 30 s does so at once when it is asked to end.
  const [remover, ...others] = processesWith(file);
  expect(others).toEqual([]);
  expect(readFileSync(`/proc/${remover}/cmdline`, 'utf8').split('\0').slice(-4, -1)).toEqual([
    '__remove-after',
    '30',
    file,
  ]);
  // A process that starts does not catch the signals yet. Node itself catches SIGTERM, but not SIGHUP, which comes last here.
  await expect.poll(() => catches(remover!, 1), { timeout: 20_000 }).toBe(true);
  process.kill(Number(remover), 'SIGTERM');
  await expect.poll(() => existsSync(file), { timeout: 20_000 }).toBe(false);
});

test('the file is removed when its time is over', async () => {
  const file = join(runtime, 'page.html');
  writeFileSync(file, '');
  expect((await devmgr(['__remove-after', '0', file], { home })).code).toBe(0);
  expect(existsSync(file)).toBe(false);
});

describe('the folder of the file', () => {
  const folderOf = async (env: Record<string, string | undefined>) => {
    const ran = await run([], env);
    expect(ran, ran.stderr).toMatchObject({ code: 0 });
    const file = recorded('argv').trim();
    for (const pid of processesWith(file)) process.kill(Number(pid));
    return file.slice(0, file.lastIndexOf('/'));
  };
  test.each([
    ['others can enter the runtime folder', () => mkdirSync(`${runtime}2`, { mode: 0o755 }), '2'],
    ['the runtime folder does not exist', () => undefined, '3'],
  ])('is the home if %s', async (_why, prepare, suffix) => {
    prepare();
    expect(await folderOf({ XDG_RUNTIME_DIR: `${runtime}${suffix}` })).toBe(home);
  });

  test('is not hidden if the browser is a snap', async () => {
    const bin = temporaryFolder();
    writeFileSync(join(bin, 'xdg-settings'), '#!/bin/sh\necho firefox_firefox.desktop\n', { mode: 0o755 });
    writeFileSync(join(bin, 'xdg-open'), readFileSync(join(record, 'browser')), { mode: 0o755 });
    const user = temporaryFolder();
    const env = { PATH: `${bin}:${process.env.PATH}`, BROWSER: undefined, HOME: user };
    expect(await folderOf(env)).toBe(user);
  });

  test('loses what an earlier command has left, and nothing else', async () => {
    const [old, fresh] = ['a', 'b'].map(letter => join(runtime, `devmgr-open-${letter.repeat(22)}.html`));
    const other = join(runtime, 'devmgr-open-notes.html');
    for (const file of [old!, fresh!, other]) writeFileSync(file, '');
    for (const file of [old!, other]) utimesSync(file, 1, 1);
    await folderOf({});
    expect([old!, fresh!, other].map(file => existsSync(file))).toEqual([false, true, true]);
  });
});

describe('without a browser', () => {
  const lines: readonly [string, readonly string[], Record<string, string | undefined>, RegExp][] = [
    ['with --no-browser', ['--no-browser'], {}, /^Open this address within 30 seconds/],
    ['without a display', [], { DISPLAY: undefined }, /No browser was opened: this session has no display/],
    [
      'over SSH',
      [],
      { SSH_CONNECTION: '192.0.2.1 1 192.0.2.2 22' },
      /No browser was opened: this is a session over SSH/,
    ],
    ['if none can be started', [], { BROWSER: '/no/such/browser' }, /could not be started: it does not exist/],
    ['if the browser fails', [], { BROWSER_EXIT: '3' }, /browser ended with 3/],
  ];
  test.each(lines)('%s: the address alone is on standard output', async (_when, args, env, words) => {
    const ran = await run(args, env);
    expect(ran.code).toBe(0);
    expect(ran.stderr).toMatch(words);
    const code = new RegExp(`^${shown}/console/#code=([\\w-]{43})\n$`).exec(ran.stdout)?.[1];
    expect(code).toBeDefined();
    expect((await exchange(code!)).code).toBe(200);
    if (env.DISPLAY === undefined && 'DISPLAY' in env) expect(readdirSync(runtime)).toEqual([]);
  });

  test('--quiet leaves the address, and nothing if a browser has it', async () => {
    expect(await run(['--no-browser', '--quiet'])).toMatchObject({
      stdout: expect.stringMatching(/^http.*\n$/),
      stderr: '',
    });
    expect(await run(['--quiet'])).toMatchObject({ code: 0, stdout: '', stderr: '' });
  });

  test('with --json', async () => {
    const printed = (await run(['--no-browser', '--json'])).json;
    expect(printed).toEqual({
      address: expect.stringContaining('#code='),
      opened: false,
      expireTime: expect.any(String),
    });
    const opened = (await run(['--json'])).json;
    expect(opened).toEqual({ address: `${shown}/console/`, opened: true, expireTime: expect.any(String) });
  });
});

test('a server without a console is named; no code is made and nothing is written', async () => {
  hasConsole = false;
  const ran = await run([]);
  expect(ran).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(`${url} has no console`) });
  expect(readdirSync(runtime)).toEqual([]);
});

test.each(['https://evil.example/', '../x"y', 'a\nb', '#code=x'])('the page %j is a usage error', async page => {
  expect((await run([page])).code).toBe(2);
});

test('a service token is refused with exit code 4', async () => {
  const made = await daemon.call('POST', '/api/tokens', { name: 'line', role: 'ADMIN', expiresInDays: 1 });
  expect((await run([], { DEVMGR_TOKEN: made.token })).code).toBe(4);
});

test('$BROWSER may have several commands, with %s for the file; no shell reads any of them', () => {
  const file = '/run/user/1000/a b.html';
  expect(browserCommands(file, { BROWSER: 'one --new "%s":two $(id)' }, 'linux')).toEqual([
    ['one', '--new', `"${file}"`],
    ['two', '$(id)', file],
  ]);
  expect(browserCommands(file, {}, 'linux')).toEqual([['xdg-open', file]]);
  expect(browserCommands(file, {}, 'darwin')).toEqual([['open', file]]);
  expect(browserCommands(file, {}, 'win32')).toEqual([['rundll32.exe', 'url.dll,FileProtocolHandler', file]]);
});

test('Windows and macOS need no variable for their display', () => {
  expect([
    whyNoBrowser({}, 'win32'),
    whyNoBrowser({}, 'darwin'),
    whyNoBrowser({ WAYLAND_DISPLAY: 'w' }, 'linux'),
  ]).toEqual([null, null, null]);
  expect(whyNoBrowser({ SSH_TTY: '/dev/pts/1' }, 'darwin')).toMatch(/SSH/);
});
