import { type AnyCommand, camel, type FlagShape, type FlagShapes } from './define.ts';
import { usage } from './fault.ts';
import { nearest } from './nearest.ts';

export interface Parsed {
  readonly args: readonly string[];
  /** By camel-case name: text, texts, number, boolean or undefined. */
  readonly flags: Readonly<Record<string, unknown>>;
}

interface Known {
  readonly name: string;
  readonly shape: FlagShape;
}

/** Flags by every spelling: `--name`, its aliases, `-n`. */
export function spellings(shapes: FlagShapes): Map<string, Known> {
  const known = new Map<string, Known>();
  for (const [name, shape] of Object.entries(shapes)) {
    const flag = { name, shape };
    known.set(`--${name}`, flag);
    for (const alias of shape.aliases ?? []) known.set(`--${alias}`, flag);
    if (shape.short) known.set(`-${shape.short}`, flag);
  }
  return known;
}

/** Splits the words of a command line by what its flags are. Flags and arguments come in any order; `--` ends the flags. */
export async function parseWords(words: readonly string[], shapes: FlagShapes, help: string): Promise<Parsed> {
  const { Command, CommanderError } = await import('commander');
  const known = spellings(shapes);
  refuseMissingValues(words, known, help);
  const flags: Record<string, unknown> = {};
  const parser = new Command()
    .exitOverride()
    .helpOption(false)
    .configureOutput({ writeErr: () => undefined })
    .argument('[words...]');
  for (const [name, shape] of Object.entries(shapes)) {
    flags[camel(name)] = shape.value === undefined ? false : shape.many ? [] : undefined;
    for (const spelling of [name, ...(shape.aliases ?? [])]) {
      // An option takes commander a tenth of a millisecond, and a command has twenty.
      if (!isMentioned(words, spelling, shape)) continue;
      const short = spelling === name && shape.short ? `-${shape.short}, ` : '';
      parser.option(`${short}--${spelling}${shape.value === undefined ? '' : ' <value>'}`);
      parser.on(`option:${spelling}`, (value?: string) => {
        if (shape.value === undefined) flags[camel(name)] = true;
        else store(flags, { name, shape }, value!);
      });
    }
  }
  try {
    parser.parse(words, { from: 'user' });
  } catch (error) {
    throw error instanceof CommanderError ? explained(error, known, help) : error;
  }
  return { args: parser.args, flags };
}

/** Whether the flag can be among the words; letters may stand together. */
function isMentioned(words: readonly string[], spelling: string, { short }: FlagShape): boolean {
  const long = `--${spelling}`;
  return words.some(
    word =>
      word === long ||
      word.startsWith(`${long}=`) ||
      (short !== undefined && !word.startsWith('--') && word.startsWith('-') && word.includes(short)),
  );
}

/** What commander found, in the words of this program. */
function explained({ message }: Error, known: ReadonlyMap<string, Known>, help: string): Error {
  const spelling = /'(-[^' ]*)/.exec(message)?.[1] ?? '';
  const name = spelling.replace(/=.*/s, '');
  if (name !== spelling && known.has(name)) return usage(`${name} takes no value`, help);
  const near = nearest(
    name,
    [...known.keys()].filter(word => word.startsWith('--')),
  );
  return usage(`there is no flag ${name}`, near ? `did you mean ${near}?` : help);
}

/** A flag where the value of another should be: the value was forgotten, and the flag is not to be taken for it. */
function refuseMissingValues(words: readonly string[], known: ReadonlyMap<string, Known>, help: string): void {
  const end = words.indexOf('--');
  for (const [i, word] of (end < 0 ? words : words.slice(0, end)).entries()) {
    const flag = known.get(word);
    if (flag?.shape.value === undefined) continue;
    const value = words[i + 1];
    if (value !== undefined && (!value.startsWith('-') || value === '-' || /^-\d/.test(value))) continue;
    throw usage(
      `--${flag.name} needs a value: --${flag.name} ${flag.shape.value}`,
      value === undefined ? help : `a value that begins with a dash is written --${flag.name}=${value}`,
    );
  }
}

function store(flags: Record<string, unknown>, { name, shape }: Known, value: string): void {
  const key = camel(name);
  if (shape.many) {
    const values = value.split(',').map(part => choose(name, shape, part.trim()));
    flags[key] = [...(flags[key] as string[]), ...values];
  } else if (shape.whole) {
    flags[key] = whole(name, shape.whole, value);
  } else {
    flags[key] = choose(name, shape, value);
  }
}

function whole(name: string, { min, max }: { readonly min: number; readonly max?: number }, text: string): number {
  const value = /^-?\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isNaN(value) || value < min || (max !== undefined && value > max))
    throw usage(
      `--${name} must be a whole number ${max === undefined ? `of at least ${min}` : `from ${min} to ${max}`}, not "${text}"`,
    );
  return value;
}

function choose(name: string, { choices }: FlagShape, value: string): string {
  if (!choices) return value;
  const found = choices.find(choice => choice.toLowerCase() === value.toLowerCase());
  if (found !== undefined) return found;
  const near = nearest(
    value.toLowerCase(),
    choices.map(choice => choice.toLowerCase()),
  );
  const meant = choices.find(choice => choice.toLowerCase() === near);
  throw usage(
    `--${name} must be one of ${choices.join(', ')}, not "${value}"`,
    meant ? `did you mean ${meant}?` : null,
  );
}

/** Checks how many arguments there are, and those that have a closed set of values. */
export function checkArgs(command: AnyCommand, args: readonly string[], help: string): void {
  const shapes = command.args ?? [];
  const missing = shapes.find((shape, index) => !shape.optional && args[index] === undefined);
  if (missing) throw usage(`${command.name}: ${missing.name} is missing`, help);
  const extra = shapes.at(-1)?.rest ? undefined : args[shapes.length];
  if (extra !== undefined) throw usage(`${command.name}: "${extra}" is one argument too many`, help);
  for (const [index, { name, choices }] of shapes.entries()) {
    const value = args[index];
    if (value === undefined || !choices || choices.includes(value)) continue;
    const near = nearest(value, choices);
    throw usage(`${name} must be one of ${choices.join(', ')}, not "${value}"`, near ? `did you mean ${near}?` : null);
  }
}
