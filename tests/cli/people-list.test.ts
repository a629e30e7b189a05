/** Lists of persons on the command line: all pages, and those who have no ACTIVE key or one. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Daemon, discard, startDaemon } from './program.ts';

let daemon: Daemon;
beforeAll(async () => {
  daemon = await startDaemon();
});
afterAll(() => discard(daemon));

const run = (...words: string[]) => daemon.run(words);
let made = 0;
/** Binds a new key to a user name. */
const bind = async (userId: string): Promise<void> => {
  const device = { deviceType: 'UKEY', serialNumber: `LISTED-${++made}`, manufacturer: 'Feitian', model: 'K9' };
  const { deviceId, activationCode } = await daemon.call('POST', '/api/devices/register', device);
  await daemon.call('POST', '/api/devices/activate', { deviceId, activationCode, userId });
};

test('lists persons by the number of their ACTIVE keys, with all pages', async () => {
  const people = Array.from({ length: 205 }, (_, n) => ({ userName: `paged.${n}`, name: 'Paged Person' }));
  await daemon.call('POST', '/api/people/import', { people });
  const list = async (...flags: string[]) => {
    const { stdout, stderr, code } = await run('people', 'list', '--keyword', 'paged', '--limit', '100', ...flags);
    return { stderr, code, names: stdout.split('\n').filter(Boolean) };
  };
  for (const user of ['paged.3', 'paged.4', 'paged.4']) await bind(user);
  await run('people', 'leave', 'paged.5', '--reason', 'has left', '--yes');
  const csv = ['--csv', '--fields', 'userName'];
  const without = await list('--without-key', '--all', ...csv);
  expect(without.names).toHaveLength(1 + 202);
  expect(new Set(without.names).size).toBe(1 + 202);
  expect(without.names[0]).toBe('userName');
  expect(without.names).not.toContain('paged.5');
  expect((await list('--without-key', '--left', ...csv)).names).toEqual(['userName', 'paged.5']);
  expect((await list('--with-one-key', '--all', ...csv)).names).toEqual(['userName', 'paged.3']);
  expect((await list('--all', '--json')).names.map(line => JSON.parse(line).userName)).toHaveLength(205);
  expect((await list('--all')).names).toHaveLength(1 + 205);
  expect((await list('--all', '--group', 'none')).stderr).toContain('No person matches.');
  expect((await list()).names).toHaveLength(1 + 100);
  expect((await list('--all', '--page', '2')).code).toBe(2);
  expect((await list('--without-key', '--with-one-key')).code).toBe(2);
});
