/** The first login: the program shows where the first password is, to the user of this home only, until it is changed. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { answering } from '../support/http-servers.ts';
import { devmgr, type RunOptions, temporaryFolder } from './program.ts';

/** A new home, with its daemon started on a free port. */
async function newHome() {
  const home = temporaryFolder();
  onTestFinished(async () => {
    await devmgr(['daemon', 'stop'], { home });
  });
  const run = (args: readonly string[], options: RunOptions = {}) => devmgr(args, { home, ...options });
  const file = join(home, 'initial-admin-password');
  const started = await run(['daemon', 'start', '--port', '0']);
  return { home, run, file, started, password: readFileSync(file, 'utf8').trim() };
}

test('daemon start, list and login name the file and never its content', async () => {
  const { run, file, started, password } = await newHome();
  expect(started.stdout).toContain(`in ${file}`);
  expect(started.stderr).toContain(`devmgr login admin --password-file ${file}`);
  const list = await run(['list']);
  expect(list).toMatchObject({ code: 3, stderr: expect.stringContaining(`login admin --password-file ${file}`) });
  const login = await run(['login', 'admin']);
  expect(login).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(`The first password of admin is in ${file}`),
  });
  const wrong = await run(['login', 'admin', '--password-stdin'], { input: 'not the password\n' });
  expect(wrong).toMatchObject({ code: 3, stderr: expect.stringContaining(`the first one is in ${file}`) });
  for (const { stdout, stderr } of [started, list, login, wrong]) expect(stdout + stderr).not.toContain(password);
  expect((await run(['daemon', 'start', '--json'])).json.initialPasswordFile).toBe(file);
});

test('the line that list shows logs in, and once the password is changed nothing is said', async () => {
  const { run, file } = await newHome();
  const { stderr } = await run(['list']);
  const line = /devmgr (login admin --password-file \S+)/.exec(stderr)![1]!;
  expect((await run(line.split(' '))).code).toBe(0);
  expect((await run(['daemon', 'start'])).stderr).not.toContain('--password-file');
  const passwords = `${readFileSync(file, 'utf8').trim()}\na new long password\n`;
  expect((await run(['users', 'passwd', '--password-stdin'], { input: passwords })).code).toBe(0);
  await run(['logout']);
  for (const args of [['list'], ['login', 'admin'], ['daemon', 'start']]) {
    const { stdout, stderr } = await run(args);
    expect(stdout + stderr).not.toContain('initial-admin-password');
    expect(stderr).not.toContain('first password');
  }
  expect((await run(['daemon', 'start', '--json'])).json.initialPasswordFile).toBeNull();
});

test('a command in a new home starts the daemon and names the file that the daemon has written', async () => {
  const home = mkdtempSync(join(tmpdir(), 'devmgr-first-'));
  onTestFinished(async () => {
    await devmgr(['daemon', 'stop'], { home });
  });
  const { code, stderr } = await devmgr(['list'], { home });
  expect(code).toBe(3);
  expect(stderr).toContain(`--password-file ${join(home, 'initial-admin-password')}`);
});

test('another server gets no hint of this home, whatever it answers', async () => {
  const home = temporaryFolder();
  writeFileSync(join(home, 'initial-admin-password'), 'secret\n');
  const refusal = JSON.stringify({ code: 1003, message: 'wrong password', data: null });
  const { url } = await answering((_, response) => {
    response.writeHead(401, { 'content-type': 'application/json' }).end(refusal);
  });
  for (const args of [
    ['list', '--server', url],
    ['login', 'admin', '--password-stdin', '--server', url],
  ]) {
    const { stderr } = await devmgr(args, { home, input: 'secret\n' });
    expect(stderr).not.toContain('initial-admin-password');
  }
});

test('with a password from the environment there is no file, and no hint', async () => {
  const home = temporaryFolder();
  onTestFinished(async () => {
    await devmgr(['daemon', 'stop'], { home });
  });
  const env = { DEVMGR_ADMIN_PASSWORD: 'correct horse battery' };
  const { stdout, stderr } = await devmgr(['daemon', 'start', '--port', '0'], { home, env });
  expect(stdout + stderr).not.toContain('password');
});
