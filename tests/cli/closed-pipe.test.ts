/** A reader that closes the pipe (`| head -1`) ends a command silently, as it ends every other tool. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Daemon, discard, programFile, startDaemon, temporaryFolder } from './program.ts';

let daemon: Daemon;
beforeAll(async () => {
  daemon = await startDaemon();
  const devices = Array.from({ length: 2_000 }, (_, n) => ({
    deviceType: 'UKEY',
    serialNumber: `PIPE-${n}`,
    manufacturer: 'Acme',
    model: 'One',
  }));
  await daemon.call('POST', '/api/devices/batch-register', { devices });
  const file = join(daemon.home, 'devmgr.apk');
  writeFileSync(file, Buffer.alloc(2_000_000, 'package\n'));
  expect((await daemon.run(['apps', 'add', file, '--version', '1.0.0'])).code).toBe(0);
});
afterAll(() => discard(daemon));

const env = () => ({
  PATH: process.env.PATH,
  HOME: daemon.home,
  DEVMGR_HOME: daemon.home,
  DEVMGR_NO_KEYCHAIN: '1',
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
});

/** Runs the program with its standard output piped into the shell command `reader`. Returns its exit code and errors. */
async function pipedInto(reader: string, args: readonly string[], input = '') {
  const line = `"$0" "$@" | { ${reader}; }; echo "exit \${PIPESTATUS[0]}" >&2`;
  const shell = spawn('bash', ['-c', line, process.execPath, programFile, ...args], { env: env() });
  let said = '';
  shell.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  shell.stdout.resume();
  shell.stdin.on('error', () => undefined).end(input);
  await once(shell, 'close');
  return said;
}

const long: Record<string, readonly string[]> = {
  'daemon audit': ['daemon', 'audit'],
  'daemon audit --json': ['daemon', 'audit', '--json'],
  'daemon audit --csv': ['daemon', 'audit', '--csv'],
  'list --all': ['list', '--all'],
  'list --all --json': ['list', '--all', '--json'],
  'list --all --csv': ['list', '--all', '--csv'],
  'list --all --quiet': ['list', '--all', '--quiet'],
  'apps download --out -': ['apps', 'download', 'APP-1', '--out', '-'],
  'watch --since 0': ['watch', '--since', '0'],
  'watch --since 0 --json': ['watch', '--since', '0', '--json'],
};
const short: Record<string, readonly string[]> = {
  'daemon check': ['daemon', 'check'],
  'daemon audit --verify': ['daemon', 'audit', '--verify'],
  'daemon rotate-key': ['daemon', 'rotate-key'],
  'daemon status': ['daemon', 'status'],
  'show --json': ['show', 'DEV-1', '--json'],
  whoami: ['whoami'],
  help: ['--help'],
  man: ['man'],
  completion: ['completion', 'bash'],
  config: ['config'],
};

/** A watch reports its connection. */
const quietEnd = /^(connect[^\n]*\n)*exit 0\n$/;

describe.each(Object.entries(long))('%s', (_name, args) => {
  test('ends when the reader closes after the first line', async () => {
    expect(await pipedInto('head -n 1', args)).toMatch(quietEnd);
  });

  test('ends when the reader closes a full pipe', async () => {
    // After the first byte the program is writing; until the shell continues, it fills the pipe or waits.
    expect(await pipedInto('head -c 1 >/dev/null; read -r -N 70000; true', args)).toMatch(quietEnd);
  });
});

test('watch ends at once when its reader has gone, also if nothing happens', async () => {
  const args = ['watch', '--since', '2000', '--json'];
  const started = performance.now();
  await daemon.register('PIPE-LAST');
  expect(await pipedInto('head -n 1', args)).toMatch(quietEnd);
  expect(performance.now() - started).toBeLessThan(20_000);
});

test.each(Object.entries(short))('%s ends silently if there never was a reader', async (_name, args) => {
  expect(await pipedInto('exec <&-; sleep 0', args)).toBe('exit 0\n');
});

test('register --file ends silently, too', async () => {
  const file = join(temporaryFolder(), 'keys.csv');
  const rows = Array.from({ length: 500 }, (_, n) => `UKEY,PIPED-${n},Acme,One`);
  writeFileSync(file, `type,serial,manufacturer,model\n${rows.join('\n')}\n`);
  const args = ['register', '--file', file, '--batch-size', '100'];
  expect(await pipedInto('head -n 1', args)).not.toMatch(/EPIPE|unexpected/);
});

test('a new password that could not be written is an error, because it was set', async () => {
  await daemon.end('SIGTERM');
  const said = await pipedInto('exec <&-; sleep 0', ['daemon', 'reset-password', 'admin']);
  expect(said).toMatch(/the new password of admin could not be shown[\s\S]*exit 1\n$/);
});
