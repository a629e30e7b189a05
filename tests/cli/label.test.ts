/** Labels of devices: to a printer that is a TCP server, to a queue, to standard output, and to a sheet. */
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { labelPrinter, reading, type Take } from '../support/label-printer.ts';
import { needs } from '../support/needs.ts';
import { type Daemon, devmgr, discard, programFile, startDaemon, temporaryFolder } from './program.ts';
import { atTerminal, withoutColors } from './screen.ts';

const hostile = '^XZ~HS<b>';
let daemon: Daemon;
let ids: string[];
beforeAll(async () => {
  daemon = await startDaemon();
  const devices = [0, 1, 2].map(n => ({
    deviceType: 'UKEY',
    serialNumber: `LB-${n}`,
    manufacturer: 'Acme',
    model: hostile,
    tags: { lot: '7' },
  }));
  const { results } = (await daemon.call('POST', '/api/devices/batch-register', { devices })) as {
    results: { deviceId: string }[];
  };
  ids = results.map(({ deviceId }) => deviceId);
});
afterAll(() => discard(daemon));

const opened: Server[] = [];
afterEach(() => {
  for (const server of opened.splice(0)) server.close();
});

/** The address of a printer that treats each connection as `take` does, until the end of the test. */
async function printer(take: Take, pauseOnConnect = false): Promise<string> {
  const { address, server } = await labelPrinter(take, pauseOnConnect);
  opened.push(server);
  return address;
}

function templateOf(text: string, name = 'label.zpl'): string {
  const file = join(temporaryFolder(), name);
  writeFileSync(file, text);
  return file;
}

describe('a printer in the network', () => {
  test('gets a label for each device, in the order of their names', async () => {
    const labels: string[] = [];
    const address = await printer(reading(labels));
    const { code, stdout, stderr } = await daemon.run(['label', 'LB-1', ids[0]!, '--printer', address]);
    expect(stderr).toBe(`2 labels printed on printer ${address}.\n`);
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(`^✓ ${ids[1]} +LB-\\d\n✓ ${ids[0]} +LB-\\d\n$`));
    const [first = '', second = ''] = stdout.split('\n');
    expect(first.indexOf('LB-')).toBe(second.indexOf('LB-'));
    expect(labels.map(label => /QA,([^^]*)/.exec(label)?.[1])).toEqual([ids[1], ids[0]]);
    for (const label of labels) {
      expect(label).toMatch(/^\^XA[\s\S]*\^XZ\n$/);
      expect(label).toContain('_5EXZ_7EHS_3Cb_3E');
    }
  });

  test('has one JSON line per device', async () => {
    const address = await printer(reading([]));
    const { code, rows } = await daemon.run(['label', '--filter', 'tag=lot=7', '--printer', address, '--json']);
    expect(code).toBe(0);
    expect(rows).toEqual(
      ids.map(deviceId => ({
        deviceId,
        serialNumber: expect.stringMatching(/^LB-/),
        operation: 'LABEL',
        status: 'success',
        message: `printed on printer ${address}`,
        data: null,
      })),
    );
  });

  test('that is off is one clear line, with exit code 10', async () => {
    const address = await printer(() => undefined);
    const closed = opened.pop()!.close();
    await once(closed, 'close');
    const { code, stdout, stderr } = await daemon.run(['label', 'LB-0', '--printer', address]);
    expect(code).toBe(10);
    expect(stdout).toBe('');
    expect(stderr).toBe(`devmgr: printer ${address} refuses the connection\n  → switch it on, and check its address\n`);
  });

  test('that closes in the middle ends the run, with what was printed; --resume prints the others', async () => {
    const labels: string[] = [];
    const read = reading(labels);
    const address = await printer((socket, nth) => {
      if (nth === 1) socket.once('data', () => socket.resetAndDestroy());
      else read(socket);
    });
    const out = join(temporaryFolder(), 'labels.csv');
    const args = ['label', ...ids, '--printer', address, '--out', out];
    const first = await daemon.run(args);
    expect(first.code).toBe(10);
    expect(first.stderr).toContain(
      `printer ${address} closed the connection before it had received the label; 1 label was printed before that, 2 were not\n`,
    );
    expect(first.stderr).toContain('then repeat the command with --resume');
    expect(readFileSync(out, 'utf8').split('\n')[1]).toContain(`LABEL,${ids[0]},LB-0,success`);
    expect(readFileSync(out, 'utf8').split('\n')[2]).toContain(`LABEL,${ids[1]},LB-1,failed`);

    const second = await daemon.run([...args, '--resume']);
    expect(second.stderr).toBe(`2 labels printed on printer ${address}.\n`);
    expect(second.code).toBe(0);
    expect(labels.map(label => /QA,([^^]*)/.exec(label)?.[1])).toEqual(ids);
    const third = await daemon.run([...args, '--resume']);
    expect(third.stderr).toBe('Nothing to print.\n');
  });

  test('that never reads is a timeout', async () => {
    const address = await printer(() => undefined, true);
    const { code, stderr } = await daemon.run(['label', 'LB-0', 'LB-1', '--printer', address, '--timeout', '1']);
    expect(code).toBe(10);
    expect(stderr).toBe(
      `devmgr: printer ${address} did not accept the label within 1 s; 0 labels were printed before that, 2 were not\n  → it may be out of paper or paused\n`,
    );
  });

  test('of the profile or the environment is used if no flag names one', async () => {
    const labels: string[] = [];
    const address = await printer(reading(labels));
    const other = await printer(() => expect.unreachable());
    const home = temporaryFolder();
    const env = { DEVMGR_TOKEN: daemon.token };
    const run = (...args: string[]) => devmgr([...args, '--server', daemon.url], { home, env });
    expect(await run('config', 'set', 'printer', 'a@b')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('printer a@b is not an address'),
    });
    expect((await run('config', 'set', 'printer', other)).code).toBe(0);
    expect((await run('config', '--json')).json.printer).toBe(other);
    expect((await run('label', 'LB-0', '--printer', address)).code).toBe(0);
    const fromEnvironment = { home, env: { ...env, DEVMGR_LABEL_PRINTER: address } };
    expect((await devmgr(['label', 'LB-1', '--server', daemon.url], fromEnvironment)).code).toBe(0);
    expect((await run('config', 'set', 'printer', address)).code).toBe(0);
    expect((await run('label', 'LB-2')).stderr).toBe(`1 label printed on printer ${address}.\n`);
    expect(labels).toHaveLength(3);
    expect((await run('config', 'set', 'printer', 'lp:no such queue')).code).toBe(2);
  });

  test.each(['10.0.0.9/x', 'a@b', ':9100', 'host:0', 'host:99999', '::1'])('%s is not an address', async address => {
    const { code, stderr } = await daemon.run(['label', 'LB-0', '--printer', address]);
    expect(code).toBe(2);
    expect(stderr).toContain(`--printer ${address} is not an address`);
  });
});

describe('a queue of the system', () => {
  /** A program `lp` that is found first. */
  function lp(script: string): { readonly env: Record<string, string>; readonly folder: string } {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'lp'), `#!/bin/sh\n${script}\n`);
    chmodSync(join(folder, 'lp'), 0o755);
    return { env: { PATH: `${folder}:${process.env.PATH}` }, folder };
  }

  test('gets raw labels and no token, and its name is one argument', async () => {
    const { env, folder } = lp(
      `printf '%s|' "$@" >"$(dirname "$0")/args"; cat >"$(dirname "$0")/label"; env >"$(dirname "$0")/env"`,
    );
    const withToken = { ...env, DEVMGR_TOKEN: daemon.token };
    const { code } = await daemon.run(['label', 'LB-0', '--lp', 'zebra;$(id)'], { env: withToken });
    expect(readFileSync(join(folder, 'env'), 'utf8')).not.toContain(daemon.token);
    expect(code).toBe(0);
    expect(readFileSync(join(folder, 'args'), 'utf8')).toBe('-o|raw|-d|zebra;$(id)|');
    expect(readFileSync(join(folder, 'label'), 'utf8')).toContain(ids[0]);
  });

  test('that does not exist is the error of lp', async () => {
    const { env } = lp('echo "lp: The printer or class does not exist." >&2; exit 1');
    const { code, stderr } = await daemon.run(['label', 'LB-0', '--lp'], { env });
    expect(code).toBe(10);
    expect(stderr).toContain('the default queue did not accept the label: lp: The printer or class does not exist.');
  });

  test('that is stopped takes labels, and reports that they wait', async () => {
    const { env, folder } = lp('cat >/dev/null; echo "request id is line-3-17 (0 file(s))"');
    const lpstat = `#!/bin/sh\n[ "$LC_ALL $*" = 'C -p line-3' ] && printf 'printer line-3 disabled since Sun Nov 22 2026 -\\n\\tout of labels\\n'`;
    writeFileSync(join(folder, 'lpstat'), lpstat, { mode: 0o755 });
    const waits = 'queue line-3 is stopped (out of labels): its labels wait until it is enabled with cupsenable line-3';
    for (const [args, name] of [
      [['--lp'], 'the default queue'],
      [['--lp', 'line-3'], 'queue line-3'],
    ] as const) {
      const { code, stderr } = await daemon.run(['label', 'LB-0', ...args], { env });
      expect({ code, stderr }).toEqual({ code: 0, stderr: `warning: ${waits}\n1 label accepted by ${name}.\n` });
    }
    writeFileSync(join(folder, 'lpstat'), '#!/bin/sh\necho "printer line-3 is idle.  enabled since Sun Nov 22 2026"');
    const { stderr } = await daemon.run(['label', 'LB-0', '--lp', 'line-3'], { env });
    expect(stderr).toBe('1 label accepted by queue line-3.\n');
  });

  test('without lp is an error', async () => {
    const env = { PATH: temporaryFolder() };
    const { code, stderr } = await daemon.run(['label', 'LB-0', '--lp', 'zebra'], { env });
    expect(code).toBe(10);
    expect(stderr).toContain('queue zebra did not accept the label: the program lp is not installed');
  });
});

describe('--dry-run', () => {
  test('writes only ZPL to standard output', async () => {
    const { code, stdout, stderr } = await daemon.run(['label', 'LB-0', 'LB-9', '--dry-run']);
    expect(code).toBe(7);
    expect(stdout.match(/\^XA/g)).toHaveLength(1);
    expect(stdout).toMatch(/^\^XA[\s\S]*\^XZ\n$/);
    expect(stderr).toContain('LB-9  no device has this deviceId or serial number');
  });

  test('with --json, each line has the ZPL', async () => {
    const { rows } = await daemon.run(['label', 'LB-0', '--dry-run', '--json']);
    expect(rows).toMatchObject([{ deviceId: ids[0], status: 'success', zpl: expect.stringContaining('^XA') }]);
  });

  test('a template can have the activation code', async () => {
    const template = templateOf('^XA^FO9,9^FD{activationCode} {tag:lot}^FS^XZ');
    const { activationCode } = await daemon.call('GET', `/api/devices/${ids[0]}`);
    const { stdout } = await daemon.run(['label', 'LB-0', '--dry-run', '--template', template]);
    expect(stdout).toBe(`^XA^CI28^FO9,9^FH_^FD${activationCode} 7^FS^XZ\n`);
  });

  test('a VIEWER cannot print the activation code', async () => {
    const template = templateOf('^XA^FD{activationCode}^FS^XZ');
    await daemon.call('POST', '/api/users', { username: 'vera', password: 'correct horse battery', role: 'VIEWER' });
    const { token } = await daemon.call('POST', '/api/auth/login', {
      username: 'vera',
      password: 'correct horse battery',
    });
    const env = { DEVMGR_TOKEN: token };
    const args = ['--server', daemon.url, '--dry-run'];
    const refused = await daemon.run(['label', 'LB-0', ...args, '--template', template], { env });
    expect(refused.code).toBe(4);
    expect(refused.stderr).toContain(`the activation code of ${ids[0]} is not visible to your role`);
    expect((await daemon.run(['label', 'LB-0', ...args], { env })).code).toBe(0);
  });

  test.each([
    '{serial-number}',
    '{ serialNumber }',
    '{serialNumber,long}',
    '{model,1000}',
    '{QR:deviceId}',
    '{tag lot}',
    '{serialNumber',
    '{model 16}',
  ])('a mistyped placeholder is an error: %s', async wrong => {
    const template = templateOf(`^XA^FO9,9^FD${wrong}^FS^XZ`);
    const { code, stdout, stderr } = await daemon.run(['label', 'LB-0', '--dry-run', '--template', template]);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(`${wrong} in the template is not a placeholder`);
  });

  test('braces around other text stay as they are', async () => {
    const style = '<style>b{color:red} .a { margin: 0 } i{}</style>';
    const file = join(temporaryFolder(), 'labels.html');
    const template = templateOf(`${style}{serialNumber}`, 'label.html');
    expect((await daemon.run(['label', 'LB-0', '--html', file, '--template', template])).code).toBe(0);
    expect(readFileSync(file, 'utf8')).toContain(`${style}LB-0`);
  });

  test('a file of more devices than single requests are made for keeps its order', async () => {
    const { name, file } = await manyDevices(30);
    const { code, rows } = await daemon.run(['label', '--file', file, '--dry-run', '--json']);
    expect(code).toBe(7);
    expect(rows.map(({ serialNumber }) => serialNumber)).toEqual([
      ...Array.from({ length: 30 }, (_, n) => `${name}-${29 - n}`),
      'missing',
    ]);
    expect(rows.map(({ line }) => line)).toEqual(Array.from({ length: 31 }, (_, n) => n + 2));
    expect(rows.at(-1)).toMatchObject({ status: 'failed', code: 2001 });
  });

  test('the results of enroll: each device gets one label, and rows without one are counted', async () => {
    const file = templateOf(
      [
        'result,deviceId,serialNumber,deviceType,message',
        'failed,,LB-1,UKEY,it was unplugged before its check had ended',
        `registered,${ids[1]},LB-1,UKEY,`,
        'failed,,LB-ABSENT,UKEY,refused',
        'failed,,,UKEY,its serial number cannot be read',
        'spooled,,LB-0,UKEY,',
        `known,${ids[0]},LB-0,UKEY,`,
        `failed,${ids[2]},LB-2,UKEY,"registered, but not activated"`,
        '',
      ].join('\n'),
      'handed-out.csv',
    );
    const { code, stdout, stderr } = await daemon.run(['label', '--file', file, '--dry-run']);
    expect(stderr).toMatch(/^4 rows are skipped: enroll registered no key for them\.\n3 labels /);
    expect(code).toBe(0);
    expect([...stdout.matchAll(/QA,([^^]*)/g)].map(([, deviceId]) => deviceId)).toEqual([ids[1], ids[0], ids[2]]);
    const { rows } = await daemon.run(['label', '--file', file, '--dry-run', '--json']);
    expect(rows.map(({ line, status }) => [line, status])).toEqual([3, 7, 8].map(line => [line, 'success']));
  });

  test('devices that are named beside a file are those of its rows, with the names of persons', async () => {
    const file = templateOf(
      `result,deviceId,serialNumber,userId,name\nregistered,${ids[0]},LB-0,al,Al\nregistered,${ids[1]},LB-1,bo,Bo\nknown,${ids[1]},LB-1,bo,Bo Ott\n`,
      'handed-out.csv',
    );
    const template = templateOf('^XA^FD{name} {serialNumber}^FS^XZ', 'name.zpl');
    const of = (...names: string[]) =>
      daemon.run(['label', ...names, '--file', file, '--template', template, '--dry-run']);
    const { code, stdout } = await of('LB-1', ids[0]!);
    expect([code, [...stdout.matchAll(/FD([^^]*)/g)].map(([, text]) => text)]).toEqual([0, ['Bo Ott LB-1', 'Al LB-0']]);
    const absent = await of(ids[2]!);
    expect(absent).toMatchObject({ code: 2, stdout: '' });
    expect(absent.stderr).toContain(`${file} has no row of the device "${ids[2]}"`);
  });

  test('a line without a device fails in other files', async () => {
    const file = templateOf('deviceId,serialNumber,note\n,LB-0,\n,,x\n,,\n', 'list.csv');
    const { code, rows } = await daemon.run(['label', '--file', file, '--dry-run', '--json']);
    expect(code).toBe(7);
    expect(rows.map(({ status }) => status)).toEqual(['success', 'failed']);
  });

  async function manyDevices(count: number): Promise<{ readonly name: string; readonly file: string }> {
    const serials = Array.from({ length: count }, (_, n) => `MANY-${n}`);
    const devices = serials.map(serialNumber => ({ deviceType: 'UKEY', serialNumber, manufacturer: 'a', model: 'b' }));
    await daemon.call('POST', '/api/devices/batch-register', { devices });
    const file = join(temporaryFolder(), 'serials.csv');
    writeFileSync(file, ['serialNumber', ...serials.toReversed(), 'missing', ''].join('\n'));
    return { name: 'MANY', file };
  }
});

describe('--html', () => {
  test('writes a sheet without a network, with escaped texts and a QR code per label', async () => {
    const file = join(temporaryFolder(), 'labels.html');
    const { code, stderr } = await daemon.run(['label', ...ids, '--html', file, '--grid', '1x2', '--skip', '1']);
    expect(stderr).toBe(`3 labels in ${file}.\n`);
    expect(code).toBe(0);
    const html = readFileSync(file, 'utf8');
    expect(html.match(/<svg /g)).toHaveLength(3);
    expect(html.match(/<section>/g)).toHaveLength(2);
    expect(html).toContain('UKEY ^XZ~HS&lt;b&gt;');
    expect(html).not.toContain(hostile);
    expect(html).toContain(`default-src 'none'`);
    expect(html.replaceAll('http://www.w3.org/2000/svg', '')).not.toMatch(/https?:|src=|href=|@import|url\(/);
  });

  test('puts each label where the flags say', async () => {
    const file = join(temporaryFolder(), 'labels.html');
    const where = ['--size', '70x36', '--grid', '2x2', '--margin', '15.5,5', '--gap', '2.5,0', '--outline'];
    await daemon.run(['label', ...ids, '--html', file, ...where]);
    const html = readFileSync(file, 'utf8');
    const places = [...html.matchAll(/style="left:(\S+)mm;top:(\S+)mm"/g)].map(([, left, top]) => [left, top]);
    expect(places).toEqual([
      ['5', '15.5'],
      ['77.5', '15.5'],
      ['5', '51.5'],
      ['77.5', '51.5'],
    ]);
    expect(html).toContain('<div class="rule">100 mm</div>');
    expect(html).toContain('width: 70mm; height: 36mm');
  });

  test('shows no label as done before the sheet is written', async () => {
    const folder = join(temporaryFolder(), 'labels.html');
    mkdirSync(folder);
    const { code, stdout, stderr } = await daemon.run(['label', ...ids, '--html', folder, '--force']);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/cannot write/);
    const rows = await daemon.run(['label', ...ids, '--html', join(folder, 'labels.html'), '--json']);
    expect(rows.rows.map(({ deviceId, status }) => [deviceId, status])).toEqual(ids.map(id => [id, 'success']));
  });

  test('replaces a file with --force, or after a question', async () => {
    const file = templateOf('kept', 'labels.html');
    const args = ['label', 'LB-0', '--html', file];
    expect(await daemon.run(args)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('already exists'),
    });
    const ask = async (answer: string) => {
      const screen = atTerminal([process.execPath, programFile, ...args, '--server', daemon.url], {
        home: daemon.home,
        columns: 100,
      });
      await screen.answer(/Replace .*labels\.html\?/, answer);
      return screen.ended;
    };
    expect((await ask('n\r')).code).toBe(2);
    expect(readFileSync(file, 'utf8')).toBe('kept');
    expect((await ask('y\r')).code).toBe(0);
    expect(readFileSync(file, 'utf8')).toContain('LB-0');
    writeFileSync(file, 'kept');
    expect((await daemon.run([...args, '--force'])).code).toBe(0);
    expect(readFileSync(file, 'utf8')).toContain('LB-0');
  });

  test('a template is the content of a label', async () => {
    const file = join(temporaryFolder(), 'labels.html');
    const template = templateOf('<p title="{model}">{serialNumber}</p>', 'label.html');
    await daemon.run(['label', 'LB-0', '--html', file, '--template', template]);
    expect(readFileSync(file, 'utf8')).toContain('<p title="^XZ~HS&lt;b&gt;">LB-0</p>');
  });

  test.each([
    ['--size', '50'],
    ['--size', '300x25'],
    ['--grid', '2x9'],
    ['--grid', '1.5x1'],
    ['--margin', 'a,b'],
    ['--skip', '44'],
  ])('%s %s is refused before anything is read', async (flag, value) => {
    const file = join(temporaryFolder(), 'labels.html');
    const { code } = await devmgr(['label', 'LB-0', '--no-autostart', '--html', file, flag, value]);
    expect(code).toBe(2);
    expect(existsSync(file)).toBe(false);
  });
});

describe('enroll --label', () => {
  let keys: Daemon;
  beforeAll(async () => {
    keys = await startDaemon({ args: ['--simulate-keys', '3'] });
  });
  afterAll(() => discard(keys));

  test('a printer that fails loses no enrollment: the row has the reason, and the run continues', async () => {
    const labels: string[] = [];
    const read = reading(labels);
    const address = await printer((socket, nth) => {
      if (nth === 1) socket.once('data', () => socket.resetAndDestroy());
      else read(socket);
    });
    const out = join(temporaryFolder(), 'keys.csv');
    const template = templateOf('^XA^FD{serialNumber} {activationCode} {tag:lot}^FS^XZ');
    const where = ['--label', '--printer', address, '--template', template];
    const args = ['enroll', '--count', '3', '--tag', 'lot=7', '--out', out, '--json', ...where];
    const { code, rows } = await keys.run(args);
    expect(code).toBe(0);
    expect(rows.map(({ result, label }) => [result, label])).toEqual([
      ['registered', 'printed'],
      ['registered', 'failed'],
      ['registered', 'printed'],
    ]);
    const why = `label: failed: printer ${address} closed the connection before it had received the label`;
    expect(rows.map(({ message }) => message)).toEqual([null, why, null]);
    expect(readFileSync(out, 'utf8')).toContain(why);
    expect(labels).toEqual(
      [rows[0], rows[2]].map(row => expect.stringContaining(`${row.serialNumber} ${row.activationCode} 7^FS`)),
    );
    // Keys that are known have their labels.
    const again = await keys.run(['enroll', '--count', '3', '--json', ...where]);
    expect(again.rows.map(({ result, label }) => [result, label])).toEqual(Array(3).fill(['known', undefined]));
    expect(labels).toHaveLength(2);
  });

  test.each([
    [['--label'], 'no printer is named'],
    [['--printer', 'x'], '--label'],
  ])('%j is wrong usage', async (words, message) => {
    const { code, stderr } = await keys.run(['enroll', ...words]);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });
});

describe('wrong usage', () => {
  test.each([
    [['label', 'LB-0'], 'no printer is named'],
    [['label', '--dry-run'], 'no device is named'],
    [['label', 'LB-0', '--filter', 'status=ACTIVE', '--dry-run'], 'both "LB-0" and --filter name devices'],
    [['label', 'LB-0', '--printer', 'a', '--lp'], "'--printer"],
    [['label', 'LB-0', '--dry-run', '--template', '/nothing'], 'the template /nothing cannot be read'],
    [['label', 'LB-0', '--dry-run', '--size', '1x1'], '--html'],
    [['label', 'LB-0', '--lp', '-x'], ''],
  ])('%j', async (args, words) => {
    const { code, stderr } = await devmgr([...args, '--no-autostart']);
    expect(code).toBe(2);
    expect(stderr).toContain(words);
  });

  test('one name that is unknown has exit code 5', async () => {
    const { code, stderr } = await daemon.run(['label', 'LB-9', '--dry-run']);
    expect(code).toBe(5);
    expect(stderr).toContain('no device has the deviceId or serial number "LB-9"');
  });

  test('results of another command are not continued', async () => {
    const out = join(temporaryFolder(), 'codes.csv');
    writeFileSync(out, 'line,operation,deviceId,serialNumber,status\n,LOCK,DEV-1,A,success\n');
    const { code, stderr } = await daemon.run(['label', 'LB-0', '--printer', 'x', '--out', out, '--resume']);
    expect(code).toBe(2);
    expect(stderr).toContain('does not contain results of LABEL');
  });
});

needs(['script'], 'bsdutils')('at a terminal of 60 columns', () => {
  test('no line is longer', async () => {
    const address = await printer(reading([]));
    for (const words of [['--help'], ['LB-0', '--printer', address], ['LB-0', '--printer', '127.0.0.1:1']]) {
      const screen = atTerminal([process.execPath, programFile, 'label', ...words], { home: daemon.home, columns: 60 });
      const { stdout } = await screen.ended;
      for (const line of withoutColors(stdout).split(/\r*\n/)) expect([...line].length, line).toBeLessThanOrEqual(60);
    }
  });
});
