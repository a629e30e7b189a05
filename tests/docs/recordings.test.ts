import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { lasting, recorded } from '../../scripts/docs/recordings.ts';
import { defaultHost, defaultPort } from '../../src/contract/local.ts';
import { needs } from '../support/needs.ts';
import { pagesOf } from './pages.ts';

const root = join(import.meta.dirname, '../..');
const texts = pagesOf(root).map(page => ({ page, text: readFileSync(join(root, page), 'utf8') }));
const recordings = texts.filter(({ text }) => text.includes('```console recorded\n'));

it('there are recordings', () => {
  expect(recordings.map(({ page }) => page)).toContain('docs/first-key.md');
});

needs(['script', 'jq'], 'bsdutils jq')('a recorded session', () => {
  it.for(recordings)(
    'of $page shows what the program shows; `npm run docs` makes it so',
    async ({ text }, { skip }) => {
      const now = (await recorded(text, join(root, 'dist/devmgr.cjs')))!;
      if (/^✓ registered (?!.*\(simulated\))/m.test(now))
        skip('a key is plugged into this machine: it is enrolled instead');
      expect(lasting(now)).toBe(lasting(text));
    },
  );
});

needs('script', 'bsdutils')('a recording', () => {
  it('does not depend on whether the usual port is in use', async () => {
    // Another program may have it already.
    const holder = createServer().listen(defaultPort, defaultHost);
    await Promise.race([once(holder, 'listening'), once(holder, 'error')]).catch(() => undefined);
    try {
      const page = ['```console recorded', '$ devmgr quickstart', '```'];
      const text = await recorded(page.join('\n'), join(root, 'dist/devmgr.cjs'));
      expect(text).toContain(`Started the daemon at http://${defaultHost}:${defaultPort} `);
      expect(text).not.toContain('in use');
    } finally {
      holder.close();
    }
  });
});

describe('what of two runs is held against each other', () => {
  it.each([
    ['an activation code', 'code 7KQM-2XWD-H9TB-C4RE', 'code ZKZ3-95C6-ZMY2-V446'],
    ['a time', 'at 2026-11-20T22:38:13.040Z', 'at 2027-01-02T03:04:05.678Z'],
    ['a process', '(pid 4711)', '(pid 12)'],
    ['a rate', '212 keys per hour', '1,360 keys per hour'],
  ])('is not %s', (_, one, other) => {
    expect(lasting(one)).toBe(lasting(other));
  });

  it('is everything else', () => {
    expect(lasting('DEV-1 is ACTIVE')).not.toBe(lasting('DEV-1 is LOCKED'));
  });
});
