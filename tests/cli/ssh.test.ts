/**
 * SSH with keys of the registry: issued on a CTAP authenticator of the tests through the real driver, then Debian's ssh and sshd. The
 * signatures of ssh come from the same authenticator, through an agent of the tests.
 */
import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { uptime } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { needs } from '../support/needs.ts';
import { ptyKey } from '../support/pty-key.ts';
import { type Daemon, devmgr, discard, startDaemon, temporaryFolder } from './program.ts';
import { run, sshBy } from './ssh-hosts.ts';

let daemon: Daemon;
const { addProviders, issuedKey, hostHome, host } = sshBy(() => daemon);
beforeAll(async () => {
  daemon = await startDaemon();
  await addProviders();
});
afterAll(() => discard(daemon));

const keysOf = (name: string, home: string, ...more: string[]) => devmgr(['ssh-keys', name, ...more], { home });

needs('ssh-keygen', 'openssh-client')('an SSH key', () => {
  test('is issued with files that OpenSSH reads, and its public key is that of the device', async () => {
    const { deviceId, file, ssh, authenticator } = await issuedKey('with-files');
    expect(ssh).toMatchObject({ publicKey: expect.stringMatching(/^sk-ecdsa-sha2-nistp256@openssh\.com /) });
    expect(authenticator.credentials).toMatchObject([{ rpId: 'ssh:', userName: 'with-files', protection: 2 }]);
    const { stdout } = await run('ssh-keygen', ['-y', '-f', file]);
    expect(stdout.split(' ').slice(0, 2).join(' ')).toBe(ssh.publicKey);
    expect(readFileSync(`${file}.pub`, 'utf8')).toBe(`${ssh.publicKey} with-files\n`);
    const { stdout: listed } = await run('ssh-keygen', ['-l', '-f', `${file}.pub`]);
    const fingerprint = listed.split(' ')[1]!;
    const home = await hostHome();
    const all = await keysOf('with-files', home);
    expect(all.stdout).toBe(`${ssh.publicKey} ${deviceId} ${fingerprint}\n`);
    expect((await keysOf('WITH-FILES', home, fingerprint)).stdout).toBe(all.stdout);
    expect((await keysOf('with-files', home, 'SHA256:other')).stdout).toBe('');
    expect((await keysOf('unknown', home)).stdout).toBe('');
  });

  test('needs its PIN at each login if the provider wants that', async () => {
    const { file, ssh, authenticator } = await issuedKey('with-pin', 'ssh-pin');
    expect(ssh).toMatchObject({ verifyRequired: true });
    expect(authenticator.credentials).toMatchObject([{ protection: 3 }]);
    expect((await keysOf('with-pin', await hostHome())).stdout).toMatch(/^verify-required sk-ecdsa/);
    // The byte after the application: touch and PIN.
    const inner = Buffer.from(readFileSync(file, 'utf8').replaceAll(/-----.*-----|\n/g, ''), 'base64');
    expect(inner[inner.lastIndexOf('ssh:') + 4]).toBe(5);
  });
});

needs(['ssh-keygen', 'python3'], 'openssh-client python3')('ssh-keygen -K', () => {
  test.each([{ ed25519: true }, { ed25519: false }])('writes the files again from the key alone: %j', async options => {
    const { file, ssh, authenticator } = await issuedKey(`resident-${options.ed25519}`, 'ssh', options);
    const folder = temporaryFolder();
    const askpass = join(folder, 'askpass');
    writeFileSync(askpass, '#!/bin/sh\necho 123456\n', { mode: 0o700 });
    const env = { ...process.env, SSH_ASKPASS: askpass, SSH_ASKPASS_REQUIRE: 'force' };
    const device = `device=${await ptyKey(authenticator)}`;
    await run('ssh-keygen', ['-K', '-N', '', '-O', device], { cwd: folder, env });
    const [name] = readdirSync(folder).filter(one => one.startsWith('id_') && !one.endsWith('.pub'));
    expect(
      readFileSync(join(folder, `${name}.pub`), 'utf8')
        .split(' ')
        .slice(0, 2)
        .join(' '),
    ).toBe(ssh.publicKey);
    const fields = (path: string) => run('ssh-keygen', ['-y', '-f', path]).then(({ stdout }) => stdout.split(' ')[1]);
    expect(await fields(join(folder, name!))).toBe(await fields(file));
  });
});

needs(['sshd', 'ssh'], 'openssh-server openssh-client')('sshd', () => {
  test('lets in a key of Ed25519, which a key makes if it can', async () => {
    const { login, ssh } = await host('ed25519', '', { ed25519: true });
    expect(ssh.publicKey).toMatch(/^sk-ssh-ed25519@openssh\.com /);
    expect(await login()).toBe(true);
  });

  test('lets an ACTIVE key in, refuses it from the lock on, and lets it in after the unlock', async () => {
    const { deviceId, login, log } = await host('locked', '');
    expect(await login()).toBe(true);
    await daemon.call('POST', `/api/devices/${deviceId}/lock`, { reason: 'lost' });
    expect(await login()).toBe(false);
    // The sessions of a locked key are found by its fingerprint.
    const [credential] = await daemon.call('GET', `/api/devices/${deviceId}/credentials`);
    const file = join(temporaryFolder(), 'key.pub');
    writeFileSync(file, credential.ssh.publicKey);
    const { stdout: listed } = await run('ssh-keygen', ['-l', '-f', file]);
    expect(log()).toContain(` ${listed.split(' ')[1]}`);
    await daemon.call('POST', `/api/devices/${deviceId}/unlock`, { reason: 'found' });
    expect(await login()).toBe(true);
  });

  test('refuses the key of a person who has left', async () => {
    const { personId, login } = await host('leaver', '');
    expect(await login()).toBe(true);
    await daemon.call('POST', `/api/people/${personId}/leave`, { reason: 'has left' });
    expect(await login()).toBe(false);
  });

  test('gets the last answer for its age at most, without a start of devmgr, whatever the clock does', async () => {
    const { deviceId, home, login, configure, answer } = await host('cached', 'MAX_AGE=3600');
    expect(await login()).toBe(true);
    await daemon.call('POST', `/api/devices/${deviceId}/lock`, { reason: 'lost' });
    configure('MAX_AGE=3600\nDEVMGR=/nowhere/devmgr');
    expect(answer()).toMatchObject({ status: 0, stdout: expect.stringMatching(/^sk-ecdsa/), stderr: '' });
    configure('MAX_AGE=3600');
    const file = join(home, 'ssh-keys', 'cached');
    const stored = readFileSync(file, 'utf8');
    for (const jump of [-3601, 3600]) {
      writeFileSync(
        file,
        stored.replace(/\d{10}/, at => `${Number(at) + jump}`),
      );
      expect(answer().stdout).toBe('');
    }
    // The clock was set back, so that the answer looks new, but the machine has run for more than a minute since.
    const askedAt = (at: number, up: number) =>
      writeFileSync(file, stored.replace(/\d{10} \d+/, `${Math.floor(at)} ${Math.floor(up)}`));
    configure('MAX_AGE=60\nDEVMGR=/nowhere/devmgr');
    askedAt(Date.now() / 1000, uptime());
    expect(answer().stdout).toMatch(/^sk-ecdsa/);
    askedAt(Date.now() / 1000, uptime() - 61);
    expect(answer().stdout).toBe('');
    expect((await keysOf('cached', home, '--max-age', '60s')).stdout).toBe('');
    expect(await login()).toBe(false);
  });

  test('uses no answer of another registry or token, in the script and in devmgr', async () => {
    const { home, login, configure, answer } = await host('moved', 'MAX_AGE=3600');
    expect(await login()).toBe(true);
    const keysFor = (more: string) => {
      configure(`MAX_AGE=3600\nWHEN_AWAY=8h\n${more}`);
      return answer().stdout;
    };
    const withoutStart = '\nDEVMGR=/nowhere/devmgr';
    const keys = keysFor(withoutStart);
    expect(keys).toMatch(/^sk-ecdsa/);
    const away = `http://127.0.0.1:${await freePort()}`;
    const other = { home, env: { DEVMGR_TOKEN: 'devmgr_other' } };
    const elsewhere = await devmgr(['ssh-keys', 'moved', '--server', away, '--when-away', '8h'], other);
    expect(elsewhere.stderr).toContain(away);
    expect(elsewhere.stdout).toBe('');
    expect(keysFor(`export DEVMGR_SERVER=${away}`)).toBe('');
    expect(keysFor('export DEVMGR_TOKEN=devmgr_other')).toBe('');
    const use = (server: string) => devmgr(['config', 'set', 'server', server], { home });
    await use(away);
    expect(keysFor('')).toBe('');
    await use(daemon.url);
    expect(keysFor(withoutStart)).toBe(keys);
    const named = `export DEVMGR_SERVER=${daemon.url}`;
    expect(keysFor(named + withoutStart)).toBe('');
    expect(keysFor(named)).toBe(keys);
    expect(keysFor(named + withoutStart)).toBe(keys);
  });

  test('gets no answer from a home that others can change, and none that was not stored whole', async () => {
    const { home, login, configure, answer } = await host('unsafe', 'MAX_AGE=3600');
    expect(await login()).toBe(true);
    configure('MAX_AGE=3600\nDEVMGR=/nowhere/devmgr');
    const keys = answer().stdout;
    expect(keys).toMatch(/^sk-ecdsa/);
    for (const mode of [0o720, 0o702]) {
      chmodSync(home, mode);
      expect(answer().stdout).toBe('');
    }
    chmodSync(home, 0o700);
    const file = join(home, 'ssh-keys', 'unsafe');
    writeFileSync(file, readFileSync(file, 'utf8').slice(0, -2));
    expect(answer().stdout).toBe('');
    configure('MAX_AGE=3600');
    expect(answer().stdout).toBe(keys);
  });

  test('does while the registry is away what its operator has chosen', async () => {
    const { configure, home, login } = await host('away', '');
    expect(await login()).toBe(true);
    onTestFinished(async () => {
      daemon = await startDaemon({ home: daemon.home });
    });
    await daemon.end('SIGTERM');
    expect(await login()).toBe(false);
    configure('WHEN_AWAY=8h');
    expect(await login()).toBe(true);
    const file = join(home, 'ssh-keys', 'away');
    writeFileSync(
      file,
      readFileSync(file, 'utf8').replace(/\d{10}/, at => `${Number(at) - 8 * 3600}`),
    );
    expect(await login()).toBe(false);
  });
});

test('a registry that was taken over adds no options, no other keys and no lines', async () => {
  const { ssh } = await issuedKey('honest');
  const keys = [
    { key: ssh.publicKey, deviceId: 'DEV-1\nssh-ed25519 AAAA', verifyRequired: false },
    { key: `${ssh.publicKey}\nssh-ed25519 AAAA`, deviceId: 'DEV-2' },
    { key: `command="/bin/sh" ${ssh.publicKey}`, deviceId: 'DEV-3' },
    { key: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIA', deviceId: 'DEV-4' },
    { key: 7, deviceId: 'DEV-5' },
  ];
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ code: 200, message: 'success', data: { keys } }));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const { code, stdout } = await devmgr(['--server', `http://127.0.0.1:${port}`, 'ssh-keys', 'honest'], {
    env: { DEVMGR_TOKEN: 'token-of-a-test' },
  });
  expect(code).toBe(0);
  expect(stdout).toMatch(/^sk-[^\n]+ devmgr SHA256:[^\n]+\n$/);
  expect(stdout.startsWith(`${ssh.publicKey} devmgr SHA256:`)).toBe(true);
});
