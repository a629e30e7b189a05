import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { wrapAnsi } from 'fast-wrap-ansi';
import { licensesOfAll } from '../lib/licenses-of-all.mjs';
import { root } from '../lib/project.mjs';
import { packed, put } from './tree.mjs';

const packaging = join(root, 'packaging', 'debian');

/** Writes the control files of the package: DEBIAN/control, conffiles, md5sums and the scripts of its maintainer. */
export function writeControl(tree, { version, architecture, maintainer }) {
  const files = filesOf(tree);
  const control = join(tree, 'DEBIAN');
  mkdirSync(control, { mode: 0o755 });
  const write = (name, text, mode = 0o644) => {
    writeFileSync(join(control, name), text);
    chmodSync(join(control, name), mode);
  };
  // Kibibytes, each file and folder rounded up, as Debian's policy counts them.
  const size = files.reduce((sum, file) => sum + Math.ceil(statSync(join(tree, file)).size / 1024), 0);
  const values = { version, architecture, maintainer, size: String(size) };
  const template = readFileSync(join(packaging, 'control'), 'utf8');
  write(
    'control',
    template.replace(/\$\{(\w+)\}/g, (_, name) => values[name]),
  );
  const conffiles = files.filter(file => file.startsWith('etc/'));
  write('conffiles', conffiles.map(file => `/${file}\n`).join(''));
  const sums = files.filter(file => !conffiles.includes(file)).map(file => `${md5(join(tree, file))}  ${file}\n`);
  write('md5sums', sums.join(''));
  for (const script of ['postinst', 'prerm', 'postrm'])
    write(script, readFileSync(join(packaging, script), 'utf8'), 0o755);
}

/** Paths of the files in a folder and below, sorted, relative to it. */
function filesOf(tree) {
  return readdirSync(tree, { recursive: true, encoding: 'utf8' })
    .filter(path => statSync(join(tree, path)).isFile())
    .sort();
}

function md5(file) {
  return createHash('md5').update(readFileSync(file)).digest('hex');
}

/** Writes who holds the rights in what is in the program, and under which license: the project, Node, every package. */
export async function writeCopyright(tree) {
  put(tree, 'usr/share/doc/devmgr/copyright', Buffer.from(withoutCommonLicenses(await licensesOfAll())));
}

/** Debian keeps one copy of the text of the Apache license for all packages. Some packages put empty lines into its title. */
export function withoutCommonLicenses(text) {
  return text.replace(
    /^[ \t]*Apache License\s+Version 2\.0, January 2004\n[\s\S]*?END OF TERMS AND CONDITIONS$/gm,
    '  The text of the Apache License 2.0 is in /usr/share/common-licenses/Apache-2.0.',
  );
}

/** A version as Debian orders it: 1.0.0-rc.1 is 1.0.0~rc.1, before 1.0.0. */
export function debianVersion(version) {
  return version.replace('-', '~');
}

/** Writes the part of CHANGELOG.md about the version in Debian's form; a version without one has what is not released yet. */
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
  const items = changes.map(change => `  * ${wrapAnsi(change, 72).replaceAll('\n', '\n    ')}\n`).join('');
  const text = `devmgr (${version}) unstable; urgency=medium\n\n${items}\n -- ${maintainer}  ${date}\n`;
  put(tree, 'usr/share/doc/devmgr/changelog.gz', packed(text));
}
