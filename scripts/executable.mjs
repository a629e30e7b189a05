#!/usr/bin/env node
// `npm run build:bin`: one file with Node, the program, its native modules and the files of Swagger UI in it, by Node's own
// single-executable build. The result is dist/bin/devmgr-PLATFORM. For the platform it runs on, or with
// `npm run build:bin -- --platform PLATFORM` for another one, whose parts npm has.
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { settingsOf } from './executable/settings.mjs';
import { ownPlatform, platforms } from './executable/targets.mjs';
import { fail, node, root, run, say } from './lib/project.mjs';

const { platform } = parseArgs({ options: { platform: { type: 'string', default: ownPlatform } } }).values;
if (!platforms.includes(platform))
  fail(`there is no executable for ${platform}.`, `Platforms whose parts npm has: ${platforms.join(', ')}.`);
const folder = join(root, 'dist', 'bin');
const name = `devmgr-${platform}${platform.startsWith('win-') ? '.exe' : ''}`;
const output = join(folder, name);

mkdirSync(folder, { recursive: true });
// Two long checks may build at the same time, while a third one runs the executable.
const working = mkdtempSync(join(folder, 'building-'));
const settings = await settingsOf(platform, working);
const config = join(working, 'sea.json');
const made = join(working, name);
writeFileSync(config, JSON.stringify({ ...settings, output: made }));
const code = await run(node, ['--build-sea', config]);
if (code !== 0) fail(`Node's single-executable build ended with ${code}.`, 'Its own words stand above.');
const digest = createHash('sha256').update(readFileSync(made)).digest('hex');
renameSync(made, output);
rmSync(working, { recursive: true });
writeFileSync(`${output}.sha256`, `${digest}  ${name}\n`);
if (platform.startsWith('darwin-')) say('to be signed on a Mac before it runs: codesign --sign - FILE');
say(`built ${output} (${Math.round(statSync(output).size / 1e6)} MB)`);
