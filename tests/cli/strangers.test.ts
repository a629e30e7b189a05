/** Traps that another user of the machine can prepare: a folder, a process, a server. None of it gets a token or a password. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { EnrollFile } from '../../src/cli/commands/enrollment/enroll/results.ts';
import { localIdentity, storeLogin } from '../../src/cli/settings/credentials.ts';
import { writeWhole } from '../../src/cli/settings/files.ts';
import { adminPassword, devmgr, programFile, temporaryFolder } from './program.ts';

/** A server whose health looks like that of a daemon. It records all that it receives. */
async function impostor(): Promise<{ readonly url: string; readonly heard: () => string }> {
  const heard: string[] = [];
  const server = createServer(async (request, response) => {
    heard.push(`${request.url} ${request.headers.authorization ?? ''}`);
    for await (const chunk of request) heard.push(String(chunk));
    const data = { service: 'devmgr', version: '1', status: 'ok', ready: true, uptimeSeconds: 1 };
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ code: 200, message: 'success', data }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, heard: () => heard.join('\n') };
}

/** Writes what a daemon that crashed leaves behind: its address, and the id of its process. */
const leaveBehind = (home: string, url: string, pid: number) =>
  writeFileSync(join(home, 'daemon.json'), JSON.stringify({ pid, url, version: '1', startedAt: '' }));

async function triesToLogIn(home: string) {
  const args = ['login', 'admin', '--password-stdin', '--no-autostart'];
  return devmgr(args, { home, input: adminPassword });
}

test('a server at the address of a crashed daemon receives nothing, even if another process has its id', async () => {
  const home = temporaryFolder();
  const { url, heard } = await impostor();
  const other = spawn('sleep', ['600']);
  onTestFinished(() => void other.kill());
  leaveBehind(home, url, other.pid!);
  expect((await triesToLogIn(home)).code).toBe(9);
  expect((await devmgr(['list', '--no-autostart'], { home, env: { DEVMGR_TOKEN: 'a.b.c' } })).code).toBe(9);
  expect(heard()).toBe('');
  // Nor is that process mistaken for the daemon and stopped.
  expect((await devmgr(['daemon', 'stop', '--json'], { home })).json.stopped).toBe(false);
  expect(other.exitCode ?? other.signalCode).toBeNull();
});

test('a server at the address of a crashed daemon does not receive the local login if it is named', async () => {
  const home = temporaryFolder();
  const { url, heard } = await impostor();
  const other = spawn('sleep', ['600']);
  onTestFinished(() => void other.kill());
  leaveBehind(home, url, other.pid!);
  const login = { token: 'local.login.token', expireTime: '2999-01-01T00:00:00.000Z', username: 'admin' };
  await storeLogin({ home, profile: 'default' }, localIdentity, login, 'file');
  const { code } = await devmgr(['list', '--no-autostart', '--server', url], { home });
  expect(code).toBe(3);
  expect(heard()).not.toContain(login.token);
});

test.each([
  [0o777, 'other users can change'],
  [0o770, 'other users of its group can change'],
  [0o720, 'other users of its group can change'],
])('a home with mode %o is refused with the command that fixes it', async (mode, words) => {
  const home = temporaryFolder();
  const { url, heard } = await impostor();
  writeFileSync(
    join(home, 'config.json'),
    JSON.stringify({ profile: 'default', profiles: { default: { server: url } } }),
  );
  chmodSync(home, mode);
  const { code, stderr } = await triesToLogIn(home);
  expect(code).toBe(1);
  expect(stderr).toContain(words);
  expect(stderr).toContain(`chmod 700 ${home}`);
  expect(heard()).toBe('');
});

test('a file is not written through a link that another user has placed beside it', () => {
  const folder = temporaryFolder();
  const precious = join(folder, 'precious');
  writeFileSync(precious, 'as it was');
  symlinkSync(precious, join(folder, `notes.json.${process.pid}.new`));
  writeWhole(join(folder, 'notes.json'), 'new');
  expect(readFileSync(precious, 'utf8')).toBe('as it was');
  expect(readFileSync(join(folder, 'notes.json'), 'utf8')).toBe('new');
});

const otherUser = 65_534;
const canSwitchUser =
  process.getuid?.() === 0 &&
  spawnSync(process.execPath, [programFile, '--version'], { uid: otherUser, gid: otherUser, env: {} }).status === 0;

test.skipIf(!canSwitchUser)('the home of another user is refused (skipped unless root)', async () => {
  const home = temporaryFolder();
  chmodSync(home, 0o755);
  const { url, heard } = await impostor();
  leaveBehind(home, url, process.pid);
  const child = spawnSync(process.execPath, [programFile, 'list', '--home', home], {
    uid: otherUser,
    gid: otherUser,
    env: { DEVMGR_NO_KEYCHAIN: '1', DEVMGR_TOKEN: 'a.b.c' },
    encoding: 'utf8',
  });
  expect(child.stderr).toContain('belongs to another user');
  expect(child.status).toBe(1);
  expect(heard()).toBe('');
  expect(existsSync(join(home, 'daemon.log'))).toBe(false);
});

test.skipIf(!canSwitchUser)(
  'root uses the home of another user only if --home names it (skipped unless root)',
  async () => {
    const home = temporaryFolder();
    chownSync(home, otherUser, otherUser);
    const { url, heard } = await impostor();
    const config = { profile: 'default', profiles: { default: { server: url } } };
    writeFileSync(join(home, 'config.json'), JSON.stringify(config));
    const token = { DEVMGR_TOKEN: 'a.b.c' };
    const kept = await devmgr(['list'], { home, env: token });
    expect(kept.stderr).toContain('belongs to another user');
    expect(kept.stderr).toContain(`--home ${home}`);
    expect(kept.code).toBe(1);
    expect(heard()).toBe('');
    await devmgr(['list', '--home', home], { env: token });
    expect(heard()).toContain('Bearer a.b.c');
  },
);

test.skipIf(!canSwitchUser)(
  'results with activation codes are not written to a file of another user (skipped unless root)',
  async () => {
    const [home, folder] = [temporaryFolder(), temporaryFolder()];
    const theirs = join(folder, 'codes.csv');
    writeFileSync(theirs, '');
    chownSync(theirs, otherUser, otherUser);
    const box = join(folder, 'box.csv');
    writeFileSync(box, 'serialNumber,deviceType,manufacturer,model\nUK-1,UKEY,Acme,K1\n');
    const { url } = await impostor();
    const options = { home, env: { DEVMGR_TOKEN: 'a.b.c' } };
    const args = ['register', '--file', box, '--out', theirs, '--server', url];
    const { code, stderr } = await devmgr(args, options);
    const words = `${theirs} belongs to another user (uid ${otherUser})`;
    expect(stderr).toContain(words);
    expect(code).toBe(2);
    expect(() => EnrollFile.unlocked(theirs, { proof: null, tags: null })).toThrow(words);
    expect(readFileSync(theirs, 'utf8')).toBe('');
  },
);
