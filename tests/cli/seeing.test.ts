/** Output on a terminal: pager, colors, ASCII, and which columns a width has. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import stringWidth from 'string-width';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasUtf8 } from '../../src/cli/terminal/style.ts';
import { needs } from '../support/needs.ts';
import { type Daemon, discard, programFile, startDaemon, temporaryFolder } from './program.ts';
import { atTerminal, ctrl, ESC, type Screen, withoutColors } from './screen.ts';

let daemon: Daemon;
beforeAll(async () => {
  daemon = await startDaemon();
  const devices = Array.from({ length: 60 }, (_, n) => ({
    deviceType: 'UKEY',
    serialNumber: `UK-2026-${String(n).padStart(6, '0')}`,
    manufacturer: 'Feitian Technologies',
    model: 'ePass K9 Plus',
  }));
  await daemon.call('POST', '/api/devices/batch-register', { devices });
  const { deviceId, activationCode } = await daemon.register('UK-2026-000099');
  await daemon.call('POST', '/api/devices/activate', { deviceId, activationCode, userId: 'alice' });
});
afterAll(() => discard(daemon));

interface Terminal {
  readonly columns?: number;
  readonly env?: Readonly<Record<string, string>>;
}
const at = (args: readonly string[], { columns = 100, env = {} }: Terminal = {}): Screen =>
  atTerminal([process.execPath, programFile, ...args], { home: daemon.home, columns, env });
const shown = async (args: readonly string[], terminal: Terminal = {}) => {
  const { code, stdout } = await at(args, terminal).ended;
  expect(code).toBe(0);
  return stdout.replaceAll('\r\n', '\n');
};
const plain = async (args: readonly string[], terminal: Terminal = {}) => withoutColors(await shown(args, terminal));

needs('script', 'bsdutils')('on a terminal', () => {
  test('the address of the daemon is a link on terminals that have links, and text on others', async () => {
    const link = `\u001B]8;;${daemon.url}/\u001B\\${daemon.url}\u001B]8;;\u001B\\`;
    expect(await shown(['daemon', 'status'], { env: { FORCE_HYPERLINK: '1' } })).toContain(link);
    const withoutLinks = await shown(['daemon', 'status'], { env: { FORCE_HYPERLINK: '0' } });
    expect(withoutLinks).toContain(daemon.url);
    expect(withoutLinks).not.toContain('\u001B]8');
    // The page behind it needs no login.
    const page = await fetch(`${daemon.url}/`, { headers: { accept: 'text/html' } });
    expect({ status: page.status, type: page.headers.get('content-type') }).toEqual({
      status: 200,
      type: expect.stringContaining('text/html'),
    });
  });

  describe('a pager', () => {
    const all = ['list', '--all', '--sort', 'deviceId', '--order', 'asc'];

    test('gets the whole text on its standard input, and what is said comes after it', async () => {
      const file = join(temporaryFolder(), 'paged');
      const text = await plain(['list', '--size', '30'], {
        env: { PAGER: `cat >'${file}'; echo pager ends`, DEVMGR_PAGER: '' },
      });
      expect(text).toMatch(/Page 1 of 3/);
      expect(existsSync(file)).toBe(false);
      const paged = await plain(['list', '--size', '30'], { env: { DEVMGR_PAGER: `cat >'${file}'; echo pager ends` } });
      expect(paged).toMatch(/^pager ends\nNot shown: MODEL\. All columns: -o wide\nPage 1 of 3 /);
      expect(withoutColors(readFileSync(file, 'utf8'))).toBe(text.slice(0, text.indexOf('Not shown')));
    });

    test('is not used for what fits the screen, with --no-pager, by cat, by TERM=dumb, or without a terminal', async () => {
      const env = { DEVMGR_PAGER: 'echo paged' };
      expect(await shown(['list', '--size', '5'], { env })).not.toContain('paged');
      expect(await shown([...all, '--no-pager'], { env })).toContain('DEV-61');
      expect(await shown(all, { env: { DEVMGR_PAGER: ' cat ' } })).toContain('DEV-61');
      expect(await shown(all, { env: { ...env, TERM: 'dumb' } })).toContain('DEV-61');
      expect((await daemon.run(all, { env })).stdout).toContain('DEV-61');
    });

    test('that ends early ends the command with 0 and without a word', async () => {
      expect((await plain(all, { env: { DEVMGR_PAGER: 'head -2' } })).trimEnd().split('\n')).toHaveLength(2);
      expect(await shown(all, { env: { DEVMGR_PAGER: 'true' } })).toBe('');
    });

    test('that does not exist is replaced by the terminal', async () => {
      const text = await plain(all, { env: { DEVMGR_PAGER: 'no-such-pager --option' } });
      expect(text.match(/^DEV-\d+ /gm)).toHaveLength(61);
    });

    test('has options of less that show colors and no other controls, and no token', async () => {
      const env = { DEVMGR_PAGER: 'echo "[$LESS] [$DEVMGR_TOKEN]"; cat >/dev/null', DEVMGR_TOKEN: daemon.token };
      expect(await shown(all, { env })).toContain('[FRX] []');
      expect(await shown(all, { env: { ...env, LESS: 'S' } })).toContain('[S] []');
    });

    test('has Ctrl-C for itself: the command waits for its end, and ends with 0', async () => {
      const pager = "trap 'echo interrupted' INT; cat >/dev/null; echo ready; read -r key </dev/tty; echo left";
      const screen = at(all, { env: { DEVMGR_PAGER: pager } });
      await screen.shows(/ready/);
      screen.type(ctrl.c);
      await screen.shows(/interrupted/);
      // The pager may not have begun to read when it was interrupted.
      screen.type('\r');
      await screen.shows(/left/);
      expect((await screen.ended).code).toBe(0);
    });
  });

  test('USER outlives the columns that say less, and a wide terminal has all', async () => {
    const header = async (columns: number) => {
      const text = await plain(['list'], { columns });
      for (const line of text.split('\n')) expect(stringWidth(line)).toBeLessThanOrEqual(columns);
      return text.split('\n')[0]!.split(/ {2,}/);
    };
    expect(await header(60)).toEqual(['DEVICE', 'TYPE', 'SERIAL', 'STATUS', 'USER']);
    expect(await header(80)).toEqual(['DEVICE', 'TYPE', 'SERIAL', 'STATUS', 'USER', 'REGISTERED']);
    expect(await header(120)).toEqual(expect.arrayContaining(['USER', 'MANUFACTURER', 'CODE', 'REGISTERED']));
    expect(await header(200)).toHaveLength(9);
  });

  test('states have a color and a word', async () => {
    expect(await shown(['list', '--user', 'alice'])).toContain(`${ESC}[32mACTIVE${ESC}[0m`);
    expect(await shown(['show', 'DEV-61'])).toContain(`${ESC}[32mACTIVE${ESC}[0m`);
    const { deviceId, activationCode } = await daemon.register('UK-STATE-1');
    expect(await shown(['activate', deviceId, '--code', activationCode, '--user', 'alice'])).toContain(
      `is ${ESC}[32mACTIVE${ESC}[0m`,
    );
    expect(await shown(['lock', deviceId, '--reason', 'lost'])).toContain(`is ${ESC}[31mLOCKED${ESC}[0m`);
    expect(await shown(['unlock', deviceId], { env: { NO_COLOR: '1' } })).toMatch(/^\S+ is ACTIVE\n/);
  });

  test('JSON is indented and colored, and its values are the same', async () => {
    const colored = await shown(['show', 'DEV-1', '--json']);
    expect(colored).toContain(`\n  ${ESC}[36m"status"${ESC}[0m: ${ESC}[32m"INACTIVE"${ESC}[0m,\n`);
    const { json, stdout } = await daemon.run(['show', 'DEV-1', '--json']);
    expect(JSON.parse(withoutColors(colored))).toEqual(json);
    expect(stdout.split('\n')).toHaveLength(2);
    expect(await shown(['show', 'DEV-1', '--json'], { env: { NO_COLOR: '1' } })).toBe(
      `${JSON.stringify(json, null, 2)}\n`,
    );
  });

  test('bars fit the width, and are ASCII where the locale has no UTF-8', async () => {
    for (const [columns, env] of [
      [60, {}],
      [40, { LC_ALL: 'C' }],
      [120, { LC_ALL: '', LC_CTYPE: 'POSIX' }],
    ] as const) {
      const text = await plain(['stats', '--days', '2'], { columns, env });
      for (const line of text.split('\n')) expect(stringWidth(line)).toBeLessThanOrEqual(columns);
      if ('LC_ALL' in env) expect(text).toMatch(/^ {2}INACTIVE +\d+ {2}#+$/m);
      else expect(text).toMatch(/^ {2}INACTIVE +\d+ {2}█+$/m);
      expect(/[^\x00-\x7f]/.test(text)).toBe(!('LC_ALL' in env));
    }
  });

  test('a QR code is ASCII where the locale has no UTF-8, and fits 60 columns', async () => {
    const qr = await plain(['show', 'DEV-1', '--qr'], { columns: 60, env: { LC_ALL: 'C' } });
    expect(/[^\x00-\x7f]/.test(qr)).toBe(false);
    expect(qr).toMatch(/^#{50}$/m);
    const rows = qr.split('\n').filter(line => line.length === 50);
    expect(rows).toHaveLength(25);
    // The finder pattern: a dark square in a light one in a dark one.
    expect(rows.slice(2, 5).map(row => row.slice(4, 18))).toEqual([' '.repeat(14), '  ##########  ', '  ##      ##  ']);
    expect(await plain(['show', 'DEV-1', '--qr'])).toMatch(/█▄▄▄▄▄█|█ ▄▄▄▄▄ █/);
  });

  test('an error is broken between words, and a command in its hint stays in one line', async () => {
    const said = async (...args: string[]) => withoutColors((await at(args, { columns: 60 }).ended).stdout);
    const choices = await said('list', '--fields', 'nosuch');
    for (const line of choices.trimEnd().split('\r\n')) expect(line.length).toBeLessThanOrEqual(60);
    expect(choices).toContain('activationCode, createdAt');
  });

  test('daemon logs and daemon audit use the pager, but not with --follow', async () => {
    const env = { DEVMGR_PAGER: 'echo paged; cat >/dev/null' };
    expect(await shown(['daemon', 'audit'], { env })).toBe('paged\n');
    const left = { DEVMGR_PAGER: 'head -c 1 >/dev/null; echo left' };
    expect(await shown(['daemon', 'audit'], { env: left })).toBe('left\n');
    const log = join(daemon.home, 'daemon.log');
    writeFileSync(log, 'a line\n'.repeat(60));
    expect(await shown(['daemon', 'logs'], { env })).toBe('paged\n');
    const following = at(['daemon', 'logs', '--follow'], { env });
    await following.shows(/a line/);
    following.type(ctrl.c);
    expect((await following.ended).stdout).not.toContain('paged');
  });

  test('what is shortened, and hints, are ASCII where the locale has no UTF-8', async () => {
    const env = { LC_ALL: 'C' };
    await daemon.register(`UK-${'x'.repeat(60)}`);
    expect(await plain(['list', '--size', '1'], { columns: 50, env })).toMatch(/UK-x+~x+/);
    const { stdout } = await at(['show', 'no-such-device'], { env }).ended;
    expect(withoutColors(stdout)).toContain('  > find it');
    const file = join(temporaryFolder(), 'paged');
    await shown(['list', '--all'], { columns: 50, env: { ...env, DEVMGR_PAGER: `cat >'${file}'` } });
    expect(readFileSync(file, 'utf8')).toMatch(/UK-x+~x+/);
  });
});

test('stats without a terminal are a plain table', async () => {
  const { stdout } = await daemon.run(['stats']);
  expect(stdout).toMatch(/^ {2}INACTIVE +\d+$/m);
  expect(stdout).not.toContain('█');
});

test.each([
  [{}, true],
  [{ LANG: 'C.UTF-8' }, true],
  [{ LANG: 'de_DE.utf8' }, true],
  [{ LANG: 'C' }, false],
  [{ LC_ALL: '', LC_CTYPE: 'POSIX', LANG: 'en_US.UTF-8' }, false],
  [{ LC_ALL: 'en_US.UTF-8', LANG: 'C' }, true],
])('a locale of %j has UTF-8: %s', (env, expected) => {
  expect(hasUtf8(env, 'linux')).toBe(expected);
  expect(hasUtf8(env, 'win32')).toBe(true);
});
