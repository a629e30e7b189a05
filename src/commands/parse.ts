import { usage } from '../fault.ts';
import { type AnyCommand, camel, type FlagShape, type FlagShapes } from './define.ts';
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
export function parseWords(words: readonly string[], shapes: FlagShapes, help: string): Parsed {
  const known = spellings(shapes);
  const args: string[] = [];
  const flags: Record<string, unknown> = {};
  for (const [name, shape] of Object.entries(shapes)) {
    flags[camel(name)] = shape.value === undefined ? false : shape.many ? [] : undefined;
  }
  for (let i = 0; i < words.length; i++) {
    const word = words[i]!;
    if (word === '--') {
      args.push(...words.slice(i + 1));
      break;
    }
    if (word === '-' || !word.startsWith('-')) {
      args.push(word);
      continue;
    }
    for (const part of separate(word, known)) {
      const equals = part.indexOf('=');
      const spelling = equals < 0 ? part : part.slice(0, equals);
      const flag = known.get(spelling) ?? unknownFlag(spelling, known, help);
      const inline = equals < 0 ? null : part.slice(equals + 1);
      if (flag.shape.value === undefined) {
        if (inline !== null) throw usage(`--${flag.name} takes no value`, help);
        flags[camel(flag.name)] = true;
      } else {
        const value = inline ?? nextValue(words, ++i, flag, help);
        store(flags, flag, value);
      }
    }
  }
  return { args, flags };
}

/** `-qv` is `-q -v`, and `-n3` is `-n 3`. */
function separate(word: string, known: ReadonlyMap<string, Known>): string[] {
  if (word.startsWith('--') || word.length === 2 || word.includes('=') || known.has(word)) return [word];
  if (known.get(word.slice(0, 2))?.shape.value !== undefined) return [`${word.slice(0, 2)}=${word.slice(2)}`];
  const letters = [...word.slice(1)].map(letter => `-${letter}`);
  return letters.every(letter => known.get(letter)?.shape.value === undefined && known.has(letter)) ? letters : [word];
}

function nextValue(words: readonly string[], at: number, flag: Known, help: string): string {
  const value = words[at];
  if (value === undefined || (value.startsWith('-') && value !== '-' && !/^-\d/.test(value)))
    throw usage(
      `--${flag.name} needs a value: --${flag.name} ${flag.shape.value}`,
      value === undefined ? help : `a value that begins with a dash is written --${flag.name}=${value}`,
    );
  return value;
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

function unknownFlag(spelling: string, known: ReadonlyMap<string, Known>, help: string): never {
  const near = nearest(
    spelling,
    [...known.keys()].filter(name => name.startsWith('--')),
  );
  throw usage(`there is no flag ${spelling}`, near ? `did you mean ${near}?` : help);
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
