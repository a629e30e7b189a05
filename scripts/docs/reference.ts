/** The pages of docs/reference, made from the tables that the program itself goes by. */

import { commands, sections } from '../../src/cli/commands/index.ts';
import type { AnyCommand, FlagShapes } from '../../src/cli/define.ts';
import { variables } from '../../src/cli/environment.ts';
import { codeOfFault, exitCodes, exitCodeWords, exitOfCode } from '../../src/cli/exit-codes.ts';
import { globalFlags } from '../../src/cli/globals.ts';
import { flagText, flagTitle, usageLine } from '../../src/cli/help.ts';
import { profileSettings } from '../../src/cli/settings/profiles.ts';
import { codes, type ErrorCode } from '../../src/contract/codes.ts';

export interface Page {
  /** Path in the project. */
  readonly file: string;
  readonly text: string;
}

const note = '<!-- Made by `npm run docs` from the tables of the program. Change those, not this page. -->\n';

export async function referencePages(): Promise<readonly Page[]> {
  return [
    { file: 'docs/reference/commands.md', text: await commandsPage() },
    { file: 'docs/reference/exit-codes.md', text: exitCodesPage() },
    { file: 'docs/reference/environment.md', text: environmentPage() },
  ];
}

async function commandsPage(): Promise<string> {
  const parts = [
    note,
    '# Commands\n',
    'The same as `devmgr COMMAND --help` and `devmgr man` say. A device is named by its deviceId, its serial number, or `--plugged`: the one key that is plugged in.\n',
    'See also: [exit codes](exit-codes.md), [environment](environment.md).\n',
  ];
  for (const section of sections) {
    parts.push(`**${section}**\n`);
    for (const { name, summary } of commands.filter(entry => entry.section === section))
      parts.push(`- [\`${name}\`](#devmgr-${name.replace(' ', '-')}): ${prose(summary)}`);
    parts.push('');
  }
  parts.push('## Flags of every command\n', ...flagTable(globalFlags));
  for (const entry of commands) parts.push(...commandPart(await entry.load()));
  return `${parts.join('\n').trimEnd()}\n`;
}

function commandPart(command: AnyCommand): string[] {
  const parts = [
    `## devmgr ${command.name}\n`,
    '```text',
    usageLine(command),
    '```\n',
    `${sentence(command.summary)}\n`,
  ];
  for (const paragraph of command.description?.split('\n') ?? []) parts.push(`${prose(paragraph)}\n`);
  if (command.args?.length)
    parts.push(
      ...table(
        ['argument', ''],
        command.args.map(({ name, help }) => [`\`${name}\``, prose(help)]),
      ),
    );
  if (Object.keys(command.flags).length) parts.push(...flagTable(command.flags));
  parts.push('```console');
  for (const { does, line } of command.examples) parts.push(`# ${does}`, `$ devmgr ${line}`);
  parts.push('```\n');
  return parts;
}

const flagTable = (shapes: FlagShapes): string[] =>
  table(
    ['flag', ''],
    Object.entries(shapes).map(([name, shape]) => [`\`${flagTitle(name, shape)}\``, prose(flagText(shape))]),
  );

function exitCodesPage(): string {
  const own = Object.keys(codes).map(Number) as ErrorCode[];
  const rows = (Object.keys(exitCodes) as (keyof typeof exitCodes)[]).map(name => {
    const exit = exitCodes[name];
    const business = exit === 0 ? [] : own.filter(code => exitOfCode(code) === exit);
    return [`${exit}`, prose(exitCodeWords[name]), business.join(', ')];
  });
  const words = Object.values(codeOfFault).filter(code => typeof code === 'string' && code !== 'CLOSED');
  return [
    note,
    '# Exit codes\n',
    'Every command ends with one of these. The last column has the codes of the [HTTP interface](../api.md#codes) that lead to it.\n',
    ...table(['exit code', 'meaning', 'refusals of the server'], rows),
    'With `--json` a failure is one document on standard error, and standard output stays empty:\n',
    '```json',
    '{"error":{"code":2001,"message":"…","hint":"…"}}',
    '```\n',
    `\`code\` is such a number, or a word where it was no server that refused: ${words.map(word => `\`${word}\``).join(', ')}.`,
    'A batch writes its results to standard output and ends with 7 where some of them are failures.',
    '',
  ].join('\n');
}

const sides = { commands: 'commands', daemon: 'the daemon', both: 'both' } as const;

function environmentPage(): string {
  const rows = variables.map(({ name, words, side }) => [`\`${name}\``, prose(words), sides[side]]);
  const settings = Object.entries(profileSettings).map(([name, words]) => [`\`${name}\``, prose(words)]);
  return [
    note,
    '# Environment and settings\n',
    'A flag beats the environment, the environment beats the profile. `devmgr config` shows what is in force, and from where. In brackets: what holds where a variable is not set.\n',
    ...table(['variable', '', 'read by'], rows),
    'A daemon that a command starts gets the environment of that command, without `DEVMGR_TOKEN` and `DEVMGR_SERVER`.\n',
    '## Settings of a profile\n',
    '`devmgr config set NAME VALUE` keeps them in `config.json` of the home folder; with `--profile` in a profile of that name.\n',
    ...table(['setting', ''], settings),
  ].join('\n');
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]) => `| ${cells.map(cell => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), `|${' --- |'.repeat(head.length)}`, ...rows.map(line), ''];
}

const sentence = (text: string): string => `${text[0]!.toUpperCase()}${prose(text.slice(1))}.`;

/** Flags, capitals with an underscore and names of files as code; nothing that Markdown would take for its own. */
const prose = (text: string): string =>
  text
    .split(/("[^"]*"|(?<![\w-])--?[a-z][\w-]*|\{.*\}|\b\w+\.(?:json|log)\b)/)
    .map((part, index) => (index % 2 === 1 ? `\`${part.replace(/^"(.*)"$/, '$1')}\`` : part.replace(/[*_<>]/g, '\\$&')))
    .join('')
    .replaceAll('``', '`""`');
