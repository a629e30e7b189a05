/** `devmgr login --web`: the terminal waits until a person has approved it in a browser. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { clockAhead, type Daemon, devmgr, discard, start, startDaemon, temporaryFolder } from './program.ts';

let daemon: Daemon;
beforeAll(async () => {
  daemon = await startDaemon();
});
afterAll(() => discard(daemon));

test.each([
  ['right', 0],
  ['an hour fast', 3_600_000],
])(
  'login --web shows an address without the code, and the code to type there, and stores the session that was approved: the clock is %s',
  async (_clock, fast) => {
    const home = temporaryFolder();
    const running = start(['login', '--web', '--server', daemon.url], { home, env: clockAhead(fast) });
    const [, address, userCode] = await running.until(
      'stderr',
      /^Open (\S+)\nSign in there, type the code ([A-Z0-9]{4}-[A-Z0-9]{4}),/m,
    );
    expect(address).toBe(`http://localhost:${new URL(daemon.url).port}/console/#/terminal`);
    const shown = await daemon.call('POST', '/api/auth/terminal/show', { userCode });
    expect(shown.name).toMatch(/^[\w.-]+@[\w.-]+$/);
    await daemon.call('POST', '/api/auth/terminal/approve', { userCode });
    const { code, stdout, stderr } = await running.ended;
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(stdout).toContain('Logged in as admin (ADMIN)');
    const { default: logins } = JSON.parse(readFileSync(join(home, 'credentials.json'), 'utf8'));
    expect(logins[daemon.url].username).toBe('admin');
    expect(stdout + stderr).not.toContain(logins[daemon.url].token);
    expect((await devmgr(['whoami'], { home })).code).toBe(0);
  },
);

test.each([
  ['a user name', ['admin']],
  ['--username', ['--username', 'admin']],
  ['--token-file', ['--token-file', 'x']],
])('login --web takes no %s', async (_what, args) => {
  expect((await devmgr(['login', '--web', ...args, '--server', daemon.url])).code).toBe(2);
});
