#!/usr/bin/env node
// `npm run build:bin`: one file with Node, the program, its native modules and the files of Swagger UI in it, by Node's own
// single-executable build. The result is dist/bin/devmgr-PLATFORM. For the platform it runs on, or with
// `npm run build:bin -- --platform PLATFORM` for another one, whose parts npm has.
import { createHash } from 'node:crypto';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { build, fontFile, swaggerFiles } from './build.mjs';
import { fileOf } from './executable/fetch.mjs';
import { scriptOf } from './executable/script.mjs';
import { ownPlatform, partsOf, platforms } from './executable/targets.mjs';
import { licensesOfAll } from './lib/licenses-of-all.mjs';
import { fail, modules, node, root, run, say } from './lib/project.mjs';

const { platform } = parseArgs({ options: { platform: { type: 'string', default: ownPlatform } } }).values;
if (!platforms.includes(platform))
  fail(`there is no executable for ${platform}.`, `Platforms whose parts npm has: ${platforms.join(', ')}.`);
const folder = join(root, 'dist', 'bin');
const name = `devmgr-${platform}${platform.startsWith('win-') ? '.exe' : ''}`;
const output = join(folder, name);
const require = createRequire(join(modules, 'x'));

/** Files that the program reads, beside those of the build. */
const packaged = [
  'assets/common-passwords.txt',
  'packaging/udev/70-devmgr.rules',
  'packaging/polkit/50-devmgr.rules',
  'packaging/systemd/devmgr-user.service',
];

const parts = partsOf(platform);
const natives = {};
/** Packages that the executable does without: of PC/SC it calls the library of the system. */
const absent = ['pcsc-mini'];
for (const [name, part] of Object.entries(parts.natives)) {
  const file = await fileOf(part);
  if (file !== null) natives[name] = file;
  else {
    absent.push(name === 'keyring' ? '@napi-rs/keyring' : name);
    say(`npm has no ${part[0]}: the executable will do without ${name}, and say so`);
  }
}
const runtime = platform === ownPlatform ? node : await fileOf(parts.node);
if (runtime === null) fail(`npm has no Node for ${platform}.`, 'There is no executable for this platform.');
mkdirSync(folder, { recursive: true });
// Two long checks may build at the same time, while a third one runs the executable.
const working = mkdtempSync(join(folder, 'building-'));
const main = join(working, `${platform}.cjs`);
// The executable carries the console of the build.
await build();
writeFileSync(main, await scriptOf(absent));
const licenses = join(working, 'licenses.txt');
writeFileSync(licenses, await licensesOfAll());
const swagger = dirname(require.resolve('swagger-ui-dist/package.json'));
const pages = readdirSync(join(root, 'dist/console'));
const assets = {
  'licenses.txt': licenses,
  [fontFile]: join(root, 'dist', fontFile),
  ...Object.fromEntries(Object.entries(natives).map(([name, file]) => [`native/${name}`, file])),
  ...Object.fromEntries(packaged.map(name => [name, join(root, name)])),
  ...Object.fromEntries(swaggerFiles.map(name => [`swagger-ui/${name}`, join(swagger, name)])),
  ...Object.fromEntries(pages.map(name => [`console/${name}`, join(root, 'dist/console', name)])),
};
const config = join(working, 'sea.json');
const made = join(working, name);
// Options of Node in the environment or on the command line are not the executable's.
const settings = {
  main,
  output: made,
  executable: runtime,
  disableExperimentalSEAWarning: true,
  // It belongs to one machine type: a foreign one would be refused at the start.
  useCodeCache: platform === ownPlatform,
  execArgvExtension: 'none',
  assets,
};
writeFileSync(config, JSON.stringify(settings));
const code = await run(node, ['--build-sea', config]);
if (code !== 0) fail(`Node's single-executable build ended with ${code}.`, 'Its own words stand above.');
const digest = createHash('sha256').update(readFileSync(made)).digest('hex');
renameSync(made, output);
rmSync(working, { recursive: true });
writeFileSync(`${output}.sha256`, `${digest}  ${name}\n`);
if (platform.startsWith('darwin-')) say('to be signed on a Mac before it runs: codesign --sign - FILE');
say(`built ${output} (${Math.round(statSync(output).size / 1e6)} MB)`);
