import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, natives } from '../build.mjs';
import { licenceOf } from '../lib/licences.mjs';
import { modules, root } from '../lib/project.mjs';
import { put } from './tree.mjs';

/** Writes who holds the rights in what is in the program, and under which licence: the project, Node, every package. */
export async function writeCopyright(tree) {
  await build();
  const built = JSON.parse(readFileSync(join(root, 'dist', '.packages.json'), 'utf8')).map(path => join(root, path));
  const parts = [...new Set([...built, ...natives.map(name => join(modules, name))])].map(licenceOf);
  const node = join(modules, 'node', 'node_modules', `node-linux-${process.arch}`);
  const text = [
    'devmgr\n\n',
    readFileSync(join(root, 'LICENSE'), 'utf8'),
    heading('Packages from npm that the program is built of'),
    ...parts.map(({ name, version, licence, text }) => `${name} ${version} (${licence})\n\n${indent(text)}\n`),
    heading('Node.js, with the libraries that it carries'),
    readFileSync(join(node, 'LICENSE'), 'utf8'),
  ].join('');
  put(tree, 'usr/share/doc/devmgr/copyright', Buffer.from(withoutCommonLicences(text)));
}

/** Debian keeps one copy of the text of the Apache licence for all packages. */
function withoutCommonLicences(text) {
  return text.replace(
    /^[ \t]*Apache License\n[ \t]*Version 2\.0, January 2004\n[\s\S]*?END OF TERMS AND CONDITIONS$/gm,
    '  The text of the Apache License 2.0 is in /usr/share/common-licenses/Apache-2.0.',
  );
}

function heading(text) {
  return `\n${'='.repeat(78)}\n${text}\n${'='.repeat(78)}\n\n`;
}

function indent(text) {
  return text
    .trim()
    .replace(/^(?=.)/gm, '  ')
    .concat('\n');
}
