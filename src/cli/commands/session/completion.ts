import { type Context, createContext } from '../../context.ts';
import { command } from '../../define.ts';
import { usage } from '../../fault.ts';
import type { Offer } from '../../flags.ts';
import type { NamedArgument } from '../../options.ts';
import type { CommandNode } from '../../program.ts';
import { knownProfiles, readConfig } from '../../settings/profiles.ts';
import { resolveSettings } from '../../settings/settings.ts';

const shells = ['bash', 'zsh', 'fish'] as const;

/** The flag that the shell scripts put before the words typed so far. */
const question = '--offer';
/** The shell is blocked until it has an answer. */
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

/** Writes the completion script of a shell. With --offer it answers the question of such a script, within 1.5 seconds. */
export const completion = command({
  description:
    'Completes commands, options and their values. DeviceIds and serial numbers come from the server you are logged in to.',
  args: [
    { name: 'SHELL', help: 'the shell', choices: shells },
    { name: 'WORDS', help: 'the words to complete', optional: true, rest: true },
  ],
  flags: { offer: { help: 'write what can follow the words; they are given after --' } },
  examples: [
    { does: 'bash, in this session', line: 'completion bash > ~/.devmgr-completion && source ~/.devmgr-completion' },
    {
      does: 'fish, permanently',
      line: 'completion fish > devmgr.fish && mkdir -p ~/.config/fish/completions && mv devmgr.fish ~/.config/fish/completions',
    },
  ],
  async run({ args, flags, program }, context) {
    const [shell, ...words] = args;
    if (!flags.offer) {
      if (words.length) throw usage(`completion: unexpected argument "${words[0]}"`);
      return context.out.text(scripts[shell as (typeof shells)[number]]);
    }
    const late = new Promise<readonly Word[]>(resolve => setTimeout(resolve, patienceMs, []).unref());
    const offers = offersFor(words, program() as CommandNode, context).catch(() => []);
    await context.out.text((await Promise.race([offers, late])).map(([word, text]) => `${word}\t${text}\n`).join(''));
  },
});

type Word = readonly [word: string, text: string];
const files: readonly Word[] = [[':files', '']];

/** What can be in the place of the last word. */
async function offersFor(words: readonly string[], program: CommandNode, given: Context): Promise<readonly Word[]> {
  const typed = words.at(-1) ?? '';
  const { node, rest } = await commandIn(program, words.slice(0, -1));
  const flag = node.flags.find(option => option.required && option.matches(rest.at(-1) ?? ''));
  const operands = operandsOf(node, flag ? rest.slice(0, -1) : rest);
  const values = (value: Pick<NamedArgument, 'argChoices' | 'offer'>) =>
    value.argChoices?.map((choice): Word => [choice, '']) ?? offered(value.offer, typed, contextOf(node, given));
  const argument = argumentAt(node, operands.length);
  const offers = flag
    ? await values(flag)
    : typed.startsWith('-')
      ? flagsOf(node, rest)
      : argument
        ? await values(argument)
        : node.nodes.map((child): Word => [child.name(), child.summary() || child.description()]);
  return offers.filter(([word]) => word === ':files' || word.toLowerCase().startsWith(typed.toLowerCase()));
}

/** The argument at an index. The last one may take every further word. */
function argumentAt({ registeredArguments }: CommandNode, index: number): NamedArgument | undefined {
  const last = registeredArguments.at(-1);
  return (registeredArguments[index] ?? (last?.variadic ? last : undefined)) as NamedArgument | undefined;
}

/** The command that the words name, and the words without its name. */
async function commandIn(program: CommandNode, words: readonly string[]) {
  let node = program;
  let rest = program.namesFirst(words);
  for (let child = node.child(rest[0] ?? ''); child; child = node.child(rest[0] ?? '')) {
    node = child;
    rest = rest.slice(1);
  }
  await node.load();
  return { node, rest };
}

/** The arguments so far. A flag that is wrong is the business of the command, not of its completion. */
function operandsOf(node: CommandNode, words: readonly string[]): readonly string[] {
  try {
    return node.parseOptions([...words]).operands;
  } catch {
    return [];
  }
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

const flagsOf = (node: CommandNode, used: readonly string[]): Word[] =>
  node.flags
    .filter(({ hidden, shape, long }) => !hidden && (shape.many || !used.includes(long ?? '')))
    .map(({ long, description }): Word => [long ?? '', description]);

async function offered(offer: Offer | null, typed: string, context: Context): Promise<readonly Word[]> {
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
    case 'token': {
      const { list } = await context.registry.call('listTokens', { query: { size: 100 } });
      return list.filter(token => token.revokedAt === null).map((token): Word => [token.name, token.role]);
    }
    case 'device': {
      const query = { ...(typed ? { keyword: typed } : {}), size: 50 };
      const { list } = await context.registry.call('listDevices', { query });
      return list.flatMap((device): Word[] => [
        [device.deviceId, `${device.serialNumber} ${device.status}`],
        [device.serialNumber, `${device.deviceId} ${device.status}`],
      ]);
    }
    default:
      return [];
  }
}
