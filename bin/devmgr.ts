#!/usr/bin/env node
/** The one place where the command line and the daemon are joined. */
import { run } from '../src/cli/main.ts';
import { checkNode } from '../src/cli/node-version.ts';
import type { Programs } from '../src/cli/programs.ts';
import { keychainCommand, runKeychainStep } from '../src/cli/settings/keychain.ts';
import { processIo } from '../src/cli/terminal/io.ts';

const daemon = () => {
  checkNode(process.versions.node);
  return import('../daemon/programs.ts');
};

const programs: Programs = {
  run: async (options, io) => (await daemon()).run(options, io),
  backup: async (options, io) => (await daemon()).backup(options, io),
  restore: async (options, io) => (await daemon()).restore(options, io),
  check: async (options, io) => (await daemon()).check(options, io),
  audit: async (options, io) => (await daemon()).audit(options, io),
  rotateKey: async (options, io) => (await daemon()).rotateKey(options, io),
  resetPassword: async (options, io) => (await daemon()).resetPassword(options, io),
};

// A smart card that keeps silent holds a thread of the pool; without spare ones, files and passwords would wait for it.
process.env.UV_THREADPOOL_SIZE ??= '16';
const argv = process.argv.slice(2);
const ending =
  argv[0] === keychainCommand ? runKeychainStep(argv.slice(1)) : run(argv, processIo(), process.env, programs);
// Connections kept open for the next request, and a keychain's helper, must not keep a finished command alive.
void ending.then(code => process.exit(code));
