/** `man` and `version`: the commands that describe the whole program. */
import type { Help, Option } from 'commander';
import { endings } from '../../exit-codes.ts';
import type { CommandNode } from '../../framework/command-node.ts';
import { command } from '../../framework/define.ts';
import { variables } from '../../framework/environment.ts';
import { about, aboutText } from '../../framework/version.ts';

/** Writes the manual page, from the tree of commands. */
export const man = command({
  examples: {
    'read it': 'man | man -l -',
    'install it': 'man > devmgr.1 && mkdir -p ~/.local/share/man/man1 && mv devmgr.1 ~/.local/share/man/man1',
  },
  async run({ program }, { out }) {
    const root = program() as CommandNode;
    await root.load();
    const help = root.createHelp();
    const parts = [
      `.TH DEVMGR 1 "${about().build?.date ?? '1970-01-01'}" "devmgr" "User Commands"`,
      '.SH NAME',
      'devmgr \\- register, activate, lock and retire hardware security keys',
      '.SH SYNOPSIS',
      '.B devmgr\n.I COMMAND\n[options]',
      '.SH DESCRIPTION',
      ...root
        .description()
        .split('\n\n')
        .flatMap(paragraph => [roff(paragraph), '.PP']),
      roff('Data goes to standard output, everything else to standard error.'),
    ];
    let section = '';
    for (const leaf of root.leaves) {
      await leaf.load();
      if (leaf.helpGroup() !== section) parts.push(`.SH ${roff(leaf.helpGroup().toUpperCase().replace(':', ''))}`);
      section = leaf.helpGroup();
      parts.push(...commandPage(leaf));
    }
    parts.push('.SH GLOBAL OPTIONS', ...optionList(help, help.visibleOptions(root)), '.SH EXIT CODES');
    for (const [code, words] of endings) parts.push('.TP', `.B ${code}`, roff(words));
    parts.push('.SH ENVIRONMENT');
    for (const { name, words } of variables) parts.push('.TP', `.B ${name}`, roff(words));
    await out.text(`${parts.join('\n')}\n`);
  },
});

function commandPage(leaf: CommandNode): string[] {
  const help = leaf.createHelp();
  const [summary = '', ...paragraphs] = leaf.description().split('\n\n');
  return [
    '.SS',
    roff(help.commandUsage(leaf)),
    roff(summary),
    ...(leaf.otherNames.length > 0 ? [roff(`Also: ${leaf.otherNames.map(name => `devmgr ${name}`).join(', ')}.`)] : []),
    ...paragraphs.flatMap(paragraph => ['.PP', roff(paragraph)]),
    ...help
      .visibleArguments(leaf)
      .flatMap(argument => ['.TP', `.I ${roff(argument.name())}`, roff(help.argumentDescription(argument))]),
    ...optionList(help, leaf.ownFlags),
    ...Object.entries(leaf.shape?.examples ?? {}).flatMap(([does, line]) => [
      '.PP',
      roff(`${does}:`),
      '.RS',
      '.nf',
      roff(`devmgr ${line}`),
      '.fi',
      '.RE',
    ]),
  ];
}

const optionList = (help: Help, options: readonly Option[]): string[] =>
  options.flatMap(option => ['.TP', `.B ${roff(help.optionTerm(option))}`, roff(help.optionDescription(option))]);

/** A line of roff that shows exactly this text. */
function roff(text: string): string {
  const escaped = text.replaceAll('\\', '\\e').replaceAll('-', '\\-');
  return /^[.']/.test(escaped) ? `\\&${escaped}` : escaped;
}

/** Writes the versions of all parts, or the licenses. */
export const versionCommand = command({
  runsOnOldNode: true,
  description:
    'Shows the build, Node, SQLite and the packages with native code. Same as devmgr --version. With --quiet, shows only the version.',
  flags: { licenses: { aliases: ['licences'], help: 'write the licenses of all code in this copy' } },
  examples: {
    'for a bug report': 'version',
    'for a script': 'version --quiet',
    'for redistribution': 'version --licenses',
  },
  async run({ flags }, { out, globals }) {
    if (flags.licenses) return out.text((await import('../../settings/packaged.ts')).readLicenses());
    const facts = about();
    if (globals.json) await out.document(facts);
    else await out.text(globals.quiet ? `${facts.version}\n` : aboutText(facts));
  },
});
