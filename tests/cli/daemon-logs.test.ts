/** `daemon logs`: the last lines, and new lines with --follow. */
import { appendFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { devmgr, start, temporaryFolder } from './program.ts';

const MiB = 1024 * 1024;

function homeWith(log: string) {
  const home = temporaryFolder();
  const file = join(home, 'daemon.log');
  writeFileSync(file, log);
  return { home, file };
}

describe('the end of the log', () => {
  const numbered = Array.from({ length: 120 }, (_, i) => `line ${i + 1}\n`).join('');

  test.each([
    ['50 lines by default', [], Array.from({ length: 50 }, (_, i) => `line ${i + 71}`)],
    ['the given number of lines', ['--lines', '2'], ['line 119', 'line 120']],
    ['all lines if there are fewer', ['-n', '500'], Array.from({ length: 120 }, (_, i) => `line ${i + 1}`)],
    ['empty for 0 lines', ['-n', '0'], []],
  ])('is %s', async (_, args, lines) => {
    const { home } = homeWith(numbered);
    const { code, stdout } = await devmgr(['daemon', 'logs', ...args], { home });
    expect(code).toBe(0);
    expect(stdout).toBe(lines.map(line => `${line}\n`).join(''));
  });

  test('is found after lines that are longer than one read', async () => {
    const { home } = homeWith(`first\n${'x'.repeat(100_000)}é\nlast\n`);
    const { stdout } = await devmgr(['daemon', 'logs', '-n', '2'], { home });
    expect(stdout).toBe(`${'x'.repeat(100_000)}é\nlast\n`);
  });

  test('is readable text without control characters, and with --json unchanged', async () => {
    const entry = `${JSON.stringify({ level: 40, time: 0, pid: 1, msg: 'a key \u001b[2J', serial: 'UK-1' })}\n`;
    const { home } = homeWith(entry);
    expect((await devmgr(['daemon', 'logs'], { home })).stdout).toBe(
      '1970-01-01 00:00:00 warn a key \\x1b[2J serial=UK-1\n',
    );
    expect((await devmgr(['daemon', 'logs', '--json'], { home })).stdout).toBe(entry);
  });

  test('does not exist before the first start: exit code 5', async () => {
    const { code, stderr } = await devmgr(['daemon', 'logs'], { home: temporaryFolder() });
    expect(code).toBe(5);
    expect(stderr).toContain('there is no log yet');
  });
});

test('--follow writes complete lines as the log grows, also after it was replaced', async () => {
  const { home, file } = homeWith('before\n');
  const running = start(['daemon', 'logs', '--follow'], { home, input: null });
  await running.until('stdout', /before\n/);
  // One read ends within the character.
  const long = `${'x'.repeat(MiB - 1)}é`;
  appendFileSync(file, `${long}\nhalf a li`);
  await running.until('stdout', /xé\n/);
  appendFileSync(file, 'ne\n');
  await running.until('stdout', /half a line\n/);
  unlinkSync(file);
  writeFileSync(file, 'new file\n');
  await running.until('stdout', /new file\n/);
  running.child.kill('SIGINT');
  const { code, stdout, stderr } = await running.ended;
  // Ctrl-C is how following ends, so it is not reported as an error.
  expect({ code, stderr }).toEqual({ code: 130, stderr: '' });
  expect(stdout).toBe(`before\n${long}\nhalf a line\nnew file\n`);
});
