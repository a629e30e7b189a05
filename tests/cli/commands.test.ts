/** Every command when it succeeds: its output and its exit code. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { adminPassword, type Daemon, devmgr, discard, startDaemon, temporaryFolder } from './program.ts';

let daemon: Daemon;
beforeAll(async () => {
  daemon = await startDaemon();
});
afterAll(() => discard(daemon));

let serials = 0;
const newSerial = () => `CMD-${++serials}`;

describe('a device', () => {
  test('is registered, with its code on standard output and the next step on standard error', async () => {
    const serial = newSerial();
    const args = ['register', '--type', 'ukey', '--serial', serial, '--manufacturer', 'Acme', '--model', 'One'];
    const { code, stdout, stderr } = await daemon.run(args);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Registered DEV-\d+ \(INACTIVE\)\n/);
    expect(stdout).toMatch(/activation code: [A-Z2-9]{4}(-[A-Z2-9]{4}){3}\n/);
    expect(stderr).toMatch(/^Next: devmgr activate DEV-\d+ --code \S+ --user USER\n$/);
  });

  test('is written as one JSON document, and nothing else', async () => {
    const args = [
      'register',
      '--type',
      'SIMKEY',
      '--serial',
      newSerial(),
      '--manufacturer',
      'Acme',
      '--model',
      'One',
      '--hardware-version',
      '2',
      '--json',
    ];
    const { code, json, stderr } = await daemon.run(args);
    expect(code).toBe(0);
    expect(stderr).toBe('');
    expect(Object.keys(json)).toEqual([
      'deviceId',
      'deviceType',
      'serialNumber',
      'manufacturer',
      'model',
      'status',
      'activationCode',
      'createdAt',
      'version',
    ]);
  });

  test('passes through all states, by serial number and by deviceId', async () => {
    const serial = newSerial();
    const { deviceId, activationCode } = await daemon.register(serial);
    const activated = await daemon.run([
      'activate',
      serial,
      '--code',
      activationCode.toLowerCase(),
      '--user',
      'alice',
      '--json',
    ]);
    expect(activated.json).toMatchObject({ deviceId, status: 'ACTIVE', userId: 'alice' });
    const locked = await daemon.run(['lock', deviceId, '--reason', 'reported lost', '--note', 'by phone', '--json']);
    expect(locked.json).toMatchObject({ deviceId, status: 'LOCKED', lockReason: 'reported lost' });
    const unlocked = await daemon.run(['unlock', serial, '--json']);
    expect(unlocked.json).toMatchObject({ deviceId, status: 'ACTIVE' });
    const updated = await daemon.run(['update', serial, '--firmware', '1.0.4', '--note', 'drawer 3', '--json']);
    expect(updated.json).toMatchObject({ firmwareVersion: '1.0.4', note: 'drawer 3' });
    const cleared = await daemon.run(['update', serial, '--note', '', '--json']);
    expect(cleared.json).toMatchObject({ firmwareVersion: '1.0.4', note: null });
    const renewed = await daemon.run(['replace-code', serial, '--reason', 'letter lost', '--days', '30', '--json']);
    expect(renewed.json).toMatchObject({ deviceId, oldActivationCode: activationCode });
    const retired = await daemon.run(
      ['deactivate', serial, '--reason', 'worn out', '--yes', '--password-stdin', '--json'],
      { input: `${adminPassword}\n` },
    );
    expect(retired.json).toMatchObject({ deviceId, status: 'DEACTIVATED' });
    expect([activated, locked, unlocked, updated, renewed, retired].map(({ code }) => code)).toEqual([
      0, 0, 0, 0, 0, 0,
    ]);
  });

  test('is shown with its history', async () => {
    const { deviceId, activationCode } = await daemon.register(newSerial());
    await daemon.call('POST', '/api/devices/activate', { deviceId, activationCode, userId: 'bob' });
    await daemon.call('POST', `/api/devices/${deviceId}/lock`, { reason: 'in doubt' });
    const { code, stdout } = await daemon.run(['show', deviceId]);
    expect(code).toBe(0);
    expect(stdout.split('\n')[0]).toBe(`${deviceId}  LOCKED`);
    expect(stdout).toMatch(/history:\n.* registered .*\n.* activated for bob .*\n.* locked: in doubt .*\n/);
  });

  test('is shown without its code once it is retired', async () => {
    const { deviceId, activationCode } = await daemon.register(newSerial());
    expect((await daemon.run(['show', deviceId])).stdout).toContain(`${activationCode} (valid until `);
    const body = { reason: 'lost', confirmPassword: adminPassword };
    await daemon.call('POST', `/api/devices/${deviceId}/deactivate`, body);
    const { stdout } = await daemon.run(['show', deviceId]);
    expect({ title: stdout.split('\n')[0], stdout }).toMatchObject({ title: `${deviceId}  DEACTIVATED` });
    expect(stdout).not.toMatch(/valid until|activation code/);
    expect((await daemon.run(['show', deviceId, '--json'])).json).toMatchObject({ activationCode });
  });

  test.each([
    ['without hyphens', (code: string) => code.replaceAll('-', '')],
    ['with spaces', (code: string) => ` ${code.replaceAll('-', ' ')} `],
    ['in lower case', (code: string) => code.toLowerCase().replaceAll('-', '')],
  ])('is activated with its code %s', async (_, typed) => {
    const { deviceId, activationCode } = await daemon.register(newSerial());
    const args = ['activate', deviceId, '--code', typed(activationCode), '--user', 'bob'];
    expect(await daemon.run(args)).toMatchObject({ code: 0, stdout: expect.stringContaining('is ACTIVE') });
  });

  test('shows its code as a QR code', async () => {
    const { deviceId, activationCode } = await daemon.register(newSerial());
    const { stdout } = await daemon.run(['show', deviceId, '--qr']);
    expect(stdout).toMatch(/█▄▄▄▄▄█|█ ▄▄▄▄▄ █/);
    expect(stdout.trimEnd().endsWith(activationCode)).toBe(true);
  });

  test('with --quiet is only its id', async () => {
    const { deviceId } = await daemon.register(newSerial());
    expect(await daemon.run(['show', deviceId, '-q'])).toMatchObject({ code: 0, stdout: `${deviceId}\n`, stderr: '' });
  });
});

describe('list', () => {
  test('has the fields of the interface, in JSON and as CSV columns', async () => {
    const { deviceId } = await daemon.register(newSerial());
    const fields = [
      'deviceId',
      'deviceType',
      'serialNumber',
      'manufacturer',
      'model',
      'status',
      'userId',
      'personId',
      'activationCode',
      'createdAt',
      'activatedAt',
      'lastUsedAt',
    ];
    const { json } = await daemon.run(['list', '--json', '--size', '1']);
    expect(Object.keys(json)).toEqual(['list', 'pagination']);
    expect(Object.keys(json.list[0])).toEqual([...fields, 'tags', 'proof']);
    expect(json.list[0].deviceId).toBe(deviceId);
    const csv = await daemon.run(['list', '--csv', '--size', '1']);
    expect(csv.stdout.split('\n')[0]).toBe(fields.filter(field => field !== 'personId').join(','));
    expect(csv.stdout.split('\n')[1]).toMatch(new RegExp(`^${deviceId},UKEY,`));
  });

  test('filters and sorts', async () => {
    const prefix = `SORT${++serials}`;
    for (const name of ['b', 'a', 'c']) await daemon.register(`${prefix}-${name}`);
    const { json } = await daemon.run([
      'list',
      '--keyword',
      prefix.toLowerCase(),
      '--sort',
      'serialnumber',
      '--order',
      'ASC',
      '--type',
      'ukey',
      '--status',
      'inactive',
      '--manufacturer',
      'Acme',
      '--json',
    ]);
    expect(json.list.map((device: { serialNumber: string }) => device.serialNumber)).toEqual([
      `${prefix}-a`,
      `${prefix}-b`,
      `${prefix}-c`,
    ]);
  });

  test('--all streams every page once, and register reads its CSV', async () => {
    const devices = Array.from({ length: 230 }, (_, n) => ({
      deviceType: 'UKEY',
      serialNumber: `ALL-${n}`,
      manufacturer: 'Acme, "Inc"',
      model: 'One',
    }));
    await daemon.call('POST', '/api/devices/batch-register', { devices });
    const { code, rows } = await daemon.run(['list', '--all', '--keyword', 'ALL-', '--json']);
    expect(code).toBe(0);
    expect(new Set(rows.map(row => row.serialNumber)).size).toBe(230);
    expect(rows).toHaveLength(230);
    const file = join(temporaryFolder(), 'all.csv');
    const csv = await daemon.run(['list', '--all', '--keyword', 'ALL-', '--csv']);
    writeFileSync(file, csv.stdout);
    const { code: dry, rows: lines } = await daemon.run(['register', '--file', file, '--dry-run', '--json']);
    expect(dry).toBe(0);
    expect(lines.map(line => line.status)).toEqual(Array(230).fill('registered'));
  });

  test('reports an empty result, and nothing else', async () => {
    const { code, stdout, stderr } = await daemon.run(['list', '--keyword', 'no-such-thing']);
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: '', stderr: 'No device matches.\n' });
  });
});

describe('a login', () => {
  test('is stored in a file that only the user can read, and reports this', async () => {
    const home = temporaryFolder();
    const { code, stdout, stderr } = await devmgr(
      ['login', '--username', 'admin', '--password-stdin', '--server', daemon.url],
      { home, input: `${adminPassword}\n` },
    );
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Logged in as admin \(ADMIN\)\n/);
    expect(stderr).toContain(`stored in ${home}/credentials.json`);
    const { statSync } = await import('node:fs');
    expect(statSync(join(home, 'credentials.json')).mode & 0o777).toBe(0o600);
    const who = await devmgr(['whoami', '--json'], { home });
    expect(who.json).toMatchObject({ username: 'admin', role: 'ADMIN' });
    expect((await devmgr(['logout'], { home })).code).toBe(0);
    expect((await devmgr(['whoami'], { home })).code).toBe(3);
  });

  test('belongs to its profile', async () => {
    const home = temporaryFolder();
    await devmgr(['login', 'admin', '--password-stdin', '--server', daemon.url, '--profile', 'work'], {
      home,
      input: adminPassword,
    });
    expect((await devmgr(['whoami', '--server', daemon.url], { home })).code).toBe(3);
    expect((await devmgr(['whoami', '--profile', 'work'], { home })).code).toBe(0);
    expect((await devmgr(['config', 'use', 'work'], { home })).code).toBe(0);
    expect((await devmgr(['whoami'], { home })).code).toBe(0);
  });

  test('is overridden by DEVMGR_TOKEN, with one notice, and none with --quiet or --json', async () => {
    await daemon.call('POST', '/api/users', { username: 'token-user', password: adminPassword, role: 'VIEWER' });
    const other = await daemon.run(['login', 'token-user', '--password-stdin', '--json'], {
      home: temporaryFolder(),
      input: adminPassword,
      env: { DEVMGR_SERVER: daemon.url },
    });
    const env = { DEVMGR_TOKEN: other.json.token };
    const who = await daemon.run(['whoami'], { env });
    expect(who.stdout).toMatch(/^token-user \(VIEWER\)/);
    expect(who.stderr).toBe('using the token in DEVMGR_TOKEN, not the stored login of admin\n');
    expect((await daemon.run(['whoami', '--json'], { env })).stderr).toBe('');
    expect((await daemon.run(['whoami', '--quiet'], { env })).stderr).toBe('');
  });

  test('is sent only to the server that issued it', async () => {
    const home = temporaryFolder();
    await devmgr(['login', 'admin', '--password-stdin', '--server', daemon.url], { home, input: adminPassword });
    const elsewhere = await devmgr(['whoami', '--server', daemon.url.replace('127.0.0.1', 'localhost')], { home });
    expect(elsewhere.code).toBe(3);
    expect(elsewhere.stderr).toContain('not logged in to http://localhost:');
  });
});

describe('option, environment and profile', () => {
  test('an option overrides the environment, and the environment the profile', async () => {
    const home = temporaryFolder();
    const server = async (args: readonly string[], env = {}) =>
      (await devmgr(['config', '--json', ...args], { home, env })).json.server;
    expect(await server([])).toBeNull();
    await devmgr(['config', 'set', 'server', 'https://profile.example'], { home });
    expect(await server([])).toBe('https://profile.example');
    expect(await server([], { DEVMGR_SERVER: 'https://env.example' })).toBe('https://env.example');
    expect(await server(['--server', 'https://flag.example/'], { DEVMGR_SERVER: 'https://env.example' })).toBe(
      'https://flag.example',
    );
    await devmgr(['config', 'unset', 'server'], { home });
    expect(await server([])).toBeNull();
  });
});

describe('users', () => {
  test('are added, listed, changed, and get new passwords', async () => {
    const folder = temporaryFolder();
    const file = join(folder, 'password');
    writeFileSync(file, 'another good one\n');
    const added = await daemon.run([
      'users',
      'add',
      'dealer-1',
      '--role',
      'dealer',
      '--email',
      'd@example.com',
      '--password-file',
      file,
      '--json',
    ]);
    expect(added.json).toMatchObject({ username: 'dealer-1', role: 'DEALER', email: 'd@example.com', disabled: false });
    const listed = await daemon.run(['users', 'list', '--json']);
    expect(listed.json.list.map((user: { username: string }) => user.username)).toContain('dealer-1');
    expect((await daemon.run(['users', 'update', 'dealer-1', '--disable', '--json'])).json.disabled).toBe(true);
    expect(
      (await daemon.run(['users', 'update', added.json.id, '--enable', '--email', '', '--json'])).json,
    ).toMatchObject({ disabled: false, email: null });
    expect(
      (await daemon.run(['users', 'passwd', 'dealer-1', '--password-stdin', '--json'], { input: 'a third password\n' }))
        .code,
    ).toBe(0);
    const home = temporaryFolder();
    const login = ['login', 'dealer-1', '--password-stdin', '--server', daemon.url];
    expect((await devmgr(login, { home, input: 'a third password' })).code).toBe(0);
    const own = await devmgr(['users', 'passwd', '--password-stdin', '--json'], {
      home,
      input: 'a third password\na fourth password\n',
    });
    expect(own.code).toBe(0);
    expect((await devmgr(login, { home: temporaryFolder(), input: 'a third password' })).code).toBe(3);
    expect((await devmgr(login, { home, input: 'a fourth password' })).code).toBe(0);
  });
});

describe('application versions', () => {
  test('are uploaded, listed, found and downloaded', async () => {
    const folder = temporaryFolder();
    const file = join(folder, 'devmgr-1.2.0.deb');
    writeFileSync(file, Buffer.alloc(300_000, 7));
    writeFileSync(join(folder, 'notes.txt'), 'first line\nsecond line');
    const uploaded = await daemon.run([
      'apps',
      'add',
      file,
      '--platform',
      'linux',
      '--version',
      '1.2.0',
      '--name',
      'Spring',
      '--changelog',
      `@${join(folder, 'notes.txt')}`,
      '--force-update',
      '--min-version',
      '1.0',
      '--json',
    ]);
    expect(uploaded.json).toMatchObject({
      platform: 'LINUX',
      version: '1.2.0',
      versionName: 'Spring',
      changelog: 'first line\nsecond line',
      forceUpdate: true,
      minSupportVersion: '1.0',
      fileSize: 300_000,
      uploadedBy: 'admin',
    });
    const { versionId } = uploaded.json;
    expect((await daemon.run(['apps', 'list', '--quiet'])).stdout).toBe(`${versionId}\n`);
    expect((await daemon.run(['apps', 'list', '--csv'])).stdout).toMatch(/^versionId,platform,version,/);
    const latest = await daemon.run(['apps', 'latest', '--platform', 'LINUX', '--current', '1.1', '--json']);
    expect(latest.json).toMatchObject({ updateAvailable: true, forceUpdate: true, latest: { versionId } });
    const target = join(folder, 'copy.deb');
    const downloaded = await daemon.run(['apps', 'download', versionId, '--out', target, '--quiet']);
    expect(downloaded).toMatchObject({ code: 0, stdout: `${target}\n` });
    expect(readFileSync(target).equals(readFileSync(file))).toBe(true);
    const piped = await daemon.run(['apps', 'download', versionId, '--out', '-']);
    expect(piped.stdout).toHaveLength(300_000);
  });

  test('are rejected with the code of the server before an upload starts', async () => {
    const folder = temporaryFolder();
    const empty = join(folder, 'a.apk');
    writeFileSync(empty, '');
    const sent = async (...args: string[]) => {
      const { code, stderr } = await daemon.run(['apps', 'add', ...args, '--version', '1.0', '--verbose', '--json']);
      expect(stderr).not.toContain('POST');
      expect(stderr).toContain('"code":4002');
      return { code, stderr };
    };
    expect(await sent(empty)).toMatchObject({ code: 1, stderr: expect.stringContaining('is empty') });
    expect(await sent(join(folder, 'b.zip'))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('ANDROID: apk, aab'),
    });
    expect(await sent(empty, '--platform', 'IOS')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('.apk is not a package for IOS'),
    });
  });
});

describe('the program', () => {
  test('writes its version, and help to standard output if it was asked for', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    const shown = await devmgr(['--version']);
    expect(shown.stdout.split('\n')[0]).toBe(`devmgr ${version}`);
    expect((await devmgr(['version'])).stdout).toBe(shown.stdout);
    expect((await devmgr(['--version', '--quiet'])).stdout).toBe(`${version}\n`);
    const help = await devmgr(['--help']);
    expect(help.code).toBe(0);
    expect(help.stdout).toContain('quickstart');
    const none = await devmgr([]);
    expect({ code: none.code, stdout: none.stdout }).toEqual({ code: 2, stdout: '' });
    expect((await devmgr(['help', 'lock'])).stdout).toContain('Usage: devmgr lock [options] [DEVICE...]');
  });

  test('counts devices', async () => {
    const { json } = await daemon.run(['stats', '--json', '--days', '3']);
    expect(json.total).toBe(json.byType.UKEY + json.byType.SIMKEY);
    expect(json.registrations).toHaveLength(3);
    expect(json.registrations.at(-1).count).toBe(json.total);
    expect((await daemon.run(['stats'])).stdout).toContain('By state');
  });

  test('finds problems', async () => {
    const { code, json } = await daemon.run(['doctor', '--json']);
    expect(code).toBe(0);
    expect(json.checks.map((check: { name: string }) => check.name)).toEqual(
      expect.arrayContaining(['node', 'home', 'daemon', 'login', 'hid', 'pcsc']),
    );
    const none = await devmgr(['doctor']);
    expect(none.code).toBe(1);
    expect(none.stdout).toContain('devmgr daemon start');
  });

  test('finds devices that are bound to the id of an account, and binds them to its name', async () => {
    const own = await startDaemon();
    onTestFinished(() => discard(own));
    const { deviceId, activationCode } = await own.register('BOUND-1');
    const bound = await own.run(['activate', deviceId, '--code', activationCode, '--user', 'USR-1']);
    expect(bound.stderr).toContain('USR-1 is the id of the account admin: a filter for admin does not find the device');
    const findings = async () => (await own.run(['doctor'])).stdout.replaceAll(/\s+/g, ' ');
    expect(await findings()).toContain(
      `misses it: ${deviceId} (USR-1, admin) → bind to the names: devmgr doctor --bind-names`,
    );
    expect((await own.run(['doctor', '--bind-names'])).code).toBe(2);
    await own.run(['lock', deviceId, '--reason', 'test']);
    expect((await own.run(['doctor', '--bind-names', '--yes'])).code).toBe(7);
    await own.run(['unlock', deviceId]);
    const { code, stdout } = await own.run(['doctor', '--bind-names', '--yes']);
    expect([code, stdout]).toEqual([0, `✓ ${deviceId}  admin\n`]);
    expect((await own.run(['list', '--user', 'admin', '--quiet'])).stdout).toBe(`${deviceId}\n`);
    expect(await findings()).not.toContain('bindings');
    expect((await own.run(['daemon', 'audit', '--verify'])).code).toBe(0);
  });

  test('writes completions, a manual page, and its settings', async () => {
    for (const shell of ['bash', 'zsh', 'fish']) expect((await devmgr(['completion', shell])).code).toBe(0);
    const page = await devmgr(['man']);
    expect(page.stdout).toMatch(/^\.TH DEVMGR 1 "\d{4}-\d\d-\d\d" /);
    // mandoc warns of a paragraph that begins where a section does.
    expect(page.stdout).not.toMatch(/^\.SH .*\n\.PP/m);
    expect((await daemon.run(['config', 'path'])).stdout).toBe(`${daemon.home}/config.json\n`);
  });

  test('installs its rules below another root, after it has shown them and was allowed to', async () => {
    const root = temporaryFolder();
    expect((await devmgr(['doctor', '--fix', '--root', root])).code).toBe(2);
    expect(existsSync(join(root, 'etc'))).toBe(false);
    const { code, stdout } = await devmgr(['doctor', '--fix', '--yes', '--root', root]);
    expect(code).toBe(0);
    expect(stdout).toContain('70-devmgr.rules');
    const rules = readFileSync(join(root, 'etc/udev/rules.d/70-devmgr.rules'), 'utf8');
    expect(rules).toBe(readFileSync('packaging/udev/70-devmgr.rules', 'utf8'));
    expect((await devmgr(['doctor', '--fix', '--root', root, '--json'])).json).toEqual({ written: [] });
  });

  test('does not install a rule that the system package has installed', async () => {
    const root = temporaryFolder();
    for (const rule of ['usr/lib/udev/rules.d/70-devmgr.rules', 'usr/share/polkit-1/rules.d/50-devmgr.rules']) {
      mkdirSync(dirname(join(root, rule)), { recursive: true });
      writeFileSync(join(root, rule), '');
    }
    expect((await devmgr(['doctor', '--fix', '--yes', '--root', root, '--json'])).json).toEqual({ written: [] });
  });

  test('completes devices from the server', async () => {
    const serial = newSerial();
    const { deviceId } = await daemon.register(serial);
    const { stdout } = await daemon.run(['completion', 'zsh', '--offer', '--', 'show', serial]);
    expect(stdout).toBe(`words\n${serial}\t${deviceId} INACTIVE\n`);
    expect((await daemon.run(['completion', 'zsh', '--offer', '--', 'lock', '--rea'])).stdout).toMatch(/^--reason\t/m);
  });
});

describe('maintenance commands', () => {
  test('back up the registry, check it, and write its journal', async () => {
    const serial = newSerial();
    const { deviceId } = await daemon.register(serial);
    const file = join(temporaryFolder(), 'copy.db');
    expect((await daemon.run(['daemon', 'backup', file, '--json'])).json).toMatchObject({ file });
    expect((await daemon.run(['daemon', 'check'])).code).toBe(0);
    expect((await daemon.run(['daemon', 'audit', '--verify'])).stdout).toMatch(/^OK: \d+ entries checked\n$/);
    const { rows } = await daemon.run(['daemon', 'audit', '--device', serial, '--json']);
    expect(rows).toMatchObject([{ type: 'DEVICE_REGISTERED', deviceId, serialNumber: serial, user: 'admin' }]);
    const restore = await daemon.run(['daemon', 'restore', file, '--yes']);
    expect(restore.code).not.toBe(0);
  });
});
