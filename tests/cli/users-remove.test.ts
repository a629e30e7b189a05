/** `users remove`: disabled, marked and hidden, because the interface neither deletes nor renames a user. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { needs } from '../support/needs.ts';
import { type Daemon, devmgr, discard, programFile, startDaemon, temporaryFolder } from './program.ts';
import { atTerminal } from './screen.ts';

const password = 'a long password';
let daemon: Daemon;
beforeAll(async () => {
  daemon = await startDaemon();
  for (const username of ['bob', 'carol', 'dave'])
    await daemon.call('POST', '/api/users', { username, password, role: 'DEALER', email: `${username}@example.com` });
  await daemon.call('PUT', '/api/users/USR-4', { disabled: true });
});
afterAll(() => discard(daemon));

const userNamed = async (name: string) =>
  (await daemon.call('GET', '/api/users/list')).list.find((user: { username: string }) => user.username === name);
const login = (name: string) =>
  devmgr(['login', name, '--password-stdin', '--server', daemon.url], {
    home: temporaryFolder(),
    input: `${password}\n`,
  });

test('a removed user cannot log in, is hidden in the list, and can be taken back', async () => {
  const removed = await daemon.run(['users', 'remove', 'bob', '--yes']);
  expect(removed.code).toBe(0);
  expect(removed.stdout).toContain('USR-2 bob is removed');
  expect(await userNamed('bob')).toMatchObject({ disabled: true, email: 'removed@devmgr.invalid', role: 'DEALER' });
  expect((await login('bob')).code).toBe(3);

  const list = await daemon.run(['users', 'list']);
  expect(list.stdout).not.toContain('bob');
  expect(list.stdout).toContain('carol');
  expect(list.stderr).toContain('1 removed user is not shown: --removed');
  expect((await daemon.run(['users', 'list', '--csv'])).stdout).not.toContain('bob');
  expect((await daemon.run(['users', 'list', '--quiet'])).stdout).toBe('USR-4\nUSR-3\nUSR-1\n');
  expect((await daemon.run(['users', 'list', '--all'])).stdout).toMatch(/bob .*removed@devmgr\.invalid +disabled/);
  expect((await daemon.run(['users', 'list', '--json'])).json.list).toHaveLength(4);

  expect((await daemon.run(['users', 'update', 'bob', '--enable'])).code).toBe(0);
  expect(await userNamed('bob')).toMatchObject({ disabled: false, email: null });
  expect((await login('bob')).code).toBe(0);
  expect((await daemon.run(['users', 'list'])).stdout).toContain('bob');
});

test('a user who is only disabled stays in the list', async () => {
  const { stdout, stderr } = await daemon.run(['users', 'list']);
  expect(stdout).toMatch(/dave .*disabled/);
  expect(stderr).not.toContain('not shown');
});

test('removing a user twice changes nothing more; --json and --quiet work', async () => {
  const first = await daemon.run(['users', 'rm', 'USR-3', '--yes', '--json']);
  expect(first).toMatchObject({ code: 0, json: { id: 'USR-3', username: 'carol', disabled: true } });
  const again = await daemon.run(['users', 'remove', 'carol', '--yes', '--quiet']);
  expect(again).toMatchObject({ code: 0, stdout: 'USR-3\n' });
  expect(
    (await daemon.run(['daemon', 'audit', '--type', 'USER_UPDATED', '--json'])).stdout.match(/"username":"carol"/g),
  ).toHaveLength(1);
});

test('the name of a removed user stays taken, and the refusal explains how to give it back', async () => {
  await daemon.run(['users', 'remove', 'carol', '--yes']);
  const { code, stderr } = await daemon.run(['users', 'add', 'carol', '--role', 'VIEWER', '--password-stdin'], {
    input: `${password}\n`,
  });
  expect(code).toBe(2);
  expect(stderr).toContain('devmgr users update carol --enable');
});

test.each([
  ['the last enabled ADMIN', ['admin', '--yes'], 2, 'ADMIN'],
  ['without a confirmation', ['bob'], 2, '--yes'],
  ['without a name', ['--yes'], 2, 'USER'],
  ['an unknown name', ['zoe', '--yes'], 5, '"zoe" does not exist'],
  ['an unknown id', ['USR-99', '--yes'], 5, '"USR-99" does not exist'],
])('%s is refused', async (_, args, exit, words) => {
  const { code, stdout, stderr } = await daemon.run(['users', 'remove', ...args]);
  expect([code, stdout]).toEqual([exit, '']);
  expect(stderr).toContain(words);
});

test('only an ADMIN may do it', async () => {
  await daemon.call('POST', '/api/users', { username: 'erin', password, role: 'DEALER' });
  const home = temporaryFolder();
  await devmgr(['login', 'erin', '--password-stdin', '--server', daemon.url], { home, input: `${password}\n` });
  expect((await devmgr(['users', 'remove', 'bob', '--yes'], { home })).code).toBe(4);
});

needs('script', 'bsdutils')('at a terminal', () => {
  const ask = () => atTerminal([process.execPath, programFile, 'users', 'remove', 'frank'], { home: daemon.home });

  test('it asks first; Enter alone and n change nothing, y removes the user', async () => {
    await daemon.call('POST', '/api/users', { username: 'frank', password, role: 'VIEWER' });
    for (const answer of ['', 'n']) {
      const screen = ask();
      await screen.answer(/Remove frank\?/, answer);
      const { code, stdout } = await screen.ended;
      expect({ code, said: stdout.includes('nothing was changed') }).toEqual({ code: 2, said: true });
      expect(await userNamed('frank')).toMatchObject({ disabled: false, email: null });
    }
    const screen = ask();
    await screen.answer(/Remove frank\?/, 'y');
    expect((await screen.ended).code).toBe(0);
    expect(await userNamed('frank')).toMatchObject({ disabled: true });
  });
});
