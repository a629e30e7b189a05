// Which subjects leave a registry together, and the lists of `daemon/start/` without them.
import { subjects } from './import-rules.ts';

/** The subject, and those that need it. */
export function withNeeders(name: string): readonly string[] {
  const gone = new Set([name]);
  for (const one of gone)
    for (const [subject, needed] of Object.entries(subjects))
      if (needed.some(file => file.startsWith(`${one}/`))) gone.add(subject);
  return [...gone];
}

/** A list of `daemon/start/` without the lines of these subjects. */
export function without(list: string, names: readonly string[]): string {
  const lines = list.split('\n');
  const isOf = (line: string) => names.some(name => line.includes(` from '../${name}/`));
  const imported = lines.filter(isOf).flatMap(line => /\{ (\w+) \}/.exec(line)?.[1] ?? []);
  return lines.filter(line => !isOf(line) && !imported.some(name => line === `  ${name},`)).join('\n');
}
