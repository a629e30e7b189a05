import { commands, sections } from './commands/index.ts';
import { command, type FlagShape } from './define.ts';
import { variables } from './environment.ts';
import { globalFlags } from './globals.ts';
import { endings, flagText, flagTitle, usageLine } from './help.ts';

export const man = command({
  name: 'man',
  summary: 'write the manual page',
  flags: {},
  examples: [
    { does: 'read it', line: 'man | man -l -' },
    { does: 'install it', line: 'man > ~/.local/share/man/man1/devmgr.1' },
  ],
  async run(_, context) {
    const parts = [
      '.TH DEVMGR 1 "" "devmgr" "User Commands"',
      '.SH NAME',
      'devmgr \\- register, activate, lock and retire hardware security keys',
      '.SH SYNOPSIS',
      '.B devmgr\n.I COMMAND\n[flags]',
      '.SH DESCRIPTION',
      roff(
        'devmgr is the command line of a registry of hardware security keys: USB keys (UKEY) and SIM-based keys (SIMKEY). A device is named by its deviceId, its serial number, or --plugged: the one key that is plugged in. Data goes to standard output, all else to standard error.',
      ),
    ];
    for (const section of sections) {
      parts.push(`.SH ${roff(section.toUpperCase())}`);
      for (const entry of commands.filter(entry => entry.section === section)) {
        const shape = await entry.load();
        parts.push('.SS', roff(usageLine(shape)), roff(`${shape.summary[0]!.toUpperCase()}${shape.summary.slice(1)}.`));
        for (const paragraph of shape.description?.split('\n') ?? []) parts.push('.PP', roff(paragraph));
        for (const { name, help } of shape.args ?? []) parts.push('.TP', `.I ${roff(name)}`, roff(help));
        parts.push(...flags(shape.flags));
        for (const { does, line } of shape.examples)
          parts.push('.PP', roff(`${does}:`), '.RS', '.nf', roff(`devmgr ${line}`), '.fi', '.RE');
      }
    }
    parts.push('.SH FLAGS OF EVERY COMMAND', ...flags(globalFlags), '.SH EXIT CODES');
    for (const [code, words] of endings) parts.push('.TP', `.B ${code}`, roff(words));
    parts.push('.SH ENVIRONMENT');
    for (const { name, words } of variables) parts.push('.TP', `.B ${name}`, roff(words));
    await context.out.text(`${parts.join('\n')}\n`);
  },
});

function flags(shapes: Readonly<Record<string, FlagShape>>): string[] {
  return Object.entries(shapes).flatMap(([name, shape]) => [
    '.TP',
    `.B ${roff(flagTitle(name, shape))}`,
    roff(flagText(shape)),
  ]);
}

/** A line of roff that says just this text. */
function roff(text: string): string {
  const escaped = text.replaceAll('\\', '\\e').replaceAll('-', '\\-');
  return /^[.']/.test(escaped) ? `\\&${escaped}` : escaped;
}
