/** Flags and arguments as commander takes them, with what the other readers of the tree need to know of them. */
import { Argument, InvalidArgumentError, Option } from 'commander';
import { type ArgShape, camel, type FlagShape, type Offer } from './flags.ts';

/** A flag under one of its spellings. An alias is hidden and sets the value of the flag that it stands for. */
export class Flag extends Option {
  readonly shape: FlagShape;
  readonly offer: Offer | null;
  readonly #attribute: string;

  constructor(name: string, shape: FlagShape, spelling = name) {
    const isAlias = spelling !== name;
    const short = shape.short && !isAlias ? `-${shape.short}, ` : '';
    super(`${short}--${spelling}${shape.value ? ` <${shape.value}>` : ''}`, shape.help);
    this.shape = shape;
    this.offer = shape.offer ?? null;
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

  /** The value if the flag was not given: false, empty or undefined as its type says. */
  get absent(): unknown {
    if (this.negate) return true;
    if (this.shape.many) return [];
    return this.isBoolean() ? false : this.defaultValue;
  }
}

type ValueParser = (text: string, earlier?: unknown) => unknown;

/** `strictly` is commander's own check of the choices, which distinguishes upper and lower case. */
function parserOf({ many, whole, choices = [] }: FlagShape, strictly: ValueParser = text => text): ValueParser {
  const inAnyCase = (text: string) => choices.find(choice => choice.toLowerCase() === text.toLowerCase()) ?? text;
  const one = (text: string) => (whole ? wholeNumber(text, whole) : strictly(inAnyCase(text)));
  if (!many) return one;
  return (text, earlier = []) => [...(earlier as unknown[]), ...text.split(',').map(part => one(part.trim()))];
}

function wholeNumber(text: string, { min, max }: { readonly min: number; readonly max?: number }): number {
  const value = /^-?\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= (max ?? Number.POSITIVE_INFINITY)) return value;
  const bounds = max === undefined ? `of at least ${min}` : `from ${min} to ${max}`;
  throw new InvalidArgumentError(`It must be a whole number ${bounds}.`);
}

/** An argument with what shell completion offers for it. */
export class NamedArgument extends Argument {
  readonly offer: Offer | null;

  constructor({ name, help, optional, rest, choices, offer }: ArgShape) {
    const dots = rest ? '...' : '';
    super(optional ? `[${name}${dots}]` : `<${name}${dots}>`, help);
    this.offer = offer ?? null;
    if (choices) this.choices(choices);
  }
}
