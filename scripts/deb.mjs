#!/usr/bin/env node
// `npm run build:deb`: dist/devmgr_VERSION_ARCHITECTURE.deb, with the executable of `npm run build:bin` in it. Debian and its
// descendants have what it calls: dpkg-deb. The same inputs make the same bytes.
//   --version V   another version than that of package.json, for trying an upgrade
//   --into DIR    another folder than dist
//   --fast        compresses in seconds rather than a minute; the package is larger
//   --platform P  for linux-x64 or linux-arm64, instead of that of this machine; `npm run build:bin -- --platform P` comes first
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { debianVersion, writeChangelog, writeControl, writeCopyright } from './deb/control.mjs';
import { layOut } from './deb/tree.mjs';
import { ownPlatform } from './executable/targets.mjs';
import { bundle, fail, node, root, say } from './lib/project.mjs';

const options = process.argv.slice(2);
const optionOf = name => (options.includes(name) ? options[options.indexOf(name) + 1] : undefined);
const platform = optionOf('--platform') ?? ownPlatform;
const architecture = { 'linux-x64': 'amd64', 'linux-arm64': 'arm64' }[platform];
const executable = join(root, 'dist', 'bin', `devmgr-${platform}`);
if (!architecture)
  fail(`there is no Debian package for ${platform}.`, 'Packages are built for linux-x64 and linux-arm64.');
if (spawnSync('dpkg-deb', ['--version']).error) fail('dpkg-deb is missing.', 'apt-get install dpkg');
if (!existsSync(executable)) fail(`${executable} is not there.`, `npm run build:bin -- --platform ${platform}`);

const fast = options.includes('--fast');
const version = debianVersion(
  optionOf('--version') ?? JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version,
);
const folder = resolve(optionOf('--into') ?? join(root, 'dist'));
// Files have the time of the last commit, so that two builds of one state are the same.
const git = spawnSync('git', ['log', '-1', '--format=%ct'], { cwd: root, encoding: 'utf8' });
const epoch = process.env.SOURCE_DATE_EPOCH ?? (git.stdout?.trim() || String(Math.floor(Date.now() / 1000)));
const maintainer = `${process.env.DEBFULLNAME ?? 'devmgr contributors'} <${process.env.DEBEMAIL ?? 'maintainers@devmgr.example'}>`;

mkdirSync(folder, { recursive: true });
const tree = mkdtempSync(join(folder, 'tree-'));
const output = join(folder, `devmgr_${version}_${architecture}.deb`);
// An executable of another machine does not run here: the program of the build writes the same pages.
layOut(tree, executable, platform === ownPlatform ? [executable] : [node, bundle]);
writeChangelog(tree, { version, maintainer, epoch });
await writeCopyright(tree);
writeControl(tree, { version, architecture, maintainer });
const compression = fast ? ['-Zgzip', '-z1'] : ['-Zxz', '-z6'];
execFileSync('dpkg-deb', ['--root-owner-group', ...compression, '--build', tree, output], {
  env: { ...process.env, SOURCE_DATE_EPOCH: epoch },
  stdio: ['ignore', 'ignore', 'inherit'],
});
rmSync(tree, { recursive: true });
say(`built ${output} (${Math.round(statSync(output).size / 1e6)} MB)`);
