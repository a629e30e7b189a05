/** Completion in real bash, zsh and fish: lines are typed on a pseudo-terminal with TAB, and the shell then runs them. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { answering, json, success } from '../support/http-servers.ts';
import { needs } from '../support/needs.ts';
import { type Daemon, discard, programFile, startDaemon } from './program.ts';
import { atTerminal, ctrl, type Screen } from './screen.ts';

/** How each shell is started without the files of the person who runs the tests, and what makes it complete. */
const shells = {
  bash: { start: ['bash', '--noprofile', '--norc', '-i'], load: 'source <(devmgr completion bash)' },
  zsh: {
    start: ['zsh', '-f', '-i'],
    load: 'autoload -Uz compinit; compinit -u -D; source <(devmgr completion zsh)',
  },
  fish: { start: ['fish', '--no-config', '-i'], load: 'devmgr completion fish | source' },
} as const;
type ShellName = keyof typeof shells;

/** A folder with a `devmgr` that completes as the real program, and else writes down the words that it got. */
function recorder() {
  const folder = mkdtempSync(join(tmpdir(), 'devmgr shell-'));
  const bin = join(folder, 'bin');
  const record = join(folder, 'record');
  mkdirSync(bin);
  const program = [
    '#!/bin/sh',
    `if [ "$1" = completion ]; then exec '${process.execPath}' '${programFile}' "$@"; fi`,
    `for word; do printf '%s\\n' "$word"; done > '${record}'`,
    'echo "recorded"',
  ];
  writeFileSync(join(bin, 'devmgr'), `${program.join('\n')}\n`, { mode: 0o755 });
  return { folder, bin, words: () => readFileSync(record, 'utf8').split('\n').slice(0, -1) };
}

interface Session {
  /** Types a line, with `\t` for TAB, runs it and resolves to the words that the program got. */
  run(line: string): Promise<readonly string[]>;
  readonly screen: Screen;
  /** The working folder of the shell. */
  readonly folder: string;
  end(): void;
}

type Env = Readonly<Record<string, string>>;

async function sessionIn(name: ShellName, env: Env): Promise<Session> {
  const { folder, bin, words } = recorder();
  const screen = atTerminal([...shells[name].start], {
    home: folder,
    columns: 200,
    env: { PATH: `${bin}:${process.env.PATH}`, INPUTRC: '/dev/null', PS1: '$ ', ...env },
  });
  screen.type(`cd '${folder}'; ${shells[name].load}; echo rea''dy\r`);
  await screen.shows(/ready\r?\n/);
  const run = async (line: string) => {
    screen.type(`${line}\r`);
    await screen.shows(/recorded\r?\n/);
    return words();
  };
  const end = () => {
    screen.child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  return { run, screen, folder, end };
}

/** Texts of a server that no shell may take for anything but a word. The first letter tells them apart. */
const hostile = [
  'A$(touch owned)',
  'B`touch owned`',
  "C';touch owned;'",
  'D"$(touch owned)"',
  'E;touch owned',
  'F&&touch owned',
  'G|touch owned',
  'H>owned',
  'I\\',
  'J * ? [a] {b,c} ~ # %',
  'K!!',
  'L=$HOME:x',
  'M(touch owned)',
  'N名 ü',
];
/** Words that cannot be typed, or that would not be a device. */
const refused = ['U\nfiles', 'V\twords', 'W\u001b[2J', 'X\u202egnp', '--plugged', `Y${'y'.repeat(300)}`];

describe.each(Object.keys(shells) as ShellName[])('in %s', name => {
  needs([name, 'script'], `${name} bsdutils`)('completion', () => {
    let daemon: Daemon;
    let session: Session | undefined;
    beforeAll(async () => {
      daemon = await startDaemon();
      const ids = await Promise.all(['UK:1', 'UK:2', 'CARD/1'].map(serial => daemon.register(serial)));
      for (const { deviceId, activationCode } of ids.slice(0, 2))
        await daemon.run(['activate', deviceId, '--code', activationCode, '--user', 'alice']);
      locked = ids[0]!.deviceId;
      await daemon.run(['lock', locked, '--reason', 'lost']);
      const other = ['--type', 'UKEY', '--model', 'One', '--manufacturer', 'Feitian & Co'];
      await daemon.run(['register', '--serial', 'F-1', ...other]);
      for (const profile of ['work', 'workshop'])
        await daemon.run(['config', 'set', 'username', profile, '--profile', profile]);
      session = await sessionIn(name, { DEVMGR_HOME: daemon.home });
    });
    afterAll(async () => {
      session?.end();
      await discard(daemon);
    });
    let locked = '';

    test.each([
      ['unlo\t', ['unlock']],
      ['daemon st\tar\t', ['daemon', 'start']],
      ['list --stat\tLOCK\t', ['list', '--status', 'LOCKED']],
      ['list --status=lock\t', ['list', '--status=LOCKED']],
      ['list --status ACTIVE,LO\t', ['list', '--status', 'ACTIVE,LOCKED']],
      ['list --status=ACTIVE,LO\t', ['list', '--status=ACTIVE,LOCKED']],
      ['lock --filter stat\tACTIVE,LO\t', ['lock', '--filter', 'status=ACTIVE,LOCKED']],
      ['lock --filter=type=UK\t', ['lock', '--filter=type=UKEY']],
      ['show CARD\t', ['show', 'CARD/1']],
      ['show "CARD\t', ['show', 'CARD/1']],
      ['show UK:2\t', ['show', 'UK:2']],
      ['unlock UK:\t', ['unlock', 'UK:1']],
      ['users update adm\t', ['users', 'update', 'admin']],
      ['config use works\t', ['config', 'use', 'workshop']],
      ['config set us\tworks\t', ['config', 'set', 'username', 'workshop']],
      ['show --profile works\t', ['show', '--profile', 'workshop']],
      ['list --manufacturer Fei\t', ['list', '--manufacturer', 'Feitian & Co']],
      ['list --manufacturer="Fei\t', ['list', '--manufacturer=Feitian & Co']],
    ])('%j', async (line, words) => {
      expect(await session!.run(`devmgr ${line}`)).toEqual(words);
    });

    test('has a valid script', () => {
      const script = spawnSync(process.execPath, [programFile, 'completion', name], { encoding: 'utf8' }).stdout;
      const check = name === 'fish' ? '--no-execute' : '-n';
      const file = join(session!.folder, 'script');
      writeFileSync(file, script);
      const { status, stderr } = spawnSync(name, [check, file], { encoding: 'utf8' });
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    });

    test('offers the one device that fits without a letter of it', async () => {
      expect(await session!.run('devmgr unlock \t')).toEqual(['unlock', locked]);
    });

    test('completes files where a file is wanted, also after =', async () => {
      mkdirSync(join(session!.folder, 'some folder'));
      writeFileSync(join(session!.folder, 'some folder', 'keys.csv'), '');
      expect(await session!.run('devmgr register --file som\tke\t')).toEqual([
        'register',
        '--file',
        'some folder/keys.csv',
      ]);
      expect(await session!.run('devmgr register --file=som\tke\t')).toEqual([
        'register',
        '--file=some folder/keys.csv',
      ]);
    });

    test('works for ./devmgr, through links and after other commands', async () => {
      const { folder } = session!;
      mkdirSync(join(folder, 'links'));
      symlinkSync('../bin/devmgr', join(folder, 'links/devmgr'));
      expect(await session!.run('bin/devmgr unlo\t')).toEqual(['unlock']);
      expect(await session!.run('~/links/devmgr unlo\t')).toEqual(['unlock']);
      expect(await session!.run('cd links; ./devmgr unlo\t')).toEqual(['unlock']);
      expect(await session!.run('cd ..; X=1 devmgr unlo\t')).toEqual(['unlock']);
    });

    test('runs nothing that a server sends, and offers nothing that cannot be typed', async () => {
      const list = [...hostile, ...refused].map(serialNumber => ({
        deviceId: serialNumber,
        serialNumber,
        status: '$(touch owned)',
      }));
      const { url } = await answering((_, response) =>
        response
          .writeHead(200, json)
          .end(success({ list, pagination: { page: 1, size: 50, total: 1, totalPages: 1 } })),
      );
      const victim = await sessionIn(name, { DEVMGR_SERVER: url, DEVMGR_TOKEN: 'a.b.c' });
      for (const word of hostile) expect(await victim.run(`devmgr show ${word[0]}\t`)).toEqual(['show', word]);
      for (const word of refused.filter(word => /^\w/.test(word)))
        expect(await victim.run(`devmgr show ${word[0]}\t`)).toEqual(['show', word[0]]);
      victim.screen.type('devmgr show \t\t');
      await victim.screen.shows(/N名/);
      victim.screen.type(ctrl.u);
      expect(await victim.run("devmgr show 'A\t")).toEqual(['show', hostile[0]]);
      expect(await victim.run('devmgr show "A\t')).toEqual(['show', hostile[0]]);
      expect(existsSync(join(victim.folder, 'owned'))).toBe(false);
      victim.end();
    });
  });
});
