/** Installs the rules that let members of the group devmgr use keys and readers without a local session: over SSH, for services. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { failure, systemWords, tryOr, usage } from '../../fault.ts';
import type { Context } from '../../framework/context.ts';
import { indent } from '../../framework/present.ts';
import { readPackaged } from '../../settings/packaged.ts';
import { confirm } from '../../terminal/prompt.ts';

const group = 'devmgr';

interface Rule {
  readonly name: string;
  readonly target: string;
  /** Where the Debian package installs it; a file at `target` overrides that one. */
  readonly packaged: string;
  readonly text: string;
}

const known = [
  {
    name: 'udev',
    source: 'udev/70-devmgr.rules',
    target: 'etc/udev/rules.d/70-devmgr.rules',
    packaged: 'usr/lib/udev/rules.d/70-devmgr.rules',
  },
  {
    name: 'polkit',
    source: 'polkit/50-devmgr.rules',
    target: 'etc/polkit-1/rules.d/50-devmgr.rules',
    packaged: 'usr/share/polkit-1/rules.d/50-devmgr.rules',
  },
] as const;

/** The flags that --fix uses. */
interface Flags {
  readonly yes: boolean;
  /** Folder to use instead of `/`, such as a mounted system image. */
  readonly root: string | undefined;
}

/** Shows the rules, asks for confirmation, and writes them. Resolves to the exit code. */
export async function fix(context: Context, { yes, root = '/' }: Flags): Promise<number> {
  if (process.platform !== 'linux')
    throw failure(`no rules are needed on ${process.platform}: the user who plugs in a key has access to it`);
  const wanted = rules(root).filter(rule => !isInPlace(rule));
  const { out } = context;
  if (wanted.length === 0) {
    await done(context, [], 'All rules are already installed.');
    return 0;
  }
  if (!context.globals.json)
    for (const { target, text } of wanted) await out.text(`${out.paint('bold', target)}\n${indent(text)}\n`);
  if (root === '/' && process.getuid?.() !== 0)
    throw failure('only root can write these files', 'run: sudo devmgr doctor --fix');
  if (!yes) {
    if (!context.canAsk) throw usage('writing system files must be confirmed', 'add --yes');
    const question = `Write ${wanted.length === 1 ? 'this file' : 'these files'}?`;
    if (!(await confirm(out, question))) throw usage('not confirmed: nothing was written');
  }
  for (const rule of wanted) write(rule);
  const after = root === '/' ? activate(wanted) : [];
  await done(
    context,
    wanted,
    [
      'Written.',
      ...after,
      `Add users to the group: usermod -aG ${group} NAME. They must log in again and reconnect their keys.`,
    ].join('\n'),
  );
  return 0;
}

async function done({ out, globals }: Context, written: readonly Rule[], words: string): Promise<void> {
  if (globals.json) await out.document({ written: written.map(rule => rule.target) });
  else out.notice(words);
}

function rules(root: string): Rule[] {
  return known.map(({ name, source, target, packaged }) => ({
    name,
    target: join(root, target),
    packaged: join(root, packaged),
    text: readPackaged(source),
  }));
}

function isInPlace({ target, packaged, text }: Rule): boolean {
  if (!existsSync(target)) return existsSync(packaged);
  return tryOr(() => readFileSync(target, 'utf8'), null) === text;
}

function write({ target, text }: Rule): void {
  try {
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, text, { mode: 0o644 });
  } catch (error) {
    throw failure(`${target} cannot be written: ${systemWords(error)}`);
  }
}

/** Creates the group and reloads the udev rules. Returns what failed. polkit reloads its rules automatically. */
function activate(written: readonly Rule[]): string[] {
  const steps = [['groupadd', '--system', '--force', group]];
  if (written.some(rule => rule.name === 'udev')) steps.push(['udevadm', 'control', '--reload']);
  return steps.flatMap(([command = '', ...args]) => {
    const { status } = spawnSync(command, args, { stdio: 'ignore' });
    return status === 0 ? [] : [`Run this manually: ${command} ${args.join(' ')}`];
  });
}
