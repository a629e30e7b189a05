/** Which command a command line names, and what is left for it. */

import { commandOf, commands, type Entry, groups, membersOf } from './commands/index.ts';
import { usage } from './fault.ts';
import { globalFlags } from './globals.ts';
import { nearest } from './nearest.ts';
import { spellings } from './parse.ts';

export type Found =
  | { readonly kind: 'command'; readonly entry: Entry; readonly words: readonly string[] }
  /** Help is wanted: of everything, or of a group. */
  | { readonly kind: 'help'; readonly group: string | null; readonly wanted: boolean }
  | { readonly kind: 'version' };

/** The command's name may stand behind flags; a value of a global flag is not taken for it. */
export function findCommand(argv: readonly string[]): Found {
  const known = spellings(globalFlags);
  const flags: string[] = [];
  let at = 0;
  for (; at < argv.length; at++) {
    const word = argv[at]!;
    if (word === '--version' || word === '-V') return { kind: 'version' };
    if (!word.startsWith('-') || word === '-') {
      // What follows a flag of a command that stands before its name: `--type UKEY list`.
      if (at > 0 && !isName(word) && argv[at - 1]!.startsWith('-') && argv.slice(at + 1).some(isName)) {
        flags.push(word);
        continue;
      }
      break;
    }
    flags.push(word);
    if (known.get(word)?.shape.value !== undefined && at + 1 < argv.length) flags.push(argv[++at]!);
  }
  const wantsHelp = flags.includes('--help') || flags.includes('-h');
  const name = argv[at];
  if (name === undefined) return { kind: 'help', group: null, wanted: wantsHelp };
  const rest = argv.slice(at + 1);
  if (name === 'help') return helpFor(rest.filter(word => !word.startsWith('-')));
  const entry = commandOf(name);
  if (entry) return { kind: 'command', entry, words: [...flags, ...rest] };
  if (Object.hasOwn(groups, name)) return inGroup(name, rest, flags, wantsHelp);
  throw unknownCommand(name, [...new Set(commands.map(({ name }) => name.split(' ')[0]!))]);
}

const isName = (word: string) => commandOf(word) !== null || Object.hasOwn(groups, word);

function inGroup(group: string, rest: readonly string[], flags: readonly string[], wantsHelp: boolean): Found {
  const known = spellings(globalFlags);
  const before: string[] = [];
  let at = 0;
  for (; at < rest.length && rest[at]!.startsWith('-'); at++) {
    before.push(rest[at]!);
    if (known.get(rest[at]!)?.shape.value !== undefined && at + 1 < rest.length) before.push(rest[++at]!);
  }
  const verb = rest[at];
  const wanted = wantsHelp || before.includes('--help') || before.includes('-h');
  if (verb === undefined || verb === 'help') return { kind: 'help', group, wanted: wanted || verb === 'help' };
  const entry = commandOf(`${group} ${verb}`);
  if (entry) return { kind: 'command', entry, words: [...flags, ...before, ...rest.slice(at + 1)] };
  throw unknownCommand(
    `${group} ${verb}`,
    membersOf(group).map(({ name }) => name),
  );
}

function helpFor(words: readonly string[]): Found {
  if (words.length === 0) return { kind: 'help', group: null, wanted: true };
  const entry = commandOf(words.slice(0, 2).join(' ')) ?? commandOf(words[0]!);
  if (entry) return { kind: 'command', entry, words: ['--help'] };
  if (Object.hasOwn(groups, words[0]!)) return { kind: 'help', group: words[0]!, wanted: true };
  throw unknownCommand(
    words.join(' '),
    commands.map(({ name }) => name),
  );
}

function unknownCommand(name: string, names: readonly string[]): Error {
  const near = nearest(name, names);
  return usage(`there is no command "${name}"`, near ? `did you mean devmgr ${near}?` : 'devmgr --help lists them');
}
