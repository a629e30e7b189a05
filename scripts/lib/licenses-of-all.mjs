import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, natives } from '../build.mjs';
import { fileOf } from '../executable/fetch.mjs';
import { ownPlatform, partsOf } from '../executable/targets.mjs';
import { copiedParts, licenseOf } from './licenses.mjs';
import { modules, root } from './project.mjs';

/** Who holds the rights in what is in one file with Node and all its parts, and under which license; builds the program. */
export async function licensesOfAll() {
  await build();
  const built = JSON.parse(readFileSync(join(root, 'dist', '.packages.json'), 'utf8')).map(path => join(root, path));
  const included = natives.filter(name => name !== 'pcsc-mini');
  const parts = [...new Set([...built, ...included.map(name => join(modules, name))])]
    .map(licenseOf)
    .concat(copiedParts);
  const [node] = partsOf(ownPlatform).node;
  const ofNode = await fileOf([node, 'LICENSE']);
  return [
    'devmgr\n\n',
    readFileSync(join(root, 'LICENSE'), 'utf8'),
    heading('Packages from npm that the program is built of'),
    ...parts.map(({ name, version, license, text }) => `${name} ${version} (${license})\n\n${indent(text)}\n`),
    heading('Node.js, with the libraries that it carries'),
    readFileSync(ofNode, 'utf8'),
  ].join('');
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
