import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe } from 'vitest';

/** Places of programs that an ordinary user's PATH leaves out. */
const SYSTEM_PLACES = ['/usr/local/sbin', '/usr/sbin', '/sbin'];

/** Full path of a program of this machine, or null if it is not installed. */
export function findTool(name: string): string | null {
  const places = [...(process.env.PATH ?? '').split(delimiter), ...SYSTEM_PLACES];
  return places.map(place => join(place, name)).find(file => existsSync(file)) ?? null;
}

/**
 * `describe` for tests that run real programs: where one is missing they show as skipped, with its name and the way to get
 * it; under CI they run, and so fail, because there a silent gap would be taken for a pass.
 */
export function needs(
  tool: string | readonly string[],
  debianPackage?: string,
): (name: string, body: () => void) => void {
  const missing = [tool].flat().filter(name => findTool(name) === null);
  if (missing.length === 0 || process.env.CI) return (name, body) => describe(name, body);
  const why = `${missing.join(', ')} missing; apt-get install ${debianPackage ?? missing.join(' ')}`;
  return (name, body) => describe.skip(`${name} (skipped: ${why})`, body);
}
