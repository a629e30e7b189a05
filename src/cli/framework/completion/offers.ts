/** Completions of a command line, from the definitions of the commands. */
import { tryOr } from '../../fault.ts';
import { resolveSettings } from '../../settings/settings.ts';
import type { CommandNode } from '../command-node.ts';
import { type Context, createContext } from '../context.ts';
import type { ArgShape, FlagShape } from '../flags.ts';
import { withoutOldNames } from '../old-names.ts';
import { type Flag, NamedArgument } from '../options.ts';
import { liveValues } from './live-values.ts';
import type { OfferedWords, Word } from './typed.ts';

/** Completions of the last word. */
export async function offersFor(words: readonly string[], program: CommandNode, given: Context): Promise<OfferedWords> {
  const typed = words.at(-1) ?? '';
  const { node, rest } = await commandIn(program, words.slice(0, -1));
  const isEnded = rest.includes('--');
  const before = isEnded ? undefined : node.flags.find(flag => flag.required && flag.matches(rest.at(-1) ?? ''));
  const operands = operandsOf(node, before ? rest.slice(0, -1) : rest);
  const values = (shape: ArgShape | FlagShape, text: string) =>
    valuesOf(shape, text, operands, () => contextOf(node, given));
  if (before) return values(before.shape, typed);
  if (typed.startsWith('-') && !isEnded) {
    const [, name, text] = /^(--[^=]+=)(.*)$/s.exec(typed) ?? [];
    if (name === undefined) return starting(typed, flagsOf(node, rest));
    const flag = node.flags.find(option => option.long === name.slice(0, -1));
    return flag?.shape.value === undefined ? [] : prefixed(name, await values(flag.shape, text!));
  }
  const argument = argumentAt(node, operands);
  const names = operands.length > 0 ? [] : starting(typed, namesBelow(node));
  if (!argument) return names;
  const offered = await values(argument, typed);
  return typeof offered === 'string' ? offered : [...offered, ...names];
}

/** The command that the words name, and the words without its name. */
async function commandIn(program: CommandNode, words: readonly string[]) {
  let node = program;
  let rest = program.namesFirst(withoutOldNames(words).words);
  for (let child = node.child(rest[0] ?? ''); child; child = node.child(rest[0] ?? '')) {
    node = child;
    rest = rest.slice(1);
  }
  await node.load();
  return { node, rest };
}

/** The arguments before the cursor. A flag that is wrong is the business of the command, not of its completion. */
const operandsOf = (node: CommandNode, words: readonly string[]): readonly string[] =>
  tryOr(() => node.parseOptions([...words]).operands, []);

/** Shape of the next argument; undefined if there is none. The last one may take every further word. */
function argumentAt({ registeredArguments, shape }: CommandNode, operands: readonly string[]): ArgShape | undefined {
  const last = registeredArguments.at(-1);
  const found = registeredArguments[operands.length] ?? (last?.variadic ? last : undefined);
  if (!(found instanceof NamedArgument)) return undefined;
  return { ...found.shape, ...shape?.follows?.(operands) };
}

function namesBelow({ nodes, path }: CommandNode): readonly Word[] {
  const names = nodes.map((node): Word => [node.name(), node.summary() || node.description()]);
  const others = nodes
    .flatMap(node => node.leaves)
    .flatMap(leaf => leaf.otherNames.map((name): Word => [name, leaf.summary()]));
  const start = path === '' ? '' : `${path} `;
  const here = others
    .filter(([name]) => name.startsWith(start))
    .map(([name, text]): Word => [name.slice(start.length), text]);
  return [...names, ...here.filter(([name]) => !name.includes(' '))];
}

/** The flags that can still be given: those of the command first. */
function flagsOf(node: CommandNode, used: readonly string[]): readonly Word[] {
  const isUsed = (flag: Flag) => used.some(word => flag.matches(word) || word.startsWith(`${flag.long}=`));
  const given = node.flags.filter(isUsed);
  const excludes = (one: Flag, other: Flag) => one.shape.conflicts?.includes(other.long?.slice(2) ?? '') === true;
  const isExcluded = (flag: Flag) => given.some(other => excludes(other, flag) || excludes(flag, other));
  return node.flags
    .filter(flag => !flag.hidden && (flag.shape.many || !given.includes(flag)) && !isExcluded(flag))
    .map(({ long, description }): Word => [long ?? '', description]);
}

/** The context of the command that is being typed: its flags may name another server or home. */
function contextOf({ values }: CommandNode, context: Context): Context {
  const { home, server, serverFrom } = context.settings;
  const typed = values as Partial<Record<'home' | 'server' | 'profile' | 'ca' | 'hardware', string>>;
  const flags = {
    home: typed.home ?? home,
    homeTyped: typed.home !== undefined,
    server: typed.server ?? (serverFrom === 'environment' && server !== null ? server : undefined),
    serverFrom: typed.server === undefined ? ('environment' as const) : ('flag' as const),
    profile: typed.profile,
    ca: typed.ca,
    hardware: typed.hardware,
  };
  const settings = resolveSettings(flags, context.env, true);
  // A word is completed at once or not at all: no daemon is started, and no rate limit is waited for.
  return createContext({ ...context, settings, globals: { ...context.globals, autostart: false, wait: false } });
}

type OfferedValues = ArgShape | FlagShape;

/** The values that begin with `typed`; of a list after commas, those that continue it. */
async function valuesOf(
  shape: OfferedValues,
  typed: string,
  used: readonly string[],
  context: () => Context,
): Promise<OfferedWords> {
  if ('pairs' in shape && shape.pairs) return pairsOf(shape.pairs, typed, context);
  const { choices, offer } = shape;
  if (offer === 'file') return 'files';
  if (offer === 'folder') return 'folders';
  const isList = 'many' in shape && shape.many === true;
  const listed = isList ? typed.slice(0, typed.lastIndexOf(',') + 1) : '';
  const last = typed.slice(listed.length);
  const states = 'states' in shape ? shape.states : undefined;
  const wanted = offer && { offer, typed: last, states, operands: used };
  const words = choices?.map((choice): Word => [choice, '']) ?? (wanted ? await liveValues(wanted, context()) : []);
  const taken = new Set(isList ? listed.split(',') : used);
  return prefixed(
    listed,
    starting(
      last,
      words.filter(([word]) => !taken.has(word)),
    ),
  );
}

/** Names that end with `=`, or the values after a name. */
async function pairsOf(
  shapes: NonNullable<FlagShape['pairs']>,
  typed: string,
  context: () => Context,
): Promise<OfferedWords> {
  const at = typed.indexOf('=');
  if (at < 0)
    return starting(
      typed,
      Object.entries(shapes).map(([name, { help }]): Word => [`${name}=`, help]),
    );
  const name = typed.slice(0, at);
  return Object.hasOwn(shapes, name)
    ? prefixed(`${name}=`, await valuesOf(shapes[name]!, typed.slice(at + 1), [], context))
    : [];
}

const starting = (typed: string, words: readonly Word[]): readonly Word[] =>
  words.filter(([word]) => word.toLowerCase().startsWith(typed.toLowerCase()));

const prefixed = (start: string, offered: OfferedWords): OfferedWords =>
  typeof offered === 'string' ? offered : offered.map(([word, text]): Word => [start + word, text]);
