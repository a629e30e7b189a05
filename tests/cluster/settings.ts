/** The flags of `npm run test:cluster`. */
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type Phase, phases } from './phases/index.ts';

export interface Settings {
  readonly seed: number;
  /** Size of the files that are uploaded. */
  readonly fileMiB: number;
  /** Folder for the logs of all programs; null if they are removed at the end. */
  readonly logs: string | null;
  /** The chosen phases, and how often each fault happens. */
  readonly chosen: readonly { readonly phase: Phase; readonly times: number }[];
}

/** Ends the process with exit code 2 if a flag is wrong. */
export function readSettings(args: readonly string[]): Settings {
  const counts = Object.fromEntries(phases.map(({ name }) => [name, { type: 'string' as const }]));
  const options = {
    ...counts,
    full: { type: 'boolean' },
    only: { type: 'string' },
    'file-mib': { type: 'string' },
    logs: { type: 'string' },
    seed: { type: 'string' },
  } as const;
  const { values } = parseArgs({ args: [...args], options });
  const only = values.only?.split(',') ?? phases.map(({ name }) => name);
  const unknown = only.find(name => !phases.some(phase => phase.name === name));
  if (unknown !== undefined) refuse(`no phase ${unknown}; there are: ${phases.map(({ name }) => name).join(', ')}`);
  const given = values as Readonly<Record<string, string | boolean | undefined>>;
  return {
    seed: numberOf('seed', values.seed) ?? Date.now() % 1_000_000_000,
    fileMiB: numberOf('file-mib', values['file-mib']) ?? 64,
    logs: values.logs === undefined ? null : resolve(values.logs),
    chosen: phases
      .filter(({ name }) => only.includes(name))
      .map(phase => ({
        phase,
        times: numberOf(phase.name, given[phase.name]) ?? (values.full ? phase.full : phase.times),
      })),
  };
}

function numberOf(flag: string, text: string | boolean | undefined): number | null {
  if (text === undefined) return null;
  if (!/^\d{1,9}$/.test(String(text))) refuse(`--${flag} must be a whole number`);
  return Number(text);
}

function refuse(message: string): never {
  console.error(`test:cluster: ${message}`);
  process.exit(2);
}
