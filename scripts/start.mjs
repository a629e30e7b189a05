#!/usr/bin/env node
// `npm start`: from a fresh clone to an enrolled key. What follows `--` goes to `devmgr quickstart`.
import { bundle, node, run } from './lib/project.mjs';
import { setup } from './setup.mjs';

setup();
const built = await run(node, ['scripts/build.mjs']);
process.exit(built === 0 ? await run(node, [bundle, 'quickstart', ...process.argv.slice(2)]) : built);
