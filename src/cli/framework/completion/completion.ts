import { usage } from '../../fault.ts';
import type { CommandNode } from '../command-node.ts';
import type { Context } from '../context.ts';
import { command } from '../define.ts';
import { offersFor } from './offers.ts';
import { scripts } from './scripts.ts';
import { type OfferedWords, type ShellName, shells, typedIn } from './typed.ts';

/** Milliseconds. The shell is blocked until it has an answer. */
const patienceMs = 1_500;

/** Writes the completion script of a shell. With --offer it answers the question of such a script, within 1.5 seconds. */
export const completion = command({
  description:
    'Completes commands, options and their values. Devices, users and versions come from the server that you are logged in to: unlock offers the locked devices. It does not start a daemon.\nThe Debian package installs the scripts.',
  args: [
    { name: 'SHELL', help: 'the shell', choices: shells },
    { name: 'WORDS', empty: true, help: 'used by the scripts', optional: true, rest: true },
  ],
  flags: { offer: { help: 'used by the scripts: write what can follow the words' } },
  examples: {
    'bash, in this session': 'completion bash > ~/.devmgr-completion && source ~/.devmgr-completion',
    'bash, in every session, with the package bash-completion':
      'completion bash > devmgr.bash && mkdir -p ~/.local/share/bash-completion/completions && mv devmgr.bash ~/.local/share/bash-completion/completions/devmgr',
    'zsh, in every session; ~/.zshrc needs fpath=(~/.zfunc $fpath) before compinit':
      'completion zsh > _devmgr && mkdir -p ~/.zfunc && mv _devmgr ~/.zfunc',
    'fish, in every session':
      'completion fish > devmgr.fish && mkdir -p ~/.config/fish/completions && mv devmgr.fish ~/.config/fish/completions',
  },
  async run({ args, flags, program }, context) {
    const [name, ...words] = args;
    const shell = name as ShellName;
    if (flags.offer) return answer(shell, words, program() as CommandNode, context);
    if (words.length) throw usage(`completion: unexpected argument "${words[0]}"`);
    await context.out.text(scripts[shell]);
  },
});

async function answer(
  shell: ShellName,
  words: readonly string[],
  program: CommandNode,
  context: Context,
): Promise<void> {
  const typed = typedIn(shell, words);
  const late = new Promise<OfferedWords>(resolve => setTimeout(resolve, patienceMs, []).unref());
  const offers = offersFor(typed.words, program, context).catch((): OfferedWords => []);
  await context.out.text(typed.answer(await Promise.race([offers, late])));
}
