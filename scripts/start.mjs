#!/usr/bin/env node
// `npm start`: from a fresh clone to an enrolled key. What follows `--` goes to `devmgr quickstart`.
import { bundle, node, run, say } from './lib/project.mjs';
import { setup } from './setup.mjs';

setup({ checks: false });
let code = await run(node, ['scripts/build.mjs']);
if (code === 0) {
  code = await run(node, [bundle, 'quickstart', ...process.argv.slice(2)]);
  if (code === 0) say('in this folder, type ./devmgr instead of devmgr');
}
process.exit(code);
