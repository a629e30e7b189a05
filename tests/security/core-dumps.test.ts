/**
 * Signals bring nothing out of the memory and environment of devmgr. On the built program; core dumps under a kernel that
 * writes core files.
 */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { follow, programFile } from '../cli/program.ts';
import { temporaryFolder } from '../support/temporary.ts';

const password = 'the password in memory 7361';

/** Whether the kernel writes core files into the working folder of a process; else a program of the system gets them. */
const pattern = readFileSync('/proc/sys/kernel/core_pattern', 'utf8').trim();
const isWritten = !/[|/]/.test(pattern) && pattern !== '';

/** Aborts a daemon that has started; resolves to how often its password is in its core file, and to the file's filter. */
async function dumpOf({ isAllowed }: { readonly isAllowed: boolean }): Promise<{ filter: number; found: boolean }> {
  const [folder, home] = [temporaryFolder(), temporaryFolder()];
  const script = 'ulimit -c unlimited; exec "$@"';
  const program = [process.execPath, programFile, 'daemon', 'run', '--port', '0', '--home', home, '--json'];
  const child = spawn('sh', ['-c', script, 'sh', ...program], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: home, DEVMGR_ADMIN_PASSWORD: password },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const daemon = follow(child);
  await daemon.until('stdout', /listening/i);
  const file = `/proc/${child.pid}/coredump_filter`;
  const filter = Number.parseInt(readFileSync(file, 'utf8'), 16);
  // Private memory that belongs to no file: where V8 has its objects.
  if (isAllowed) writeFileSync(file, '1');
  child.kill('SIGABRT');
  await daemon.ended;
  const dumps = readdirSync(folder).filter(name => name.startsWith('core'));
  if (isWritten) expect(dumps).toHaveLength(1);
  return { filter, found: dumps.some(name => readFileSync(join(folder, name)).includes(password)) };
}

it.runIf(process.platform === 'linux')('the memory of the daemon is in no core dump', async () => {
  expect(await dumpOf({ isAllowed: false })).toEqual({ filter: 0, found: false });
  // Without the filter, it would be.
  if (isWritten) expect(await dumpOf({ isAllowed: true })).toMatchObject({ found: true });
});

/** A daemon with a password in its environment. */
async function started(options = '') {
  const home = temporaryFolder();
  const args = [programFile, 'daemon', 'run', '--port', '0', '--home', home, '--json'];
  const env = { PATH: process.env.PATH, HOME: home, DEVMGR_ADMIN_PASSWORD: password, NODE_OPTIONS: options };
  const child = spawn(process.execPath, args, { env, stdio: ['pipe', 'pipe', 'pipe'] });
  const daemon = follow(child);
  await daemon.until('stdout', /listening/i);
  return { home, child, daemon };
}

it.runIf(process.platform !== 'win32')('a report of Node has nothing of the environment', async () => {
  const folder = temporaryFolder();
  const { child, daemon } = await started(`--report-on-signal --report-directory=${folder}`);
  child.kill('SIGUSR2');
  await daemon.until('stderr', /Node\.js report completed/);
  child.kill('SIGTERM');
  expect(await daemon.ended).toMatchObject({ code: 0 });
  const [report] = readdirSync(folder);
  const text = readFileSync(join(folder, report!), 'utf8');
  expect(text).toContain('javascriptStack');
  expect(text).not.toContain(password);
});

it.runIf(process.platform !== 'win32')(
  'SIGUSR1 opens no debugger, to which every user of the machine could connect',
  async () => {
    const { home, child, daemon } = await started();
    const { url } = JSON.parse(readFileSync(join(home, 'daemon.json'), 'utf8'));
    child.kill('SIGUSR1');
    for (let request = 0; request < 50; request++) expect((await fetch(`${url}/api/health`)).status).toBe(200);
    child.kill('SIGTERM');
    const { code, stderr } = await daemon.ended;
    expect(code).toBe(0);
    expect(stderr).not.toMatch(/debugger|inspector/i);
  },
);
