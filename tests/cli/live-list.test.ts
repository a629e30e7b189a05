/** `list --watch` on a pseudo-terminal, and the history that `show` reads from the events. */
import { execFileSync } from 'node:child_process';
import { readlinkSync } from 'node:fs';
import stringWidth from 'string-width';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { needs } from '../support/needs.ts';
import { type Daemon, discard, programFile, startDaemon } from './program.ts';
import { atTerminal, ctrl, ESC, enter, type Screen, shellAtTerminal, withoutColors } from './screen.ts';

let daemon: Daemon;
let active: string;
beforeAll(async () => {
  daemon = await startDaemon();
  const { deviceId, activationCode } = await daemon.register('LIVE-1');
  await daemon.call('POST', '/api/devices/activate', { deviceId, activationCode, userId: 'alice' });
  active = deviceId;
});
afterAll(() => discard(daemon));

const change = (verb: 'lock' | 'unlock') =>
  daemon.call('POST', `/api/devices/${active}/${verb}`, verb === 'lock' ? { reason: 'lost' } : {});

needs('script', 'bsdutils')('list --watch', () => {
  const watched = (...args: string[]): Screen => {
    const program = [process.execPath, programFile, 'list', '--watch', '--keyword', 'LIVE', ...args];
    return atTerminal(['sh', '-c', 'echo pid $$; exec "$@"', 'sh', ...program], { home: daemon.home, columns: 100 });
  };

  test('draws the list again in place after a change, and leaves the last one behind', async () => {
    const screen = watched();
    await screen.shows(/LIVE-1 +ACTIVE[\s\S]*connected/);
    await change('lock');
    await screen.shows(/LIVE-1 +LOCKED/);
    const { deviceId } = await daemon.register('LIVE-2');
    await screen.shows(new RegExp(`${deviceId} .*LIVE-2 +INACTIVE`));
    await change('unlock');
    await screen.shows(/LIVE-1 +ACTIVE/);
    screen.type(ctrl.c);
    const { code, stdout } = await screen.ended;
    expect(code).toBe(130);
    const [before, drawn, after] = stdout.split(/\u001b\[\?1049[hl]/);
    expect(before).toMatch(/^pid \d+\r\n$/);
    expect(drawn).toContain(`${ESC}[H`);
    expect(withoutColors(after!)).toMatch(/^DEVICE .*\r\n.*LIVE-2 .*\r\n.*LIVE-1 +ACTIVE.*\r\n3 changes seen\r\n$/);
  });

  test('leaves the screen at Ctrl-Z, and after fg draws the list as it is by then', async () => {
    const shell = await shellAtTerminal({ home: daemon.home, columns: 100 });
    enter(shell, [process.execPath, programFile, 'list', '--watch', '--keyword', 'LIVE-1']);
    await shell.shows(/LIVE-1 +ACTIVE[\s\S]*connected/);
    shell.type(ctrl.z);
    await shell.shows(/Stopped/);
    await shell.shows(/\$ $/);
    await change('lock');
    shell.type('fg\r');
    await shell.shows(/LIVE-1 +LOCKED/);
    shell.type(ctrl.c);
    await shell.shows(/seen\r\n/);
    shell.type('exit $?\r');
    const { code, stdout } = await shell.ended;
    await change('unlock');
    expect(code).toBe(130);
    // In and out of the second buffer, for each of the two times that the list was shown.
    expect(stdout.match(/\u001b\[\?1049[hl]/g)).toEqual(['h', 'l', 'h', 'l'].map(way => `${ESC}[?1049${way}`));
  });

  test('fits the new width after a resize', async () => {
    const screen = watched();
    await screen.shows(/REGISTERED[\s\S]*connected/);
    const pid = /pid (\d+)/.exec((await screen.until('stdout', /pid \d+/)).input)![1];
    execFileSync('stty', ['-F', readlinkSync(`/proc/${pid}/fd/0`), 'cols', '40']);
    await screen.shows(/STATUS +USER\r\n/);
    screen.type(ctrl.c);
    const { code, stdout } = await screen.ended;
    expect(code).toBe(130);
    const last = stdout
      .slice(stdout.lastIndexOf(`${ESC}[H`))
      .replace('^C', '')
      .split(`${ESC}[?1049l`);
    for (const line of last.flatMap(part => withoutColors(part).split('\r\n')))
      expect(stringWidth(line)).toBeLessThanOrEqual(40);
  });

  test('has the columns of -o wide that fit', async () => {
    const screen = watched('-o', 'wide', '--status', 'ACTIVE');
    await screen.shows(/REGISTERED +ACTIVATED[\s\S]*connected/);
    screen.type(ctrl.c);
    const { code, stdout } = await screen.ended;
    expect(code).toBe(130);
    const [, drawn, after] = stdout.split(/\u001b\[\?1049[hl]/);
    for (const line of drawn!
      .replaceAll('^C', '')
      .split(/\r\n|\u001b\[H/)
      .map(withoutColors))
      expect(stringWidth(line)).toBeLessThanOrEqual(100);
    expect(withoutColors(after!)).toMatch(/^DEVICE .* REGISTERED .*ACTIVATED +LAST USED +TAGS/);
  });

  test('reports an error of the stream on the terminal as it was before', async () => {
    const screen = atTerminal([process.execPath, programFile, 'list', '--watch', '--size', '101'], {
      home: daemon.home,
    });
    const { code, stdout } = await screen.ended;
    expect(code).toBe(2);
    expect(stdout).not.toContain('1049');
  });
});

test.each([
  [['list', '--watch'], /--watch needs a terminal.*\n.*devmgr watch --json/],
  [['list', '--watch', '--json'], /--watch.*cannot be used with.*--json/],
  [['list', '--watch', '--all'], /--watch.*cannot be used with.*--all/],
  [['list', '--watch', '-o', 'yaml'], /--watch and --output yaml cannot be combined\n.*--output wide/],
  [['list', '--watch', '-o', 'csv'], /--watch and --output csv cannot be combined/],
])('%j is refused', async (args, words) => {
  const { code, stdout, stderr } = await daemon.run(args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(args.includes('--json') ? JSON.parse(stderr).error.message : stderr).toMatch(words);
});

describe('the history of show', () => {
  test('has every event of the device, also those that its details forget', async () => {
    const { deviceId, activationCode } = await daemon.register('STORY-1');
    await daemon.call('POST', '/api/devices/activate', { deviceId, activationCode, userId: 'bob' });
    for (const verb of ['lock', 'unlock', 'lock'])
      await daemon.call('POST', `/api/devices/${deviceId}/${verb}`, verb === 'lock' ? { reason: 'in doubt' } : {});
    const { stdout, stderr } = await daemon.run(['show', deviceId]);
    const steps = stdout.slice(stdout.indexOf('history:')).trimEnd().split('\n').slice(1);
    expect(
      steps.map(line => line.replace(/^ {4}\d{4}-\d\d-\d\d \d\d:\d\d {2}/, '').replace(/ \([^(]*\)$/, '')),
    ).toEqual(['registered', 'activated for bob', 'locked: in doubt', 'unlocked', 'locked: in doubt']);
    expect(stderr).toBe('');
    const without = await daemon.run(['show', deviceId, '--no-events']);
    expect(without.stdout.match(/ locked: in doubt /g)).toHaveLength(1);
  });

  test('shows the newest events, and how to read the earlier ones', async () => {
    for (let n = 0; n < 6; n++) for (const verb of ['lock', 'unlock'] as const) await change(verb);
    const { stdout, stderr } = await daemon.run(['show', active]);
    expect(stdout).not.toContain('registered (');
    expect(stdout.match(/ (un)?locked/g)).toHaveLength(10);
    const hint = /^All events: devmgr (history \S+)\n$/.exec(stderr)![1]!;
    const all = await daemon.run([...hint.split(' '), '--json']);
    expect(all.json.list[0].type).toBe('DEVICE_REGISTERED');
  });

  test('takes one request as JSON', async () => {
    const { stderr } = await daemon.run(['show', active, '--json', '--verbose']);
    expect(stderr.match(/^GET .*\/api\/events/gm)).toBeNull();
    expect((await daemon.run(['show', active, '--verbose'])).stderr).toMatch(/GET \S*\/api\/events/);
  });
});
