/**
 * The whole cluster runs in namespaces of its own for network, processes and mounts. When the runner ends, however it ends, the kernel
 * ends every process in them and removes the networks.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';

const FOLDER = 'DEVMGR_CLUSTER_FOLDER';

/** The temporary folder of the cluster if this process runs in the namespaces, else null. */
export const sandboxFolder = (): string | null => process.env[FOLDER] ?? null;

/** The shell is the first process: it takes the ends of processes whose parents have gone. */
const shell = 'mount -t tmpfs none /run/netns && "$@" & wait $!';

/** Runs this program again in new namespaces, then removes their folder. Resolves with the exit code. */
export async function runInSandbox(): Promise<number> {
  mkdirSync('/run/netns', { recursive: true });
  const folder = mkdtempSync(join(tmpdir(), 'devmgr-cluster-'));
  // The servers of the database run as another user.
  chmodSync(folder, 0o755);
  const flags = ['--net', '--pid', '--mount', '--fork', '--kill-child', '--mount-proc'];
  const inside = ['bash', '-c', shell, 'bash', process.execPath, ...process.argv.slice(1)];
  const child = spawn('setpriv', ['--pdeathsig=KILL', 'unshare', ...flags, ...inside], {
    stdio: 'inherit',
    env: { ...withoutSettings(), [FOLDER]: folder },
  });
  const ended = once(child, 'exit');
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill('SIGKILL'));
  try {
    const [code, signal] = (await ended) as [number | null, NodeJS.Signals | null];
    return code ?? 128 + constants.signals[signal!];
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

/** The environment without what explains how the programs here are to run. */
const withoutSettings = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(DEVMGR_|PG)/.test(name)));

/** Runs a program of the system; throws with its output. */
export function command(program: string, ...args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${error?.message ?? stderr}`);
  return stdout;
}
