/** Words of a command line that are global flags. */
import { globalFlags } from './flags.ts';

/** Global flags whose value is the next word. */
export const takesValue: ReadonlySet<string> = new Set(
  Object.entries(globalFlags).flatMap(([name, shape]) => ('value' in shape ? [`--${name}`] : [])),
);

/** `--json`, `--server=URL`, `-q`, `-qv`; also those that commander adds. */
export const isGlobalFlag = (word: string): boolean =>
  globalWord.has(/^--[^=\s]*/.exec(word)?.[0] ?? '') || /^-[hoqvV]+$/.test(word);
const globalWord: ReadonlySet<string> = new Set([
  '--help',
  '--version',
  ...Object.entries(globalFlags).flatMap(([name, shape]) =>
    [name, ...('aliases' in shape ? shape.aliases : [])].map(word => `--${word}`),
  ),
]);
