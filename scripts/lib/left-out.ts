// Parts that leave a registry together, and the files that name them without their lines.
import { engines, subjects } from './import-rules.ts';

/** Everything that leaves with a part: the subjects that need it. */
export function withNeeders(name: string): readonly string[] {
  const gone = new Set([name]);
  for (const one of gone)
    for (const [subject, needed] of Object.entries(subjects))
      if (needed.some(file => file.startsWith(`${one}/`))) gone.add(subject);
  return [...gone];
}

/** The folders of a part. The pages of the console are beside the daemon. */
export const foldersOf = (name: string): readonly string[] =>
  engines[name] ?? (name === 'console' ? ['daemon/console/', 'console/'] : [`daemon/${name}/`]);

/** The lists of the composition, and the files in which subjects state what they have for an engine. */
export const lists: readonly string[] = ['daemon/start/*.ts', 'daemon/*/index.ts'];

/** A file without the lines of these parts. */
export function without(file: string, names: readonly string[]): string {
  const lines = file.split('\n');
  const isOf = (line: string) => names.some(name => line.includes(` from '../${name}/`) || isLoaded(line, name));
  const imported = lines.filter(isOf).flatMap(line => /^import \{ (\w+) \}/.exec(line)?.[1] ?? []);
  return lines.filter(line => !isOf(line) && !imported.some(name => line === `  ${name},`)).join('\n');
}

/** Whether a line loads an engine, or what a subject has for it in a folder of the same name. */
function isLoaded(line: string, name: string): boolean {
  const folder = name in engines ? name.split('/').at(-1) : undefined;
  return folder !== undefined && new RegExp(`import\\('\\.[^']*/${folder}/`).test(line);
}
