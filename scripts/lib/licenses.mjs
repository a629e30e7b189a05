import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fail } from './project.mjs';

/** SPDX ids of licenses that package.json does not name, from the files LICENSE of the packages. */
const unnamed = { 'dejavu-fonts-ttf': 'Bitstream-Vera', 'png-js': 'MIT' };

/** Notices of code that a package contains from others, by the package. */
const nested = { undici: ['lib/milo/LICENSE.md'] };

/** The license of a package by the content of its package.json. */
export const namedLicense = ({ name, license }) => unnamed[name] ?? license;

/** The name, version and license of a package, with the notice that must be distributed with its code. */
export function licenseOf(folder) {
  const about = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const { name, version, author } = about;
  const license = namedLicense(about);
  if (!license) fail(`${name} names no license.`, 'Look the license up before shipping it.');
  const own = readdirSync(folder).filter(entry => /^(licen[cs]e|copying|notice)/i.test(entry));
  const files = [...own, ...(nested[name] ?? [])];
  const holder = typeof author === 'string' ? author : (author?.name ?? `the authors of ${name}`);
  const texts = files.map(file => readFileSync(join(folder, file), 'utf8').replaceAll('\r\n', '\n').trim());
  return { name, version, license: license, text: texts.length ? texts.join('\n\n') : `Copyright ${holder}` };
}

const notice = name => readFileSync(join(import.meta.dirname, 'notices', `${name}.txt`), 'utf8').trim();

/** Parts of the program that are copied into its sources, and do not come as a package. */
export const copiedParts = [
  // The list in assets/common-passwords.txt.
  { name: 'zxcvbn', version: '4.4.2', license: 'MIT', text: notice('zxcvbn') },
];

/** One text for all of them and the copied parts, by name. */
export function noticesOf(folders) {
  return [...folders.map(licenseOf), ...copiedParts]
    .sort((a, b) => a.name.localeCompare(b.name))
    .map(({ name, version, license, text }) => `${name} ${version} (${license})\n\n${text}\n`)
    .join(`\n${'-'.repeat(78)}\n\n`);
}
