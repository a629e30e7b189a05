/**
 * Boots the guest and runs a command in it: `node tests/lab/vm.ts [--no-udevd] [--no-pcscd] [--limit SECONDS] 'COMMAND'`.
 * The project is mounted in the guest as /app, read only. The output of the command is printed here, and its exit status is
 * that of this program: 124 after the time limit, 125 if the lab itself failed.
 */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
const CACHE = process.env.DEVMGR_LAB_CACHE ?? '/tmp/devmgr-lab';
const TIMED_OUT = 124;
const LAB_FAILED = 125;

export interface GuestOptions {
  readonly udevd?: boolean;
  readonly pcscd?: boolean;
  /** Time limit in seconds, including the boot. Default: 300. */
  readonly limit?: number;
  /** Receives the output of the guest. Default: it is written to stdout. */
  readonly output?: (text: string) => void;
}

const share = (tag: string, path: string): string[] => [
  ...['-fsdev', `local,id=${tag},path=${path.replaceAll(',', ',,')},security_model=none,readonly=on,multidevs=remap`],
  ...['-device', `virtio-9p-pci,fsdev=${tag},mount_tag=${tag}`],
];

/** TCG unless `DEVMGR_LAB_ACCEL=kvm`: in nested virtual machines KVM is often present but does not work. */
function machine(job: string): string[] {
  const accel = process.env.DEVMGR_LAB_ACCEL ?? 'tcg,thread=multi';
  return [
    ...[
      '-machine',
      'q35',
      '-accel',
      accel,
      '-cpu',
      accel.startsWith('kvm') ? 'host' : 'max',
      '-smp',
      '2',
      '-m',
      '1024',
    ],
    ...['-nodefaults', '-no-user-config', '-display', 'none', '-no-reboot'],
    ...['-kernel', join(CACHE, 'vmlinuz'), '-initrd', join(CACHE, 'first.gz')],
    ...['-append', 'console=ttyS0 loglevel=4 panic=-1 mitigations=off'],
    ...['-serial', `file:${join(job, 'console')}`],
    ...['-drive', `file=${join(CACHE, 'root.img')},if=none,id=root,format=raw,readonly=on`],
    ...['-device', 'virtio-blk-pci,drive=root'],
    ...['-device', 'virtio-serial-pci', '-chardev', 'stdio,id=out,signal=off'],
    ...['-device', 'virtserialport,chardev=out,name=lab.out'],
    ...share('app', PROJECT),
    ...share('job', join(job, '.')),
  ];
}

/** The exit status of the command in the guest. Rejects if the lab itself failed. */
export async function runInGuest(command: string, options: GuestOptions = {}): Promise<number> {
  if (!existsSync(join(CACHE, 'stamp')))
    throw new Error(`there is no guest in ${CACHE}: run tests/lab/build as root first`);
  const { udevd = true, pcscd = true, limit = 300, output = text => process.stdout.write(text) } = options;
  const job = mkdtempSync(join(tmpdir(), 'devmgr-lab-job-'));
  const end = `lab-end-${randomUUID()}`;
  const flag = (on: boolean): string => (on ? '1' : '0');
  writeFileSync(join(job, 'settings'), `LAB_UDEVD=${flag(udevd)}\nLAB_PCSCD=${flag(pcscd)}\nLAB_END=${end}\n`);
  writeFileSync(join(job, 'command'), `${command}\n`);

  // The guest ends with this process in any way. Its input stays open, because at its end QEMU closes the port.
  const qemu = spawn('setpriv', ['--pdeathsig', 'KILL', 'qemu-system-x86_64', ...machine(job)], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  try {
    return await new Promise<number>((resolve, reject) => {
      const timer = setTimeout(() => resolve(TIMED_OUT), limit * 1_000);
      const finish = (settle: () => void): void => {
        clearTimeout(timer);
        settle();
      };
      let errors = '';
      qemu.stderr.on('data', (chunk: Buffer) => {
        errors += chunk;
      });
      // The end marker has its own line: a line feed before it may come from the guest and not from the command.
      let held = '';
      const lines = lineReader(line => {
        if (line.startsWith(end)) return finish(() => resolve(Number(line.slice(end.length))));
        output(held);
        held = line === '' ? '\n' : '';
        if (line !== '') output(`${line}\n`);
      });
      qemu.stdout.on('data', lines);
      qemu.on('error', error => finish(() => reject(new Error(`qemu-system-x86_64 cannot be run: ${error.message}`))));
      qemu.on('exit', () => finish(() => reject(new Error(`the guest ended on its own: ${errors}${consoleOf(job)}`))));
    });
  } finally {
    qemu.removeAllListeners('exit');
    qemu.kill('SIGKILL');
    rmSync(job, { recursive: true, force: true });
  }
}

function lineReader(take: (line: string) => void): (chunk: Buffer) => void {
  const decoder = new TextDecoder();
  let rest = '';
  return chunk => {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) take(line.replace(/\r$/, ''));
  };
}

function consoleOf(job: string): string {
  const file = join(job, 'console');
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(-15).join('\n') : '';
}

if (import.meta.main) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { 'no-udevd': { type: 'boolean' }, 'no-pcscd': { type: 'boolean' }, limit: { type: 'string' } },
  });
  const [command] = positionals;
  if (command === undefined) {
    console.error("usage: node tests/lab/vm.ts [--no-udevd] [--no-pcscd] [--limit SECONDS] 'COMMAND'");
    process.exit(2);
  }
  try {
    process.exitCode = await runInGuest(command, {
      udevd: values['no-udevd'] !== true,
      pcscd: values['no-pcscd'] !== true,
      limit: Number(values.limit ?? 300),
    });
  } catch (error) {
    console.error(`lab: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = LAB_FAILED;
  }
}
