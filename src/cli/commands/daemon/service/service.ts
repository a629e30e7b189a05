/** The daemon as a service of one user: the file that each system reads, and the programs that start and stop the service. */
import { spawnSync } from 'node:child_process';

/** Part of every file that is written here. A file without it belongs to someone else and is left alone. */
export const marker = 'Written by "devmgr daemon install"; "devmgr daemon uninstall" removes it.';

/** Parts of a service definition. */
export interface ServiceFacts {
  /** The program and its arguments, up to and including `daemon`. */
  readonly program: readonly string[];
  /** Further arguments of `daemon run` or `daemon start`. */
  readonly args: readonly string[];
  /** Home folder of the daemon. */
  readonly home: string;
  /** Home folder of the user. */
  readonly userHome: string;
  /** Only macOS uses it. */
  readonly userId: number;
  /** `DOMAIN\name`. Only Windows uses it. */
  readonly userName: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A program of the system and its arguments. */
type ServiceStep = readonly [program: string, ...args: string[]];

/** A service definition and the steps that apply it. */
export interface Service {
  /** Name of the system's service manager. */
  readonly system: string;
  /** False if it was written from the documentation of the system and never run there. */
  readonly tested: boolean;
  readonly file: string;
  readonly text: string;
  readonly encoding: 'utf8' | 'utf16le';
  /** Apply the file and start the service; a running one is restarted. */
  readonly start: readonly ServiceStep[];
  /** Stop the service and disable it, before the file is removed. */
  readonly stop: readonly ServiceStep[];
  /** After the file has been removed. */
  readonly forget: readonly ServiceStep[];
  /** Succeeds if the service manager can be reached. */
  readonly probe: ServiceStep;
  /** Succeeds if the service is running, or loaded if the system does not say more. */
  readonly running: ServiceStep;
  /** Advice if the service manager cannot be reached. */
  readonly later: string;
  /** Where the log goes: a command or a file. */
  readonly log: string;
}

const stepMs = 60_000;

const resultOf = ([program, ...args]: ServiceStep) =>
  spawnSync(program, args, {
    encoding: 'utf8',
    timeout: stepMs,
    windowsHide: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });

/** Runs a step. Null if it succeeded, else why not, in words. */
export function runStep(step: ServiceStep): string | null {
  const { status, signal, error, stdout, stderr } = resultOf(step);
  const [program] = step;
  if (status === 0) return null;
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  if (code === 'ENOENT') return `there is no program ${program}`;
  const words = `${stderr || stdout || ''}`.trim().split('\n', 1)[0];
  return `${step.join(' ')}: ${words || code || signal || `exit code ${status}`}`;
}

/** Standard output of a step; null if it failed. */
export function stepOutput(step: ServiceStep): string | null {
  const { status, stdout } = resultOf(step);
  return status === 0 ? stdout : null;
}

/** Runs steps in order up to the first that fails; null if all succeeded. */
export function firstFailure(steps: readonly ServiceStep[]): string | null {
  for (const step of steps) {
    const failure = runStep(step);
    if (failure !== null) return failure;
  }
  return null;
}

/** Text for XML 1.0. Most control characters cannot be written there and are left out. */
export function xml(text: string): string {
  return text
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
