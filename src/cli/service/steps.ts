/** Runs the programs that a system has for its services. */
import { spawnSync } from 'node:child_process';
import type { Step } from './service.ts';

const patienceMs = 60_000;

/** Null where it went well, else in words why not. */
export function runStep([program, ...args]: Step): string | null {
  const { status, signal, error, stdout, stderr } = spawnSync(program, args, {
    encoding: 'utf8',
    timeout: patienceMs,
    windowsHide: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  if (status === 0) return null;
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  if (code === 'ENOENT') return `there is no program ${program}`;
  const words = `${stderr || stdout || ''}`.trim().split('\n', 1)[0];
  return `${[program, ...args].join(' ')}: ${words || code || signal || `exit code ${status}`}`;
}

/** Runs them one after the other up to the first that fails; null where all went well. */
export function firstFailure(steps: readonly Step[]): string | null {
  for (const step of steps) {
    const failure = runStep(step);
    if (failure !== null) return failure;
  }
  return null;
}
