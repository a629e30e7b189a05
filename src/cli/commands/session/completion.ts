import { type Context, createContext } from '../../context.ts';
import { type AnyCommand, command, type FlagShape, type Offer } from '../../define.ts';
import { Fault } from '../../fault.ts';
import { findCommand } from '../../find.ts';
import { globalFlags } from '../../globals.ts';
import { spellings } from '../../parse.ts';
import { knownProfiles, readConfig } from '../../settings/profiles.ts';
import { resolveSettings } from '../../settings/settings.ts';
import { commands, groups, membersOf } from '../index.ts';

const shells = ['bash', 'zsh', 'fish'] as const;

/** Words that the scripts of the shells put before what has been typed so far. */
const question = '--offer';
/** A shell that waits for its answer is a shell that hangs. */
const patienceMs = 1_500;

const scripts: Readonly<Record<(typeof shells)[number], string>> = {
  bash: `# devmgr completion for bash. Load it with: source <(devmgr completion bash)
_devmgr() {
  local IFS=$'\\n' line
  local words=("\${COMP_WORDS[@]:1:COMP_CWORD}")
  COMPREPLY=()
  # bash splits words at = and :, which serial numbers and flags hold
  while IFS= read -r line; do COMPREPLY+=("\${line%%$'\\t'*}"); done < <(devmgr completion bash ${question} -- "\${words[@]}" 2>/dev/null)
  if [[ \${COMPREPLY[0]} == :files ]]; then COMPREPLY=(); compopt -o default; fi
  if [[ \${COMP_WORDS[COMP_CWORD]} == *:* && $COMP_WORDBREAKS == *:* ]]; then
    local prefix="\${COMP_WORDS[COMP_CWORD]%:*}:"
    COMPREPLY=("\${COMPREPLY[@]#"$prefix"}")
  fi
}
complete -F _devmgr devmgr
`,
  zsh: `#compdef devmgr
# devmgr completion for zsh. Load it with: source <(devmgr completion zsh)
_devmgr() {
  local -a lines described
  local line
  lines=("\${(@f)$(devmgr completion zsh ${question} -- "\${(@)words[2,$CURRENT]}" 2>/dev/null)}")
  if [[ \${lines[1]} == :files ]]; then _files; return; fi
  for line in $lines; do
    [[ -n $line ]] && described+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  _describe 'devmgr' described
}
# As a file of $fpath this is read at the first TAB, in place of the function that it defines.
if [[ \${funcstack[1]} == _devmgr ]]; then _devmgr "$@"; else compdef _devmgr devmgr; fi
`,
  fish: `# devmgr completion for fish. Load it with: devmgr completion fish | source
function __devmgr_offer
  set -l words (commandline -opc) "$(commandline -ct | string collect)"
  set -l lines (devmgr completion fish ${question} -- $words[2..-1] 2>/dev/null)
  if test "$lines[1]" = ":files"
    __fish_complete_path (commandline -ct)
  else
    printf '%s\\n' $lines
  end
end
complete -c devmgr -f -a '(__devmgr_offer)'
`,
};

export const completion = command({
  name: 'completion',
  summary: 'write the completion for a shell',
  description:
    'Completes commands, flags and their values; deviceIds and serial numbers come from the server you are logged in to.',
  args: [
    { name: 'SHELL', help: shells.join(', '), choices: shells },
    { name: 'WORDS', help: 'what the shell asks about', optional: true, rest: true },
  ],
  flags: { offer: { help: 'answer a question of the shell; its words follow after --' } },
  examples: [
    { does: 'bash, for this session', line: 'completion bash > ~/.devmgr-completion && source ~/.devmgr-completion' },
    { does: 'fish, for good', line: 'completion fish > ~/.config/fish/completions/devmgr.fish' },
  ],
  async run({ args, flags }, context) {
    const [shell, ...words] = args;
    if (!flags.offer) {
      if (words.length) throw new Fault('usage', `completion: "${words[0]}" is one argument too many`);
      return context.out.text(scripts[shell as (typeof shells)[number]]);
    }
    const late = new Promise<readonly Word[]>(resolve => setTimeout(resolve, patienceMs, []).unref());
    const offers = await Promise.race([offersFor(words, meant(words, context)).catch(() => []), late]);
    await context.out.text(offers.map(([word, text]) => `${word}\t${text}\n`).join(''));
  },
});

/** The context of the command that is being typed: its words may name another server or home. */
function meant(words: readonly string[], context: Context): Context {
  const named = (flag: string) => words.find((_, index) => words[index - 1] === flag);
  const {
    home = context.settings.home,
    server,
    profile,
    ca,
    hardware,
  } = {
    home: named('--home'),
    server: named('--server'),
    profile: named('--profile'),
    ca: named('--ca'),
    hardware: named('--hardware'),
  };
  const settings = resolveSettings({ home, server, profile, ca, hardware }, context.env, true);
  // A word is completed at once or not at all: nothing is started for it, and no limit waited out.
  return createContext({ ...context, settings, globals: { ...context.globals, noAutostart: true, noWait: true } });
}

type Word = readonly [word: string, text: string];
const files: readonly Word[] = [[':files', '']];

/** What can stand in the place of the last word. */
async function offersFor(words: readonly string[], context: Context): Promise<readonly Word[]> {
  const typed = words.at(-1) ?? '';
  const before = words.slice(0, -1);
  const startsAsTyped = ([word]: Word) => word.startsWith(typed);
  const found = tryFind(before);
  if (found?.kind !== 'command') {
    const group = found?.kind === 'help' ? found.group : null;
    const globalFlag = flagBefore(before, globalFlags);
    if (globalFlag) return valuesOf(globalFlag, typed, context);
    if (typed.startsWith('-')) return flagsOf(globalFlags, []).filter(startsAsTyped);
    return (
      group === null ? topWords() : membersOf(group).map(({ name, summary }): Word => [name.split(' ')[1]!, summary])
    ).filter(startsAsTyped);
  }
  const shape = await found.entry.load();
  const shapes = { ...globalFlags, ...shape.flags };
  const flag = flagBefore(before, shapes);
  if (flag) return valuesOf(flag, typed, context);
  if (typed.startsWith('-')) return flagsOf(shapes, found.words).filter(startsAsTyped);
  return (await argumentsOf(shape, found.words, typed, context)).filter(
    ([word, text]) => word === ':files' || startsAsTyped([word, text]),
  );
}

function tryFind(words: readonly string[]): ReturnType<typeof findCommand> | null {
  try {
    return findCommand(words);
  } catch {
    return null;
  }
}

function topWords(): readonly Word[] {
  const single = commands.filter(({ name }) => !name.includes(' ')).map(({ name, summary }): Word => [name, summary]);
  return [...single, ...Object.entries(groups)];
}

/** The flag whose value is being typed. */
function flagBefore(before: readonly string[], shapes: Readonly<Record<string, FlagShape>>): FlagShape | null {
  const shape = spellings(shapes).get(before.at(-1) ?? '')?.shape;
  return shape?.value === undefined ? null : shape;
}

function flagsOf(shapes: Readonly<Record<string, FlagShape>>, used: readonly string[]): Word[] {
  return Object.entries(shapes)
    .filter(([name, shape]) => shape.many || !used.includes(`--${name}`))
    .map(([name, shape]): Word => [`--${name}`, shape.help]);
}

async function argumentsOf(
  shape: AnyCommand,
  words: readonly string[],
  typed: string,
  context: Context,
): Promise<readonly Word[]> {
  const known = spellings({ ...globalFlags, ...shape.flags });
  const taken = words.filter(
    (word, index) => !word.startsWith('-') && known.get(words[index - 1] ?? '')?.shape.value === undefined,
  );
  const argument = shape.args?.[taken.length];
  if (!argument) return [];
  if (argument.choices) return argument.choices.map((choice): Word => [choice, '']);
  return argument.offer ? offered(argument.offer, typed, context) : [];
}

async function valuesOf(shape: FlagShape, typed: string, context: Context): Promise<readonly Word[]> {
  const words: readonly Word[] =
    shape.choices?.map((choice): Word => [choice, '']) ??
    (shape.offer ? await offered(shape.offer, typed, context) : []);
  return words.filter(([word]) => word === ':files' || word.toLowerCase().startsWith(typed.toLowerCase()));
}

async function offered(offer: Offer, typed: string, context: Context): Promise<readonly Word[]> {
  switch (offer) {
    case 'file':
    case 'folder':
      return files;
    case 'profile':
      return knownProfiles(context.settings.home, readConfig(context.settings.home)).map((name): Word => [name, '']);
    case 'user': {
      const { list } = await context.registry.call('listUsers', { query: { size: 100 } });
      return list.map((user): Word => [user.username, user.role]);
    }
    case 'device': {
      const { list } = await context.registry.call('listDevices', {
        query: { ...(typed ? { keyword: typed } : {}), size: 50 },
      });
      return list.flatMap((device): Word[] => [
        [device.deviceId, `${device.serialNumber} ${device.status}`],
        [device.serialNumber, `${device.deviceId} ${device.status}`],
      ]);
    }
  }
}
