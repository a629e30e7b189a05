import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../lib/project.mjs';

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
