import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { screenAsSvg } from '../../scripts/docs/svg.ts';

const root = join(import.meta.dirname, '../..');
const svg = readFileSync(join(root, 'docs/images/enroll.svg'), 'utf8');
const report = readFileSync(join(root, 'src/cli/commands/enrollment/enroll/report.ts'), 'utf8');

describe('the picture of an enrollment; `npm run docs:pictures` makes it again', () => {
  it.each(['Plug in a key', '(Ctrl-C ends)', '✓ registered', 'activation code', '✗ failed', 'again: it is'])(
    'shows words of the program: %s',
    words => {
      expect(svg).toContain(words);
      expect(report).toContain(words);
    },
  );
});

describe('a screen as a picture', () => {
  it('keeps place, weight and color, and what XML would take for its own', () => {
    const picture = screenAsSvg('  \x1b[1;32m✓ a<b\x1b[0m  c\n', 'words');
    expect(picture).toMatch(/<text x="30\.8" [^>]*font-weight="bold" fill="#7ee787">✓ a&lt;b<\/text>/);
    expect(picture).toContain('<text x="89.6"');
    expect(picture).toContain('<title>words</title>');
  });

  it('keeps a style beyond the end of a line', () => {
    expect(screenAsSvg('\x1b[32ma\nb', '').match(/fill="#7ee787"/g)).toHaveLength(2);
  });

  it('has nothing for what is empty', () => {
    expect(screenAsSvg('a\n\n   \nb', '').match(/<text /g)).toHaveLength(2);
  });
});
