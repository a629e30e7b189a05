/** Single sign-on from the command line: the settings, and a terminal that signs in by device code. */
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Browser, clientId, clientSecret, type SsoProvider, startSsoProvider } from '../support/sso-provider.ts';
import { clockAhead, type Daemon, devmgr, discard, start, startDaemon, temporaryFolder } from './program.ts';

let daemon: Daemon;
let provider: SsoProvider;
let secretFile = '';
beforeAll(async () => {
  daemon = await startDaemon();
  provider = await startSsoProvider({ daemons: [daemon.url] });
  provider.people.set('s-ben', { name: 'ben', groups: ['keys-desk'] });
  provider.people.set('s-eve', { name: 'eve', groups: ['staff'] });
  secretFile = join(daemon.home, 'client-secret');
  writeFileSync(secretFile, `${clientSecret}\n`);
  chmodSync(secretFile, 0o600);
});
afterAll(async () => {
  await provider?.stop();
  await discard(daemon);
});

const set = (...more: readonly string[]) =>
  daemon.run(['providers', 'update', 'oidc', '--issuer', provider.issuer, '--client-id', clientId, ...more]);

test('providers update oidc stores the settings and never shows the secret, and what is not named does not change', async () => {
  expect((await daemon.run(['providers', 'show', 'oidc'])).stdout).toContain('Single sign-on is off');
  const made = await set(
    '--client-secret-file',
    secretFile,
    '--role',
    'DEALER=keys-desk',
    '--role',
    'admin=a',
    '--role',
    'ADMIN=b, c',
  );
  expect(made).toMatchObject({ code: 0 });
  expect(made.stdout + made.stderr).not.toContain(clientSecret);
  expect((await daemon.run(['providers', 'update', 'oidc', '--local-account', 'admin'])).code).toBe(0);
  const shown = await daemon.run(['providers', 'show', 'oidc', '--json']);
  expect(shown.json).toMatchObject({
    enabled: true,
    issuer: provider.issuer,
    roles: { ADMIN: ['a', 'b, c'], DEALER: ['keys-desk'], VIEWER: [] },
    localAccounts: { from: 'ANYWHERE', names: ['admin'] },
  });
});

test('providers update oidc refuses a role that does not exist, and an issuer without TLS', async () => {
  expect(await set('--role', 'OWNER=x')).toMatchObject({ code: 2, stderr: expect.stringContaining('ROLE=GROUP') });
  const plain = await daemon.run(['providers', 'update', 'oidc', '--issuer', 'http://login.example.com']);
  expect(plain).toMatchObject({ code: 2, stderr: expect.stringContaining('must start with https://') });
});

test('providers test oidc shows what was checked, and the addresses to register', async () => {
  const { code, stdout } = await daemon.run(['providers', 'test', 'oidc']);
  expect(code).toBe(0);
  expect(stdout).toContain(`${daemon.url}/api/auth/sso/callback`);
  expect(stdout).toContain(`${daemon.url}/api/auth/sso/logout`);
  expect(stdout).toMatch(/clock: +as that of the provider/);
  provider.goAway();
  expect((await daemon.run(['providers', 'test', 'oidc'])).stdout).toContain('FAILED');
  expect((await daemon.run(['providers', 'test', 'oidc'])).code).toBe(1);
  const failing = await daemon.run(['doctor']);
  expect(failing).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/✗ sign-on .*discovery:[\s\S]*devmgr providers show oidc/),
  });
  provider.comeBack();
  expect((await daemon.run(['doctor'])).stdout).toContain(`✓ sign-on    ${provider.issuer}\n`);
});

test('a client secret that the provider refuses is named by providers test oidc and doctor, and not to who signs in', async () => {
  const wrong = join(daemon.home, 'wrong-secret');
  writeFileSync(wrong, 'expired\n', { mode: 0o600 });
  expect((await set('--client-secret-file', wrong)).code).toBe(0);
  const tested = await daemon.run(['providers', 'test', 'oidc']);
  expect(tested).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/client secret: +FAILED.*refuses the client secret/),
  });
  expect((await daemon.run(['doctor'])).stdout).toMatch(/✗ sign-on [\s\S]*refuses the client\s+secret/);
  const login = await devmgr(['login', '--sso', '--no-browser', '--server', daemon.url], { home: temporaryFolder() });
  expect(login).toMatchObject({ code: 3, stderr: expect.stringContaining('does not accept this registry') });
  expect((await set('--client-secret-file', secretFile)).code).toBe(0);
  expect((await daemon.run(['providers', 'test', 'oidc'])).stdout).toMatch(/client secret: +accepted/);
});

test.each([
  ['right', 0],
  ['a day fast', 24 * 3_600_000],
])('login --sso signs a terminal in with the code of the provider: the clock is %s', async (_clock, fast) => {
  const home = temporaryFolder();
  const running = start(['login', '--sso', '--server', daemon.url], { home, env: clockAhead(fast) });
  const [, address] = await running.until('stderr', /^Open (\S+)\nSign in there, and compare or type the code \S+\./m);
  await new Browser().atProvider(address!, 's-ben');
  const { code, stdout } = await running.ended;
  expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining('Logged in as ben (DEALER)') });
  expect((await devmgr(['whoami', '--server', daemon.url], { home })).stdout).toContain('ben (DEALER)');
});

/** A terminal that waits for the browser of this machine, and where the browser is led. */
async function atBrowser() {
  const home = temporaryFolder();
  const page = join(home, 'page');
  const browser = join(home, 'browser');
  writeFileSync(browser, `#!/bin/sh\ncp "$1" '${page}.new' && mv '${page}.new' '${page}'\n`, { mode: 0o755 });
  const env = { DISPLAY: ':9', BROWSER: browser, SSH_CONNECTION: undefined, SSH_TTY: undefined };
  const running = start(['login', '--sso', '--server', daemon.url], { home, env });
  const [, userCode] = await running.until('stderr', /shows the code ([A-Z0-9]{4}-[A-Z0-9]{4})\./);
  const [, target] = /location\.replace\((".*")\)/.exec(readFileSync(page, 'utf8')) ?? [];
  return { running, userCode, target: JSON.parse(target!) as string };
}

test('login --sso ends with the reason as soon as single sign-on refuses the person in the browser', async () => {
  const { running, target } = await atBrowser();
  const person = new Browser();
  const back = await person.send(await person.atProvider(target, 's-eve'));
  expect(await (await fetch(back.headers.get('location')!)).text()).toContain('return to the terminal');
  const { code, stderr } = await running.ended;
  expect({ code, stderr }).toMatchObject({ code: 3, stderr: expect.stringContaining('you are in none of the groups') });
});

test('login --sso ends with the reason as soon as single sign-on refuses the person of its code', async () => {
  const running = start(['login', '--sso', '--server', daemon.url], { home: temporaryFolder() });
  const [, address] = await running.until('stderr', /^Open (\S+)\n/m);
  await new Browser().atProvider(address!, 's-eve');
  const { code, stderr } = await running.ended;
  expect({ code, stderr }).toMatchObject({ code: 3, stderr: expect.stringContaining('you are in none of the groups') });
});

test('login --sso signs a terminal in with the browser of this machine, and ignores the requests of strangers', async () => {
  const { running, userCode, target } = await atBrowser();
  const person = new Browser();
  const back = await person.send(await person.atProvider(target, 's-ben'));
  const [, ticket] = /#terminal=([\w-]+)$/.exec(back.headers.get('location') ?? '') ?? [];
  const question = await daemon.call('POST', '/api/auth/sso/terminal', { code: ticket });
  expect(question).toMatchObject({
    account: 'ben',
    role: 'DEALER',
    userCode,
    name: expect.stringMatching(/^[\w.-]+@/),
  });
  const led = new URL(question.url);
  expect(led.hostname).toBe('127.0.0.1');
  const guessed = new URL(led);
  guessed.searchParams.set('state', `B${led.searchParams.get('state')!.slice(1)}`);
  expect((await fetch(guessed)).status).toBe(404);
  expect((await fetch(led, { method: 'POST' })).status).toBe(404);
  expect(await statusAs(`other.example:${led.port}`, led)).toBe(404);
  const shown = await fetch(led);
  expect([shown.status, await shown.text()]).toEqual([200, expect.stringContaining('You can close this window')]);
  const { code, stdout } = await running.ended;
  expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining('Logged in as ben (DEALER)') });
  await expect(fetch(led)).rejects.toThrow();
});

test('login --sso takes the code of the provider with --no-browser, over SSH and if no browser starts', async () => {
  for (const [more, env] of [
    [['--no-browser'], { DISPLAY: ':9', BROWSER: 'true' }],
    [[], { DISPLAY: ':9', BROWSER: 'true', SSH_CONNECTION: '::1 1 ::1 2' }],
    [[], { DISPLAY: ':9', BROWSER: 'false' }],
  ] as const) {
    const running = start(['login', '--sso', '--server', daemon.url, ...more], { home: temporaryFolder(), env });
    await running.until('stderr', /compare or type the code/);
    running.child.kill('SIGINT');
    expect((await running.ended).code).not.toBe(0);
  }
});

/** The status of a request with another name of the host. */
const statusAs = (host: string, { port, pathname, search }: URL) =>
  new Promise(resolve => {
    get({ port, path: pathname + search, headers: { host }, agent: false }, answer =>
      resolve(answer.resume().statusCode),
    );
  });

test('providers remove oidc ends single sign-on', async () => {
  expect((await daemon.run(['providers', 'remove', 'oidc', '--yes'])).code).toBe(0);
  const home = temporaryFolder();
  expect((await devmgr(['login', '--sso', '--server', daemon.url], { home })).code).not.toBe(0);
});
