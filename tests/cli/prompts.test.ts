/** Every kind of question on a pseudo-terminal: its keys, what ends it, and the job control of the shell that started it. */
import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { needs } from '../support/needs.ts';
import { programFile as testProgram } from '../support/test-programs.ts';
import { programFile, temporaryFolder } from './program.ts';
import { atTerminal, ctrl, enter, keys, quoted, type Screen, shellAtTerminal, withoutColors } from './screen.ts';

const asking = (kind: string) => [process.execPath, testProgram('prompts-main'), kind];
const ask = (kind: string) => atTerminal(asking(kind), { home: temporaryFolder() });

/** Keys that answer a question of each kind, and the answer. */
const answers = [
  ['text', 'some text\r', 'some text'],
  ['password', 'secret word\r', 'secret word'],
  ['confirm', 'y\r', true],
  ['pick', `${keys.down}\r`, 'BETA'],
  ['many', `${keys.space}${keys.down}${keys.down}${keys.space}\r`, ['ALPHA', 'GAMMA']],
  ['search', `${keys.down}${keys.down}\r`, 'GAMMA'],
] as const;
/** The last thing that a question of each kind draws before it waits for keys. */
const ready = (kind: string): RegExp =>
  kind === 'pick'
    ? /Question:[^?]*alpha[^?]*chooses/
    : kind === 'search'
      ? /Question:[^?]*alpha[^?]*chooses, 7 more: keep typing/
      : kind === 'many'
        ? /Question:[^?]*alpha[^?]*0 marked[^?]*confirms, 7 more: keep typing/
        : /Question:/;

const answered = (answer: unknown) => `${JSON.stringify({ answer })}`;

needs(['script', 'bash'], 'bsdutils bash')('a question', () => {
  describe.each(answers)('of the kind %s', (kind, typed, answer) => {
    test('is answered with keys', async () => {
      const screen = ask(kind);
      await screen.shows(ready(kind));
      screen.type(typed);
      const { code, stdout } = await screen.ended;
      expect(stdout).toContain(answered(answer));
      expect(code).toBe(0);
    });

    test('is ASCII in a locale without UTF-8', async () => {
      const screen = atTerminal(asking(kind), { home: temporaryFolder(), env: { LC_ALL: 'C' } });
      await screen.shows(ready(kind));
      screen.type(ctrl.c);
      expect((await screen.ended).stdout).not.toMatch(/[^\x00-\x7f]/);
    });

    test('ends with 130 at Ctrl-C and with 2 at Ctrl-D', async () => {
      for (const [key, expected] of [
        [ctrl.c, 130],
        [ctrl.d, 2],
      ] as const) {
        const screen = ask(kind);
        await screen.shows(ready(kind));
        screen.type(key);
        const { code, stdout } = await screen.ended;
        expect({ code, answered: stdout.includes('{"answer"') }).toEqual({ code: expected, answered: false });
      }
    });

    test('waits in the background after Ctrl-Z and is asked again after fg', async () => {
      const shell = await shellAtTerminal({ home: temporaryFolder() });
      enter(shell, asking(kind));
      await shell.shows(ready(kind));
      for (let times = 0; times < 2; times++) {
        shell.type(ctrl.z);
        await shell.shows(/Stopped/);
        await shell.shows(/\$ $/);
        shell.type('fg\r');
        await shell.shows(ready(kind));
      }
      shell.type(typed);
      await shell.shows(/\{"answer".*\}/);
      await shell.shows(/\$ $/);
      shell.type('exit $?\r');
      const { code, stdout } = await shell.ended;
      expect(stdout).toContain(answered(answer));
      expect(code).toBe(0);
    });
  });

  test('explains what is wrong with an answer and keeps it for correction', async () => {
    const screen = ask('text');
    await screen.answer(/Question:/, 'wrong');
    await screen.shows(/Question: wrong\s+> This is wrong/);
    screen.type('er\r');
    expect((await screen.ended).stdout).toContain(answered('wronger'));
  });

  test('keeps what was typed before Ctrl-Z', async () => {
    const shell = await shellAtTerminal({ home: temporaryFolder() });
    enter(shell, asking('text'));
    await shell.shows(/Question:/);
    shell.type('half ');
    await shell.shows(/Question: half/);
    shell.type(ctrl.z);
    await shell.shows(/Stopped/);
    shell.type('fg\r');
    await shell.shows(/Question: half/);
    shell.type('and half\r');
    await shell.shows(/\{"answer":"half and half"\}/);
    await end(shell);
  });

  test('can be answered after another process stopped it', async () => {
    const shell = await shellAtTerminal({ home: temporaryFolder() });
    enter(shell, asking('password'));
    const pid = await pidOf(shell);
    await shell.shows(/Question:/);
    process.kill(pid, 'SIGSTOP');
    await shell.shows(/Stopped/);
    shell.type('fg\r');
    await shell.shows(/Question:/);
    shell.type('hidden word\r');
    await shell.shows(/\{"answer":"hidden word"\}/);
    const { stdout } = await end(shell);
    expect(stdout.split('hidden word')).toHaveLength(2);
  });

  test('stays where no shell could continue the program', async () => {
    const screen = ask('text');
    await screen.shows(/Question:/);
    screen.type(`ab${ctrl.z}c\r`);
    expect((await screen.ended).stdout).toContain(answered('abc'));
  });

  test('is drawn for the new width when the terminal is resized', async () => {
    const screen = ask('many');
    const pid = await pidOf(screen);
    await screen.shows(ready('many'));
    screen.type(keys.space);
    await screen.shows(/◉ alpha/);
    execFileSync('stty', ['-F', readlinkSync(`/proc/${pid}/fd/0`), 'cols', '30']);
    await screen.shows(/Question:\s+❯◉ alpha/);
    screen.type(`${keys.down}${keys.space}`);
    await screen.shows(/◉ beta[\s\S]*2 marked[\s\S]*confirms/);
    screen.type(keys.enter);
    const { code, stdout } = await screen.ended;
    expect({ code, right: stdout.includes(answered(['ALPHA', 'BETA'])) }).toEqual({ code: 0, right: true });
  });

  test('takes the first line of a paste, and no later question gets the others', async () => {
    const screen = devmgr(['register', '--type', 'UKEY', '--serial', 'S-1']);
    await screen.shows(/Manufacturer:/);
    screen.type('Acme\rOne\rTwo\r');
    await screen.shows(/Manufacturer: Acme\s+\? Model:/);
    screen.type(ctrl.c);
    const { code, stdout } = await screen.ended;
    expect({ code, taken: /One|Two/.test(stdout) }).toEqual({ code: 130, taken: false });
  });

  test('never shows a password, not even one that is refused', async () => {
    const screen = ask('password');
    await screen.answer(/Question:/, 'short');
    await screen.shows(/This is too short/);
    screen.type(`${ctrl.u}\u0014long enough\r`);
    const { stdout } = await screen.ended;
    expect(stdout).toContain(answered('long enough'));
    expect(withoutColors(stdout).replace(answered('long enough'), '')).not.toMatch(/short(?<!too short)|long|\*/);
  });

  test('searches for what is typed, and shows an error of the search without ending', async () => {
    const screen = ask('search');
    await screen.shows(ready('search'));
    screen.type('fail');
    await screen.shows(/The server is gone/);
    screen.type(`${ctrl.u}mm`);
    await screen.shows(/❯ gamma/);
    screen.type(keys.enter);
    expect((await screen.ended).stdout).toContain(answered('GAMMA'));
  });

  test('keeps the text while the cursor moves in the list of a search', async () => {
    const screen = ask('search');
    await screen.shows(ready('search'));
    screen.type('a');
    await screen.shows(/Question: a\s+❯ alpha/);
    screen.type(keys.down);
    await screen.shows(/Question: a\s+alpha\s+❯ beta/);
    screen.type('m');
    await screen.shows(/Question: am\s+❯ gamma/);
    screen.type(keys.enter);
    expect((await screen.ended).stdout).toContain(answered('GAMMA'));
  });

  test('takes nothing by a paste into a search, not even by one of several lines', async () => {
    const screen = ask('search');
    await screen.shows(ready('search'));
    screen.type('be\rgamma\r');
    await screen.shows(/Question: be\s+❯ beta/);
    screen.type(`${ctrl.u}mm\r`);
    await screen.shows(/Question: mm\s+❯ gamma/);
    screen.type(keys.enter);
    expect((await screen.ended).stdout).toContain(answered('GAMMA'));
  });

  test('keeps marks while other texts are searched for, and lists them first without a text', async () => {
    const screen = ask('many');
    await screen.shows(ready('many'));
    screen.type('gam');
    await screen.shows(/Question: gam\s+❯◯ gamma/);
    screen.type(keys.space);
    await screen.shows(/Question: gam\s+❯◉ gamma[\s\S]*1 marked/);
    screen.type(`${ctrl.u}bet`);
    await screen.shows(/Question: bet\s+❯◯ beta[\s\S]*1 marked/);
    screen.type(keys.space);
    await screen.shows(/2 marked/);
    screen.type(ctrl.u);
    await screen.shows(/Question:\s+❯◉ gamma\s+◉ beta\s+◯ alpha/);
    screen.type(keys.space);
    await screen.shows(/❯◯ gamma[\s\S]*1 marked/);
    screen.type(keys.enter);
    expect((await screen.ended).stdout).toContain(answered(['BETA']));
  });

  test('explains how to mark when Enter is pressed without a mark', async () => {
    const screen = ask('many');
    await screen.shows(ready('many'));
    screen.type(keys.enter);
    await screen.shows(/> Mark at least one with the space bar[\s\S]*0 marked/);
    screen.type(`${keys.down}${keys.space}`);
    await screen.shows(/❯◉ beta[\s\S]*1 marked/);
    screen.type(keys.enter);
    expect((await screen.ended).stdout).toContain(answered(['BETA']));
  });

  test('marks nothing and does not end by a paste, not even by one that has spaces and several lines', async () => {
    const screen = ask('many');
    await screen.shows(ready('many'));
    screen.type(keys.space);
    await screen.shows(/❯◉ alpha[\s\S]*1 marked/);
    screen.type(`be ta \rgamma \r${'x'.repeat(5000)}\r`);
    await screen.shows(/Nothing matches[\s\S]*1 marked/);
    screen.type(`${ctrl.u}gam`);
    await screen.shows(/Question: gam\s+❯◯ gamma[\s\S]*1 marked/);
    screen.type(`${keys.enter}`);
    expect((await screen.ended).stdout).toContain(answered(['ALPHA']));
  });

  test('shows an error of the search in a list to mark, and marks nothing in the list of an earlier text', async () => {
    const screen = ask('many');
    await screen.shows(ready('many'));
    screen.type(keys.space);
    await screen.shows(/1 marked/);
    screen.type('fail');
    await screen.shows(/> The server is gone\. Type to search again/);
    screen.type(`${keys.down}${keys.space}${ctrl.u}mm`);
    await screen.shows(/Question: mm\s+❯◯ gamma[\s\S]*1 marked/);
    screen.type(keys.enter);
    expect((await screen.ended).stdout).toContain(answered(['ALPHA']));
  });

  test('shows when nothing matches', async () => {
    const screen = ask('many');
    await screen.shows(ready('many'));
    screen.type('nowhere');
    await screen.shows(/> Nothing matches[\s\S]*0 marked/);
    screen.type(ctrl.c);
    const { code, stdout } = await screen.ended;
    expect({ code, cursor: stdout.lastIndexOf('\u001b[?25h') >= stdout.lastIndexOf('\u001b[?25l') }).toEqual({
      code: 130,
      cursor: true,
    });
  });

  test('has no colors with NO_COLOR', async () => {
    const screen = atTerminal(asking('many'), { home: temporaryFolder(), env: { NO_COLOR: '1' } });
    await screen.shows(ready('many'));
    screen.type(`${keys.space}${keys.enter}`);
    expect((await screen.ended).stdout).not.toMatch(/\u001b\[\d+m/);
  });

  test('goes to standard error, so that standard output has only data', async () => {
    const file = join(temporaryFolder(), 'out');
    const shell = await shellAtTerminal({ home: temporaryFolder() });
    shell.type(`${quoted(asking('text'))} > '${file}'\r`);
    await shell.answer(/Question:/, 'x');
    await shell.shows(/\$ $/);
    await end(shell);
    expect(readFileSync(file, 'utf8')).toMatch(/^pid \d+\n\{"answer":"x"\}\n$/);
  });
});

needs('script', 'bsdutils')('a command', () => {
  test('that can no longer end does not exit with 0', async () => {
    const never = 'data:text/javascript,process.stdout.write = () => true';
    const screen = devmgr(['version'], { NODE_OPTIONS: `--import="${never.replaceAll(' ', '%20')}"` });
    const { code, stdout } = await screen.ended;
    expect(stdout).toContain('ended without a result');
    expect(code).toBe(1);
  });
});

function devmgr(args: readonly string[], env: Readonly<Record<string, string>> = {}): Screen {
  return atTerminal([process.execPath, programFile, ...args], { home: temporaryFolder(), env });
}

async function pidOf(screen: Screen): Promise<number> {
  return Number((await screen.until('stdout', /pid (\d+)/))[1]);
}

function end(shell: Screen) {
  shell.type('exit\r');
  return shell.ended;
}
