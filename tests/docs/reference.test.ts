import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { referencePages } from '../../scripts/docs/reference.ts';
import { variables } from '../../src/cli/framework/environment.ts';
import { environment } from '../../src/contract/local.ts';
import { settingVariables } from '../../src/contract/setting-words.ts';
import { sourcesIn } from './pages.ts';

const root = join(import.meta.dirname, '../..');
const pages = await referencePages();

describe.each([...pages])('$file', ({ file, text }) => {
  it('is up to date; `npm run docs` generates it', () => {
    expect(existsSync(join(root, file)) && readFileSync(join(root, file), 'utf8')).toBe(text);
  });
});

describe('the page of the environment', () => {
  const named = variables.map(({ name }) => name);

  it('names every variable that the two sides share', () => {
    const shared = [...Object.values<string>(environment), ...settingVariables().map(({ name }) => name)];
    expect(shared).toContain('DEVMGR_FILES_DAILY');
    expect(shared.filter(name => !named.includes(name))).toEqual([]);
  });

  it('names every variable that the sources read', () => {
    // Where a system keeps things, and what the program sets for itself.
    const others = ['LOCALAPPDATA', 'USERDOMAIN', 'USERNAME', 'TERM', 'UV_THREADPOOL_SIZE', 'DBUS_SESSION_BUS_ADDRESS'];
    const read = ['src', 'daemon', 'drivers', 'bin'].flatMap(folder =>
      sourcesIn(join(root, folder)).flatMap(file =>
        [...readFileSync(file, 'utf8').matchAll(/\benv\.([A-Z][A-Z_]+)/g)].map(([, name]) => name!),
      ),
    );
    expect(read).toContain('NO_COLOR');
    expect([...new Set(read)].filter(name => !named.includes(name) && !others.includes(name))).toEqual([]);
  });
});
