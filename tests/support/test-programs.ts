import { join } from 'node:path';

/** The programs that tests start as processes: modules in this folder. */
export const programNames = [
  'daemon-main',
  'maintenance-main',
  'program-main',
  'commands-main',
  'prompts-main',
] as const;
export type ProgramName = (typeof programNames)[number];

/** The environment variable with the folder of the bundled programs. Vitest sets it; other runners start the sources. */
export const programsFolder = 'TEST_PROGRAMS';

/** The file to start with node. */
export function programFile(name: ProgramName): string {
  const folder = process.env[programsFolder];
  return folder ? join(folder, `${name}.mjs`) : sourceOf(name);
}

/** A program from the sources, for tests that replace one of its modules. */
export const sourceOf = (name: ProgramName): string => join(import.meta.dirname, `${name}.ts`);
