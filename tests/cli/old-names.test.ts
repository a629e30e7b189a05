/** Names of commands of earlier versions: each leads to the command of today. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { commandTable } from '../../src/cli/commands/index.ts';
import { oldNames, withoutOldNames } from '../../src/cli/framework/old-names.ts';
import { type Daemon, devmgr, discard, startDaemon } from './program.ts';

const names = Object.keys(oldNames);
const wordsOf = (old: string) => withoutOldNames(old.split(' ')).words;
const entries = commandTable.sections.flatMap(section => section.entries);
const commands = entries.map(({ name }) => name);
const aliases = entries.flatMap(({ aliases = [] }) => aliases);
const added = (old: string) => {
  const found = oldNames[old]!;
  return typeof found === 'string' ? null : found.adds;
};
/** The command of an old name, or the group of several. */
const pathOf = (old: string) =>
  wordsOf(old)
    .filter(word => !word.startsWith('-') && word !== added(old))
    .join(' ');

let daemon: Daemon;
beforeAll(async () => {
  daemon = await startDaemon();
});
afterAll(() => discard(daemon));

describe('an old name', () => {
  test.each(names)('%s shows the help of the command of today, and names it on standard error', async old => {
    const today = await devmgr([...pathOf(old).split(' '), '--help']);
    const shown = await devmgr([...old.split(' '), '--help']);
    expect(shown).toMatchObject({ code: 0, stdout: today.stdout });
    expect(shown.stderr).toBe(`devmgr ${old} is now: devmgr ${wordsOf(old).join(' ')}\n`);
    expect(today).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining(`devmgr ${pathOf(old)} `) });
  });

  test.each(names)('%s offers the completions of the command of today', async old => {
    const offered = (words: string) => devmgr(['completion', 'fish', '--offer', '--', ...words.split(' '), '-']);
    expect((await offered(old)).stdout).toBe((await offered(wordsOf(old).join(' '))).stdout);
  });

  test.each(names)('%s is the name of no command, and is offered nowhere', async old => {
    const [last = '', ...before] = old.split(' ').toReversed();
    const { stdout } = await devmgr(['completion', 'fish', '--offer', '--', ...before.toReversed(), last]);
    // Only the noun of some has changed: reconcile.
    const isKept = [pathOf(old), ...aliases].includes([...pathOf(old).split(' ').slice(0, -1), last].join(' '));
    if (!isKept) expect(stdout.split('\n').map(line => line.split('\t')[0])).not.toContain(last);
    expect(commands.filter(name => name === old || name.startsWith(`${old} `))).toEqual([]);
  });

  test('does what the command does, and its notice is left out with --json and --quiet', async () => {
    const { deviceId } = await daemon.register('OLD-1');
    const renewed = await daemon.run(['code', deviceId, '--reason', 'lost', '--json']);
    expect(renewed).toMatchObject({ code: 0, stderr: '', json: { deviceId } });
    expect(await daemon.run(['-q', 'backups', 'ls', deviceId])).toMatchObject({ code: 0, stdout: '', stderr: '' });
    const listed = await daemon.run(['backups', 'list', deviceId]);
    expect(listed).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^devmgr backups is now: devmgr device-back/),
    });
    const absent = await daemon.run(['usage', 'DEV-99', '--seconds', '1']);
    expect(absent).toMatchObject({ code: 5, stderr: expect.stringMatching(/is now: devmgr record-use\n.*DEV-99/) });
  });

  test('can come after global flags and after help', () => {
    expect(wordsOf('--server ls --json janitor --verbose apply x.plan')).toEqual(
      '--server ls --json cleanup --verbose apply x.plan'.split(' '),
    );
    expect(wordsOf('help users keys')).toEqual(['help', 'users', 'passkeys']);
    expect(wordsOf('lock code')).toEqual(['lock', 'code']);
    expect(wordsOf('users list keys')).toEqual(['users', 'list', 'keys']);
  });
});

test('the page about upgrades lists the old names with those of today', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/upgrade.md'), 'utf8');
  const rows = names.map(old => `| \`${old}\` | \`${wordsOf(old).join(' ')}\` |`);
  expect(page).toContain(['| former | now |', '|---|---|', ...rows].join('\n'));
});
