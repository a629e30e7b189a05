#!/usr/bin/env node
/** Joins the command line and the daemon; nothing else imports both. */
import { writeFileSync } from 'node:fs';
import { removalCommand, runRemoval } from '../src/cli/commands/session/open/removal.ts';
import { exitCodes } from '../src/cli/exit-codes.ts';
import { checkNode } from '../src/cli/framework/version.ts';
import { run } from '../src/cli/main.ts';
import { keychainCommand, runKeychainAccess } from '../src/cli/settings/keychain.ts';
import { processIo } from '../src/cli/terminal/io.ts';
import type { Programs } from '../src/contract/programs.ts';

let isDaemonLoaded = false;
const daemon = () => {
  checkNode(process.versions.node);
  isDaemonLoaded = true;
  return import('../daemon/maintenance/programs.ts');
};

const programs: Programs = {
  run: async (options, io) => (await daemon()).run(options, io),
  copy: async (options, io) => (await daemon()).copy(options, io),
  init: async (options, io) => (await daemon()).init(options, io),
  backup: async (options, io) => (await daemon()).backup(options, io),
  restore: async (options, io) => (await daemon()).restore(options, io),
  check: async (options, io) => (await daemon()).check(options, io),
  audit: async (options, io) => (await daemon()).audit(options, io),
  rotateKey: async (options, io) => (await daemon()).rotateKey(options, io),
  resetPassword: async (options, io) => (await daemon()).resetPassword(options, io),
};

keepMemoryOutOfCoreDumps();
// Its reports of crashes and signals, for those who turn them on with NODE_OPTIONS, can be read by every user: no tokens and passwords.
process.report.excludeEnv = true;
// Without a listener, Node opens its debugger on a port of this machine, to which each of its users can connect.
process.on('SIGUSR1', () => undefined);
// A smart card that does not answer blocks a thread of the pool; files and password hashes need others.
process.env.UV_THREADPOOL_SIZE ??= '16';
const argv = process.argv.slice(2);
const io = processIo();
// Nothing is left that could end the command, such as a prompt whose terminal is gone: Node would exit with 0.
const endWithoutResult = () => {
  io.say('devmgr: the command ended without a result\n');
  process.exit(exitCodes.failure);
};
process.once('beforeExit', endWithoutResult);
/** The processes that the program starts itself as. */
const inner = { [keychainCommand]: runKeychainAccess, [removalCommand]: runRemoval }[argv[0] ?? ''];
void (inner ? inner(argv.slice(1)) : run(argv, io, process.env, programs)).then(finish);

/** Milliseconds for a finished command to close what it has opened. */
const closingMs = 100;

/**
 * Ends the process. `process.exit` can wait forever: it joins the threads of V8, and one that compiles may wait for a garbage
 * collection that only this thread can run. So a command ends when nothing is left to do; idle connections do not keep it. The
 * daemon and the keychain have native threads that only `process.exit` ends.
 */
function finish(code: number): void {
  process.off('beforeExit', endWithoutResult);
  if (isDaemonLoaded || inner) process.exit(code);
  process.exitCode = code;
  process.on('uncaughtException', () => process.exit(code));
  setTimeout(() => process.exit(code), closingMs).unref();
}

/**
 * Leaves all memory of this process out of core dumps: PINs, passwords and tokens are in it, and no text of JavaScript can be
 * overwritten. It also holds for programs that this one starts, and for `gcore`. Only Linux can do that for a process alone.
 * Source: core(5), Controlling which mappings are written to the core dump.
 */
function keepMemoryOutOfCoreDumps(): void {
  if (process.platform !== 'linux') return;
  try {
    writeFileSync('/proc/self/coredump_filter', '0');
  } catch {
    // A kernel without core dumps has no such file.
  }
}
