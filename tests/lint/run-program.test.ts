import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';

const project = pathToFileURL(join(import.meta.dirname, '..', '..', 'scripts', 'lib', 'project.mjs')).href;

it('ends the program that it runs when its process exits', async () => {
  const code = `
    const { run } = await import(process.argv[1]);
    const waits = "console.log('runs'); setInterval(() => {}, 1000)";
    run(process.execPath, ['-e', waits], { onOutput: text => { process.stdout.write(text); process.exit(3); } });
    run(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: ['ignore', 'inherit', 'inherit'] });`;
  const script = spawn(process.execPath, ['--input-type=module', '-e', code, project], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(script, 'exit');
  // The output ends when the last program that has it ends.
  expect(await text(script.stdout)).toBe('runs\n');
  expect(await ended).toEqual([3, null]);
});
