/** A log is read on a terminal: text of a client or a device must not control it. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const run = promisify(execFile);
const steering = /[^\P{Cc}\n]|[\p{Zl}\p{Zp}]|(?![\u200c\u200d])\p{Cf}/u;
const hostile = 'K9\u001b[2J\u009b31m\r\u0085\u007f\u202egnp\u2066\u200b\ufeff\u2028\u{e0041}\n12:00:00 stopped';

it.each([true, false])('control sequences are escaped in the log (json: %s)', async json => {
  const module = JSON.stringify(join(import.meta.dirname, '../../daemon/base/logger.ts'));
  const program = `import(${module}).then(({ createLogger }) =>
    createLogger({ json: ${json}, verbose: false }).info({ model: process.argv[1], err: new Error(process.argv[1]) }, process.argv[1]))`;
  const { stdout, stderr } = await run(process.execPath, ['--input-type=module', '-e', program, hostile]);
  const written = json ? stdout : stderr;
  expect(written).toContain('31m');
  expect(written).not.toMatch(steering);
  // The texts add no line of their own: those of an error are indented.
  expect(written).not.toMatch(/^12:00:00 stopped/m);
  if (json) expect(JSON.parse(stdout)).toMatchObject({ model: hostile, msg: hostile, err: { message: hostile } });
});
