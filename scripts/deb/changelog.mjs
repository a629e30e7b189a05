import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../lib/project.mjs';
import { packed, put } from './tree.mjs';

/** A version as Debian orders it: 1.0.0-rc.1 is 1.0.0~rc.1, before 1.0.0. */
export function debianVersion(version) {
  return version.replace('-', '~');
}

/** Writes the part of CHANGELOG.md about the version in Debian's form; what is not released yet is said where nothing else is. */
export function writeChangelog(tree, { version, maintainer, epoch }) {
  const log = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
  const sections = new Map(log.split(/^## /m).map(text => [/^\[([^\]]+)\]/.exec(text)?.[1], text]));
  const section = sections.get(version.replace('~', '-')) ?? sections.get('Unreleased') ?? '';
  const changes = section
    .split(/^- /m)
    .slice(1)
    .map(item =>
      item
        .split(/\n(?! )/)[0]
        .replace(/\s+/g, ' ')
        .replaceAll('`', '')
        .replace(/\[([^\]]+)\]\([^)]*\)/g, '$1')
        .trim(),
    );
  const date = new Date(Number(epoch) * 1000).toUTCString().replace('GMT', '+0000');
  const items = changes.map(change => `  * ${wrap(change)}\n`).join('');
  const text = `devmgr (${version}) unstable; urgency=medium\n\n${items}\n -- ${maintainer}  ${date}\n`;
  put(tree, 'usr/share/doc/devmgr/changelog.gz', packed(text));
}

/** Lines of at most 76 characters, indented under their item. */
function wrap(text) {
  let length = 0;
  return text
    .split(' ')
    .map(word => {
      const breaks = length + word.length + 1 > 76 - 4;
      length = breaks ? word.length : length + word.length + 1;
      return `${breaks ? '\n    ' : ' '}${word}`;
    })
    .join('')
    .trim();
}
