#!/usr/bin/env node
// `npm run sbom`: the parts of the program as a CycloneDX document, from the lock file alone (every platform's packages).
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fail, root, say } from './lib/project.mjs';

const file = process.argv[2] ?? join(root, 'dist', 'devmgr.cdx.json');
const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
const args = ['sbom', '--sbom-format=cyclonedx', '--sbom-type=application', '--omit=dev', '--package-lock-only'];
const { status, stdout, stderr, error } = spawnSync(npm, args, {
  cwd: root,
  encoding: 'utf8',
  maxBuffer: 64 * 1024 * 1024,
  shell: process.platform === 'win32',
});
if (error || status !== 0) {
  fail(`npm could not list the parts: ${error?.message ?? stderr.trim()}`, 'npm 9.5 or newer is needed.');
}
const document = JSON.parse(stdout);
const nameless = document.components.filter(part => !part.licenses?.length).map(part => part.name);
if (nameless.length > 0) fail(`without a licence: ${nameless.join(', ')}`, 'Look the licence up before shipping them.');
mkdirSync(dirname(file), { recursive: true });
writeFileSync(file, stdout);
say(`${document.components.length} parts written to ${file}`);
