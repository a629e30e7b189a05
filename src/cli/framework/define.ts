/** How a command is written down. Parsing, help, completion and the manual page are made from this. */
import type { Command } from 'commander';
import type { Context } from './context.ts';
import type { ArgShape, Clashing, FlagShapes, FlagValues } from './flags.ts';

/** Parsed command line. `args` has no entry for an optional argument that is absent. */
interface CommandInput<F extends FlagShapes> {
  readonly args: readonly string[];
  readonly flags: FlagValues<F>;
  /** The tree of all commands, for commands that describe it: a `CommandNode`. */
  program(): Command;
}

/** A command. Its name and summary are in the table of commands (`commands/index.ts`). */
interface CommandShape<F extends FlagShapes> {
  /** Paragraphs, one per line. */
  readonly description?: string;
  readonly args?: readonly ArgShape[];
  /** Completions of the next argument, if that depends on the arguments before it; null for what `args` specifies. */
  readonly follows?: (args: readonly string[]) => Pick<ArgShape, 'choices' | 'offer'> | null;
  /** Absent if it takes only the global ones. */
  readonly flags?: F;
  /** The flags and the number of examples that `--help` shows of many; `--help --all` and the reference show all. */
  readonly brief?: { readonly flags: readonly (keyof F & string)[]; readonly examples: number };
  /** Command lines without `devmgr`, by what each of them does. Tests check that they are valid. */
  readonly examples: Readonly<Record<string, string>>;
  /** Whether the command creates a profile that is named and does not exist; any other command refuses it. */
  readonly makesProfile?: (args: readonly string[]) => boolean;
  /** Whether it also runs with a Node that is too old for the other commands. */
  readonly runsOnOldNode?: true;
  /** Whether a pager shows its result if that is longer than the screen; with --watch never. That of a list always is paged. */
  readonly isPaged?: true;
  /** Resolves to the exit code; nothing is 0. */
  // biome-ignore lint/suspicious/noConfusingVoidType: a command without a special exit code returns nothing
  run(input: CommandInput<F>, context: Context): Promise<number | void>;
}

/** A command without the types of its flags. */
export interface AnyCommand extends CommandShape<FlagShapes> {
  readonly flags: FlagShapes;
}

/** Description of a command that is not used: no code of it is loaded. */
export interface Entry {
  /** With the group before it: `daemon start`. */
  readonly name: string;
  readonly summary: string;
  /** Other names, complete as they are typed: `users ls` for `users list`, `status` for `daemon status`. */
  readonly aliases?: readonly string[];
  load(): Promise<AnyCommand>;
}

/** The table of commands, in the order of the help. */
export interface CommandTable {
  readonly sections: readonly {
    readonly title: string;
    readonly entries: readonly Entry[];
    /** Left out of the overview: shown by `--help --all`. */
    readonly isRare?: true;
  }[];
  /** Words that begin several commands (`daemon`, `users`), with what they are about. */
  readonly groups: Readonly<Record<string, string>>;
  /** Help that several commands share, by the name for `devmgr help NAME`. Paragraphs, one per line. */
  readonly topics: Readonly<Record<string, string>>;
}

/** Infers the type of `run`'s input from the flags. One that sets the value of another flag has no type that fits. */
export function command<const F extends FlagShapes = Record<never, never>>(
  shape: CommandShape<F> & { readonly flags?: { readonly [K in Clashing<F>]: never } },
): AnyCommand {
  return { flags: {}, ...shape } as unknown as AnyCommand;
}

/** The values of a flag that can be repeated; undefined if it is absent. An empty one stands for none: it removes what is set. */
export const givenTexts = <T extends string>(texts: readonly T[]): T[] | undefined =>
  texts.length === 0 ? undefined : texts.filter(text => text !== '');

/** The value of a flag whose empty value clears the field. */
export const clearable = (text: string | undefined): string | null | undefined =>
  text === undefined ? undefined : text.trim() || null;

type DefinedFields<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** The fields that have a value: the interface knows absent fields, not `undefined` ones. */
export function definedFields<T extends object>(fields: T): DefinedFields<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as DefinedFields<T>;
}
