/** Daemons that are started at the same time. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { cheapProgram, devmgr as run, temporaryFolder } from './program.ts';

const devmgr = (args: readonly string[], { home }: { readonly home: string }) =>
  run(args, { home, program: cheapProgram() });
const eight = [1, 2, 3, 4, 5, 6, 7, 8];

test('eight homes at once get a daemon each, though only one can use the default port', async () => {
  const base = temporaryFolder();
  const homes = eight.map(number => join(base, String(number)));
  const started = await Promise.all(homes.map(home => devmgr(['daemon', 'start', '--json'], { home })));
  await Promise.all(homes.map(home => devmgr(['daemon', 'stop'], { home })));
  expect(started.map(({ code, stderr }) => ({ code, stderr }))).toEqual(eight.map(() => ({ code: 0, stderr: '' })));
  expect(new Set(started.map(({ json }) => json.url)).size).toBe(8);
});

test('eight starts of one home lead to one daemon', async () => {
  const home = temporaryFolder();
  const started = await Promise.all(eight.map(() => devmgr(['daemon', 'start', '--json'], { home })));
  await devmgr(['daemon', 'stop'], { home });
  expect(started.map(({ code, stderr }) => ({ code, stderr }))).toEqual(eight.map(() => ({ code: 0, stderr: '' })));
  expect(new Set(started.map(({ json }) => json.pid)).size).toBe(1);
});
