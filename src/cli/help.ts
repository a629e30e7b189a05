/** Help, from the same data as everything else. */

import { commands, groups, membersOf, sections } from './commands/index.ts';
import type { AnyCommand, FlagShape } from './define.ts';
import { exitCodes, exitCodeWords } from './exit-codes.ts';
import { globalFlags } from './globals.ts';
import type { Paint } from './terminal/style.ts';

const widest = 100;

/** Breaks text at spaces; every line after the first begins with the indent. */
export function wrap(text: string, room: number, indent: number): string {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > room - indent) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  lines.push(line);
  return lines.join(`\n${' '.repeat(indent)}`);
}

function pairs(rows: readonly (readonly [string, string])[], room: number, paint: Paint): string {
  const left = Math.min(34, Math.max(...rows.map(([name]) => name.length)) + 2);
  return rows
    .map(([name, text]) => {
      const head = name.length + 2 > left ? `${name}\n  ${' '.repeat(left)}` : name.padEnd(left);
      return `  ${paint('bold', head)}${wrap(text, room, left + 2)}\n`;
    })
    .join('');
}

export function overview(columns: number, paint: Paint): string {
  const room = Math.min(columns, widest);
  const parts = [
    wrap(
      'devmgr registers, activates, locks and retires hardware security keys: USB keys (UKEY) and SIM-based keys (SIMKEY).',
      room,
      0,
    ),
    `\n\nUsage: devmgr COMMAND [flags]\n`,
  ];
  for (const section of sections) {
    const rows = commands
      .filter(entry => entry.section === section)
      .map(({ name, summary }) => [name, summary] as const);
    parts.push(`\n${paint('bold', section)}\n`, pairs(rows, room, paint));
  }
  parts.push(
    `\n${paint('bold', 'Flags of every command')}\n`,
    flagLines(globalFlags, room, paint),
    `\n${wrap('devmgr COMMAND --help shows a command with examples. A device is named by its deviceId, its serial number, or --plugged.', room, 0)}\n`,
    `\n${paint('bold', 'Exit codes')}\n`,
    pairs(endings, room, paint),
  );
  return parts.join('');
}

/** Each exit code with its meaning. */
export const endings: readonly (readonly [string, string])[] = Object.entries(exitCodeWords).map(
  ([name, words]) => [String(exitCodes[name as keyof typeof exitCodes]), words] as const,
);

export function groupHelp(group: string, columns: number, paint: Paint): string {
  const room = Math.min(columns, widest);
  const rows = membersOf(group).map(({ name, summary }) => [name, summary] as const);
  return `devmgr ${group}: ${groups[group]}\n\nUsage: devmgr ${group} COMMAND [flags]\n\n${pairs(rows, room, paint)}`;
}

export function usageLine(command: AnyCommand): string {
  const args = (command.args ?? []).map(({ name, optional }) => (optional ? `[${name}]` : name));
  return ['devmgr', command.name, ...args, '[flags]'].join(' ');
}

export function flagTitle(name: string, shape: FlagShape): string {
  const short = shape.short ? `-${shape.short}, ` : '';
  return `${short}--${name}${shape.value ? ` ${shape.value}` : ''}`;
}

export function flagText(shape: FlagShape): string {
  return shape.help + (shape.choices ? ` (${shape.choices.join(', ')})` : '');
}

function flagLines(shapes: Readonly<Record<string, FlagShape>>, room: number, paint: Paint): string {
  return pairs(
    Object.entries(shapes).map(([name, shape]) => [flagTitle(name, shape), flagText(shape)] as const),
    room,
    paint,
  );
}

export function commandHelp(command: AnyCommand, columns: number, paint: Paint): string {
  const room = Math.min(columns, widest);
  const title = wrap(`devmgr ${command.name}: ${command.summary}`, room, 0);
  const parts = [`${title}\n\n${wrap(`Usage: ${usageLine(command)}`, room, 0)}\n`];
  for (const paragraph of command.description?.split('\n') ?? []) parts.push(`\n${wrap(paragraph, room, 0)}\n`);
  const args = (command.args ?? []).map(({ name, help }) => [name, help] as const);
  if (args.length) parts.push(`\n${paint('bold', 'Arguments')}\n`, pairs(args, room, paint));
  if (Object.keys(command.flags).length)
    parts.push(`\n${paint('bold', 'Flags')}\n`, flagLines(command.flags, room, paint));
  parts.push(`\n${paint('bold', 'Flags of every command')}\n`, flagLines(globalFlags, room, paint));
  parts.push(`\n${paint('bold', 'Examples')}\n`);
  for (const { does, line } of command.examples) parts.push(`  ${paint('dim', `# ${does}`)}\n  devmgr ${line}\n`);
  return parts.join('');
}
