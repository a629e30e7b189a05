/** Flags and arguments as commander takes them, with what the other readers of the tree need to know of them. */
import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import { type ArgShape, camel, type FlagShape, type FlagShapes } from './flags.ts';

/** A flag under one of its spellings. An alias is hidden and sets the value of the flag that it stands for. */
export class Flag extends Option {
  readonly shape: FlagShape;
  readonly #attribute: string;

  constructor(name: string, shape: FlagShape, spelling = name) {
    const isAlias = spelling !== name;
    const short = shape.short && !isAlias ? `-${shape.short}, ` : '';
    super(
      `${short}--${spelling}${valueName(shape)}`,
      shape.many === true ? `${shape.help}; separate several with commas` : shape.help,
    );
    this.shape = shape;
    this.#attribute = camel(name);
    if (shape.choices) this.choices(shape.choices);
    if (shape.value) this.argParser(parserOf(shape, this.parseArg));
    if (shape.default !== undefined) this.default(shape.default);
    if (shape.conflicts) this.conflicts(shape.conflicts.map(camel));
    if (shape.env && !isAlias) this.env(shape.env);
    this.hideHelp(isAlias);
  }

  override attributeName(): string {
    return this.#attribute;
  }

  /** Whether the word is the flag, without a value. */
  matches(word: string): boolean {
    return word === this.long || word === this.short;
  }
}

const valueName = ({ value, optional }: FlagShape): string => {
  if (value === undefined) return '';
  return optional ? ` [${value}]` : ` <${value}>`;
};

type ValueParser = (text: string, earlier?: unknown) => unknown;

/** `strictly` is commander's own check of the choices, which distinguishes upper and lower case. */
function parserOf(shape: FlagShape, strictly: ValueParser = text => text): ValueParser {
  const { many, whole, choices = [], empty, env } = shape;
  const inAnyCase = (text: string) => choices.find(choice => choice.toLowerCase() === text.toLowerCase()) ?? text;
  const one = (text: string) => {
    if (text.trim() === '') throw new InvalidArgumentError('It must not be empty.');
    return whole ? wholeNumber(text, whole) : strictly(inAnyCase(text));
  };
  const split = (text: string) => (many === true ? text.split(',').map(part => one(part.trim())) : [one(text)]);
  return (text, earlier = []) => {
    // Commander also passes the value of an empty variable.
    if (text === '' && env !== undefined && process.env[env] === '') return undefined;
    const values = empty && text.trim() === '' ? [text] : split(text);
    return many ? [...(earlier as unknown[]), ...values] : values[0];
  };
}

function wholeNumber(text: string, { min, max }: { readonly min: number; readonly max?: number }): number {
  const value = /^-?\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= (max ?? Number.POSITIVE_INFINITY)) return value;
  const bounds = max === undefined ? `of at least ${min}` : `from ${min} to ${max}`;
  throw new InvalidArgumentError(`It must be a whole number ${bounds}.`);
}

/** An argument with its definition. */
export class NamedArgument extends Argument {
  readonly shape: ArgShape;

  constructor(shape: ArgShape) {
    const { name, help, optional, rest, choices } = shape;
    const dots = rest ? '...' : '';
    super(optional ? `[${name}${dots}]` : `<${name}${dots}>`, help);
    this.shape = shape;
    if (choices) this.choices(choices);
  }
}

interface Definition {
  readonly name: string;
  readonly shape: FlagShape;
  /** The name, or an alias. */
  readonly spelling: string;
  readonly group: string;
}

/**
 * The flags of a command. Commander takes a tenth of a millisecond to add one: those that are not on the command line are added
 * only for help and suggestions.
 */
export class FlagSet {
  readonly #definitions: Definition[] = [];

  /** Defines flags, shown in the help under the heading `group`. */
  define(shapes: FlagShapes, group: string): void {
    for (const [name, shape] of Object.entries(shapes))
      for (const spelling of [name, ...(shape.aliases ?? [])]) this.#definitions.push({ name, shape, spelling, group });
  }

  has(name: string): boolean {
    return this.#definitions.some(definition => definition.name === name);
  }

  /** Adds the flags that may be among the words, and those that the environment sets. */
  addUsed(command: Command, words: readonly string[]): void {
    for (const definition of this.#definitions) {
      const { shape, spelling } = definition;
      if (isMentioned(words, spelling, shape) || (shape.env && process.env[shape.env])) this.#add(command, definition);
    }
  }

  /** Adds all flags, in the order of their definition. */
  addAll(command: Command): void {
    for (const definition of this.#definitions) this.#add(command, definition);
    const order = this.#definitions.map(({ spelling }) => `--${spelling}`);
    (command.options as Option[]).sort((a, b) => order.indexOf(a.long ?? '') - order.indexOf(b.long ?? ''));
  }

  #add(command: Command, { name, shape, spelling, group }: Definition): void {
    if (command.options.every(({ long }) => long !== `--${spelling}`))
      command.addOption(new Flag(name, shape, spelling).helpGroup(group));
  }

  /** The values by camel-case name; a flag that was not given has its default. */
  valuesOf(command: Command): Readonly<Record<string, unknown>> {
    const given = command.opts();
    return Object.fromEntries(
      this.#definitions.map(({ name, shape }) => [camel(name), given[camel(name)] ?? absentValue(name, shape)]),
    );
  }

  /** The first flag that was given without the one that it needs. Commander knows only flags that exclude each other. */
  lacking(command: Command): { readonly flag: string; readonly needed: string } | null {
    const isGiven = (name: string) => command.getOptionValueSource(camel(name)) === 'cli';
    if (this.#definitions.some(({ name, shape: { supplies } }) => supplies && isGiven(name))) return null;
    const found = this.#definitions.find(({ name, shape: { needs } }) => needs && isGiven(name) && !isGiven(needs));
    return found ? { flag: found.name, needed: found.shape.needs! } : null;
  }
}

/** Letters of short flags can be written together. */
function isMentioned(words: readonly string[], spelling: string, { short }: FlagShape): boolean {
  const long = `--${spelling}`;
  return words.some(
    word =>
      word === long ||
      word.startsWith(`${long}=`) ||
      (short !== undefined && /^-[^-]/.test(word) && word.includes(short)),
  );
}

/** False, empty or undefined, as the type of the flag specifies. */
function absentValue(name: string, { value, many, default: usual }: FlagShape): unknown {
  if (value === undefined) return name.startsWith('no-');
  return many ? [] : usual;
}
