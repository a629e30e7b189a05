#!/usr/bin/env node
/** Joins the command line and the daemon; nothing else imports both. */
import { exitCodes } from '../src/cli/exit-codes.ts';
import { run } from '../src/cli/main.ts';
import { keychainCommand, runKeychainStep } from '../src/cli/settings/keychain.ts';
import { processIo } from '../src/cli/terminal/io.ts';
import { checkNode } from '../src/cli/version.ts';
import type { Programs } from '../src/contract/programs.ts';

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

// A smart card that does not answer blocks a thread of the pool; files and password hashes need others.
process.env.UV_THREADPOOL_SIZE ??= '16';
const argv = process.argv.slice(2);
// Reached only if a command waits for something that can no longer happen: without a result the exit code is not 0.
process.once('beforeExit', () => {
  process.stderr.write('devmgr: the command ended without a result\n');
  process.exit(1);
});
const io = processIo();
const ending = argv[0] === keychainCommand ? runKeychainStep(argv.slice(1)) : run(argv, io, process.env, programs);
// Idle connections and the helper of a keychain must not keep a finished command alive.
void ending.then(code => process.exit(code));
// Nothing is left that could end the command, such as a prompt whose terminal is gone: Node would exit with 0.
process.once('beforeExit', () => {
  io.say('devmgr: the command ended without a result\n');
  process.exit(exitCodes.failure);
});
