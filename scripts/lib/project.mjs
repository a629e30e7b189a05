// Knowledge of the project that all scripts share: where things are, and how to speak. Built-ins of Node 18 alone.
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
export const modules = join(root, 'node_modules');
/** The Node that the package `node` brought; the scripts run everything after the setup with it. */
export const node = join(modules, 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
export const bundle = join(root, 'dist', 'devmgr.cjs');

/** A word on standard error: standard output belongs to the program that is started. */
export function say(text) {
  process.stderr.write(`devmgr: ${text}\n`);
}

/** Ends the process: what happened, and what to do next. */
export function fail(what, advice) {
  process.stderr.write(`devmgr: ${what}\n        ${advice}\n`);
  process.exit(1);
}

/**
 * Runs a program in the project's folder, or in `cwd`; resolves to its exit code (128 + n after signal n). It has this process's
 * streams, or `onOutput` receives what it writes. It ends with this process.
 */
export function run(command, args, { cwd = root, env = process.env, stdio = 'inherit', shell, onOutput } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env, shell, stdio: onOutput ? ['ignore', 'pipe', 'pipe'] : stdio });
    if (onOutput) for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', onOutput);
    const forward = signal => child.kill(signal);
    const signals = { SIGINT: 2, SIGTERM: 15, SIGHUP: 1 };
    // The terminal sends Ctrl-C to the child as well: wait for what it makes of it.
    process.on('SIGINT', ignore);
    process.on('SIGTERM', forward);
    process.on('SIGHUP', forward);
    const end = () => child.kill();
    process.once('exit', end);
    child.on('error', reject);
    // After `close` no output is missing.
    child.on('close', (code, signal) => {
      process.off('SIGINT', ignore);
      process.off('SIGTERM', forward);
      process.off('SIGHUP', forward);
      process.off('exit', end);
      resolve(code ?? 128 + (signals[signal] ?? 9));
    });
  });
}

function ignore() {}
