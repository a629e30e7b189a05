/** Every copy of the program contains the notices of all code in it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { build } from '../../scripts/build.mjs';
import { withoutCommonLicenses } from '../../scripts/deb/control.mjs';
import { namedLicense } from '../../scripts/lib/licenses.mjs';

const root = join(import.meta.dirname, '../..');
const read = (...path: string[]) => readFileSync(join(root, ...path), 'utf8');

/** Named in daemon/accounts/password-rules.ts. */
const copied = ['zxcvbn 4.4.2'];

let packages: string[];
let notices: string;
beforeAll(async () => {
  await build();
  packages = JSON.parse(read('dist', '.packages.json'));
  notices = read('dist', 'licenses.txt');
});

it('every package that is built into the program is listed with its version, its license and its text', () => {
  expect(packages.length).toBeGreaterThan(20);
  const parts = notices.split(`\n${'-'.repeat(78)}\n\n`);
  expect(parts).toHaveLength(packages.length + copied.length);
  for (const path of packages) {
    const about = JSON.parse(read(path, 'package.json'));
    const { name, version } = about;
    const part = parts.find(text => text.startsWith(`${name} ${version} (${namedLicense(about)})\n\n`));
    expect([name, part !== undefined && /copyright|permission|licen[cs]e/i.test(part.slice(name.length))]).toEqual([
      name,
      true,
    ]);
  }
});

it('a package whose parser is that of others has their notice as well', () =>
  expect(notices).toMatch(/undici [^-]*MIT License[^-]*ISC License[^-]*NearForm/));

it.each(['@fastify/ajv-compiler', '@fastify/fast-json-stringify-compiler', 'light-my-request'])(
  '%s, which Fastify loads for what the daemon does not use, is left out',
  name => {
    expect(packages).toContain('node_modules/fastify');
    expect(packages).not.toContain(`node_modules/${name}`);
  },
);

it('what was copied into the sources is listed as well', () => {
  const [part] = notices.split(`${copied[0]} (MIT)\n\n`)[1]!.split('-'.repeat(78));
  expect(part).toMatch(/^Copyright \(c\) 2012-2016 Dan Wheeler and Dropbox, Inc\./);
  expect(part).toContain('Permission is hereby granted');
  expect(part).toContain('THE SOFTWARE IS PROVIDED "AS IS"');
});

it('each of their licenses is one that docs/dependencies.md explains', () => {
  const explained = read('docs', 'dependencies.md').match(/## What the licenses require[\s\S]*?(?=\n## )/)![0];
  const licenses = new Set(packages.map(path => namedLicense(JSON.parse(read(path, 'package.json')))));
  for (const license of licenses) expect(explained).toContain(license);
});

it('the npm package carries them', () => {
  expect(JSON.parse(read('package.json')).files).toContain('dist/licenses.txt');
});

it('the Debian package refers to the common text of the Apache license, also where its title has empty lines', () => {
  const end = '\n   1. Definitions.\n\n   END OF TERMS AND CONDITIONS\n\n   APPENDIX\n';
  for (const gap of ['\n', '\n\n', ' \n  \n']) {
    const text = `a 1.0.0 (Apache-2.0)\n\n   Apache License${gap}   Version 2.0, January 2004\n${end}`;
    const common = '  The text of the Apache License 2.0 is in /usr/share/common-licenses/Apache-2.0.';
    expect(withoutCommonLicenses(text)).toBe(`a 1.0.0 (Apache-2.0)\n\n${common}\n\n   APPENDIX\n`);
  }
});

it('the copyright file of the Debian package repeats no Apache license', () => {
  expect(withoutCommonLicenses(notices)).not.toContain('TERMS AND CONDITIONS FOR USE, REPRODUCTION, AND DISTRIBUTION');
});
