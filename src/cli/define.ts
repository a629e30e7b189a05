/** How a command is written down. Parsing, help, completion and the manual page are made from this. */
import type { Context } from './context.ts';

/** What completion offers for a value. */
export type Offer = 'device' | 'file' | 'folder' | 'profile' | 'user';

export interface FlagShape {
  /** Name of the value in the help; a flag without one takes no value. */
  readonly value?: string;
  readonly help: string;
  readonly short?: string;
  /** Other spellings that are good, and not shown. */
  readonly aliases?: readonly string[];
  /** Can be given several times; commas separate as well. */
  readonly many?: true;
  readonly whole?: { readonly min: number; readonly max?: number };
  /** The values there are, in capitals or small letters as written here; taken in any case. */
  readonly choices?: readonly string[];
  readonly offer?: Offer;
}
export type FlagShapes = Readonly<Record<string, FlagShape>>;

type Camel<S extends string> = S extends `${infer Head}-${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : S;
type FlagValue<F> = F extends { readonly value: string }
  ? F extends { readonly many: true }
    ? readonly string[]
    : F extends { readonly whole: object }
      ? number | undefined
      : string | undefined
  : boolean;
export type FlagValues<F extends FlagShapes> = { readonly [K in keyof F & string as Camel<K>]: FlagValue<F[K]> };

export interface ArgShape {
  readonly name: string;
  readonly help: string;
  readonly optional?: true;
  /** Takes every further argument. The last one only. */
  readonly rest?: true;
  readonly choices?: readonly string[];
  readonly offer?: Offer;
}

export interface Input<F extends FlagShapes> {
  readonly args: readonly string[];
  readonly flags: FlagValues<F>;
}

export interface Example {
  readonly does: string;
  /** Without the prompt. */
  readonly line: string;
}

export interface CommandShape<F extends FlagShapes> {
  /** With the group before it: `daemon start`. */
  readonly name: string;
  readonly summary: string;
  /** Paragraphs. */
  readonly description?: string;
  readonly args?: readonly ArgShape[];
  readonly flags: F;
  readonly examples: readonly Example[];
  /** Whether a profile that is named and does not exist yet is made by it; any other command refuses one. */
  readonly makesProfile?: (args: readonly string[]) => boolean;
  /** Resolves to the exit code; nothing is 0. */
  // biome-ignore lint/suspicious/noConfusingVoidType: a command that has nothing to say returns nothing
  run(input: Input<F>, context: Context): Promise<number | void>;
}

export type AnyCommand = CommandShape<FlagShapes>;

/** Keeps the names of the flags for the type of `run`'s input. */
export function command<const F extends FlagShapes>(shape: CommandShape<F>): AnyCommand {
  return shape as unknown as AnyCommand;
}

export const camel = (name: string): string => name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
