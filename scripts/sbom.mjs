#!/usr/bin/env node
// `npm run sbom`: what the program is made of, as CycloneDX: the packages whose code was built into it, the native ones that
// are installed beside it, and what those want. Out of the lock file, for every platform. Each must have a license.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, natives } from './build.mjs';
import { namedLicense } from './lib/licenses.mjs';
import { fail, root, say } from './lib/project.mjs';

const windows = process.platform === 'win32';
const args = ['sbom', '--sbom-format=cyclonedx', '--sbom-type=application', '--package-lock-only'];
await build();
const document = everything();
const shipped = shippedParts(document);
document.components = document.components.filter(part => shipped.has(part['bom-ref']));
document.dependencies = document.dependencies
  .filter(({ ref }) => shipped.has(ref) || ref === document.metadata.component['bom-ref'])
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter(part => shipped.has(part)) }));
for (const part of document.components) {
  const id = part.licenses?.length ? undefined : namedLicense(part);
  if (id) part.licenses = [{ license: { id } }];
}
const nameless = document.components.filter(part => !part.licenses?.length).map(part => part.name);
if (nameless.length > 0) fail(`without a license: ${nameless.join(', ')}`, 'Look the license up before shipping them.');
const file = process.argv[2] ?? join(root, 'dist', 'devmgr.cdx.json');
writeFileSync(file, `${JSON.stringify(document, null, 2)}\n`);
say(`${document.components.length} parts written to ${file}`);

/** All of the lock file, tools of the tests included. */
function everything() {
  const options = { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024, shell: windows };
  const { status, stdout, stderr, error } = spawnSync(windows ? 'npm.cmd' : 'npm', args, options);
  if (error || status !== 0) {
    fail(`npm could not list the parts: ${error?.message ?? stderr.trim()}`, 'npm 9.5 or newer is needed.');
  }
  return JSON.parse(stdout);
}

/** References of what the build took in, and of the native packages with everything they depend on. */
function shippedParts({ dependencies }) {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const reference = path => `${path.split('node_modules/').pop()}@${packages[path].version}`;
  const built = JSON.parse(readFileSync(join(root, 'dist', '.packages.json'), 'utf8'));
  const wants = new Map(dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]));
  const waiting = natives.map(name => reference(`node_modules/${name}`));
  const shipped = new Set(built.map(reference));
  for (let part = waiting.pop(); part; part = waiting.pop()) {
    if (shipped.has(part)) continue;
    shipped.add(part);
    waiting.push(...(wants.get(part) ?? []));
  }
  return shipped;
}
