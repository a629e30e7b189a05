import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sourcesIn } from './pages.ts';

const root = join(import.meta.dirname, '../..');
const sources = ['src', 'daemon', 'drivers', 'scripts']
  .flatMap(folder => sourcesIn(join(root, folder)))
  .map(file => readFileSync(file, 'utf8').replaceAll("\\'", "'"));

/** The words of the program in the first column of a page's tables, in the pieces between what differs. */
function messagesOf(page: string): { message: string; pieces: string[] }[] {
  const text = readFileSync(join(root, 'docs', page), 'utf8');
  return [...text.matchAll(/^\| `([^`]+)` \|/gm)]
    .map(([, message]) => message!)
    .filter(message => message.includes(' '))
    .map(message => ({ message, pieces: message.split('…').map(piece => piece.trim()) }));
}

/** Not words of this program: those of Node about a certificate. */
const ofNode = /Hostname\/IP does not match|self-signed certificate|ECONNRESET|0\.0\.0\.0/;

describe.each(['troubleshooting.md', 'https.md'])('%s', page => {
  const messages = messagesOf(page);

  it('has messages', () => {
    expect(messages.length).toBeGreaterThan(2);
  });

  it.each(messages.filter(({ message }) => !ofNode.test(message)))('the program prints: $message', ({ pieces }) => {
    const unsaid = pieces.filter(piece => piece.length > 3 && !sources.some(source => source.includes(piece)));
    expect(unsaid).toEqual([]);
  });
});
