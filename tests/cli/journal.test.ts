/** The journal on the command line: its head, its verification, its key. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { adminPassword, devmgr, temporaryFolder } from './program.ts';

const run = (home: string, ...args: string[]) =>
  devmgr(['daemon', ...args], { home, env: { DEVMGR_ADMIN_PASSWORD: adminPassword } });

test('the head of a running daemon is printed, checked later, and a new key of the journal is taken over', async () => {
  const home = temporaryFolder();
  onTestFinished(async () => void (await run(home, 'stop')));
  const { json: started } = await run(home, 'start', '--port', '0', '--json');
  const head = (await run(home, 'audit', '--head')).stdout.trim();
  expect(head).toMatch(/^\d+:\S{44}$/);
  expect(await run(home, 'rotate-key', '--journal', '--json')).toMatchObject({
    code: 0,
    json: { daemon: started.pid },
  });
  await vi.waitFor(() => expect(existsSync(join(home, 'journal-key-next'))).toBe(false), {
    timeout: 20_000,
    interval: 50,
  });
  await run(home, 'stop');
  for (const given of [['--head', head], [`--head=${head}`]])
    expect(await run(home, 'audit', '--verify', ...given)).toMatchObject({ code: 0, stderr: '' });
  const other = `1:${'A'.repeat(43)}=`;
  expect(await run(home, 'audit', '--verify', '--head', other)).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('entry 1 is not the one of the given head'),
  });
  expect((await run(home, 'audit')).stdout).toContain('replaced the journal key');
});

test.each([
  [['audit', '--verify', '--head'], /needs the head to look for: ID:MAC/],
  [['audit', '--head', '5:x'], /--head with a value needs --verify/],
  [['rotate-key', '--journal', '--revoke-now'], /cannot be used with/],
] as const)('%j is refused before anything is read', async (args, words) => {
  const home = temporaryFolder();
  expect(await run(home, ...args)).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(words) });
});
