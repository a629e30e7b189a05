import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { fileOf } from '../../scripts/executable/fetch.mjs';
import { partsOf } from '../../scripts/executable/targets.mjs';
import { adminPassword } from '../support/daemon.ts';
import { program } from '../support/program.ts';
import { Emulated, type Started, succeeded } from './emulated.ts';

const root = join(import.meta.dirname, '../..');
const executable = join(root, 'dist/bin/devmgr-linux-arm64');
/** The C library of Debian's cross packages. */
const qemu = ['qemu-aarch64-static', '-L', '/usr/aarch64-linux-gnu'];
const isArm = (file: string) =>
  readFileSync(file)
    .subarray(18, 20)
    .equals(Buffer.from([0xb7, 0]));

const machines: Emulated[] = [];
afterAll(() => Promise.all(machines.map(machine => machine.remove())));

function machineOf(...command: readonly string[]): Emulated {
  expect(isArm(command[0]!)).toBe(true);
  const machine = new Emulated([...qemu, ...command], {});
  machines.push(machine);
  return machine;
}

const device = ['register', '--type', 'UKEY', '--manufacturer', 'Acme', '--model', 'K1', '--serial'];
const simulated = ['SIM-SIMKEY-0002', 'SIM-UKEY-0001'];

/** A daemon that has enrolled two simulated keys. Each command takes seconds of processor time here. */
async function enrolled(machine: Emulated) {
  const home = join(machine.folder, 'home');
  const daemon = await machine.daemon(home, ['--simulate-keys', '2']);
  const call = async (...args: string[]) => succeeded(await machine.run(args, home));
  succeeded(await machine.run(['login', 'admin', '--password-stdin'], home, { input: `${adminPassword}\n` }));
  await call('enroll', '--count', '2', '--timeout', '300');
  return { home, daemon, call };
}

async function serials(call: (...args: string[]) => Promise<string>): Promise<string[]> {
  const { list } = JSON.parse(await call('list', '--json')) as { list: { serialNumber: string }[] };
  return list.map(({ serialNumber }) => serialNumber).sort();
}

async function stop(daemon: Started): Promise<void> {
  daemon.child.kill('SIGTERM');
  expect(await daemon.ended).toMatchObject({ code: 0 });
}

describe.concurrent('on arm64', () => {
  it("npm's Node does the main job, makes a backup and restores it", async () => {
    const machine = machineOf((await fileOf(partsOf('linux-arm64').node))!, program);
    const { home, daemon, call } = await enrolled(machine);
    await call(...device, 'ARM-1');
    const backup = join(machine.folder, 'backup.db');
    await call('daemon', 'backup', backup);
    await call(...device, 'ARM-2');
    expect(await serials(call)).toEqual(['ARM-1', 'ARM-2', ...simulated]);
    await stop(daemon);

    await call('daemon', 'restore', backup, '--yes');
    expect(await call('daemon', 'audit', '--verify')).toContain('OK:');
    const again = await machine.daemon(home);
    expect(await serials(call)).toEqual(['ARM-1', ...simulated]);
    await stop(again);
  });

  it('the executable loads its native modules, and enrolls', async () => {
    const machine = machineOf(executable);
    const versions = succeeded(await machine.run(['version'], 'none'));
    for (const part of [/^platform +linux arm64/m, /^SQLite +3\./m, /^node-hid +\d/m, /^@napi-rs\/keyring +\d/m])
      expect(versions).toMatch(part);
    const { daemon, call } = await enrolled(machine);
    expect(await serials(call)).toEqual(simulated);
    await stop(daemon);
  });

  it('the executable is in a Debian package', async () => {
    const call = promisify(execFile);
    const into = new Emulated([], {});
    machines.push(into);
    const flags = ['--platform', 'linux-arm64', '--fast', '--into', into.folder];
    await call(process.execPath, [join(root, 'scripts/deb.mjs'), ...flags]);
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    const file = join(into.folder, `devmgr_${version}_arm64.deb`);
    expect((await call('dpkg-deb', ['-f', file, 'Architecture'])).stdout.trim()).toBe('arm64');
    const tree = join(into.folder, 'tree');
    await call('dpkg-deb', ['-x', file, tree]);
    expect(readFileSync(join(tree, 'usr/bin/devmgr')).equals(readFileSync(executable))).toBe(true);
    expect(readFileSync(join(tree, 'usr/share/man/man1/devmgr.1.gz')).length).toBeGreaterThan(1000);
  });
});
