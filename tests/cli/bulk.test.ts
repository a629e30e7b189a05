/** activate, lock, unlock, deactivate and code for many devices. */
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { needs } from '../support/needs.ts';
import { bulkDevices, fileOf, linesOf } from './bulk-devices.ts';
import { adminPassword, type Daemon, discard, programFile, startDaemon, temporaryFolder } from './program.ts';
import { relayTo } from './relay.ts';
import { atTerminal } from './screen.ts';

let daemon: Daemon;
beforeAll(async () => {
  daemon = await startDaemon();
});
afterAll(() => discard(daemon));

const { registered, update, stateOf, codeOf, countOf } = bulkDevices(() => daemon);

describe('several names', () => {
  test('one name prints what it printed before', async () => {
    const { ids } = await registered(1, true);
    const { code, json } = await daemon.run(['lock', ids[0]!, '--reason', 'r', '--json']);
    expect(code).toBe(0);
    expect(json).toEqual({
      deviceId: ids[0],
      status: 'LOCKED',
      lockedAt: expect.any(String),
      lockReason: 'r',
      version: 3,
    });
  });

  test('are changed in one request, by deviceId and by serial number', async () => {
    const { ids, devices } = await registered(3, true);
    const { code, stdout, stderr } = await daemon.run([
      'lock',
      ids[0]!,
      devices[1]!.serialNumber,
      ids[2]!,
      '--reason',
      'audit',
    ]);
    expect(code).toBe(0);
    expect(stdout.split('\n').slice(0, 3)).toEqual(
      devices.map(({ deviceId, serialNumber }) => `✓ ${deviceId}  LOCKED  ${serialNumber}`),
    );
    expect(stderr).toContain('3 devices locked');
    const quiet = await daemon.run(['unlock', ...ids, '--quiet']);
    expect(quiet).toMatchObject({ code: 0, stderr: '', stdout: `${ids.join('\n')}\n` });
  });

  test('are given tags, and lose others', async () => {
    const { ids } = await registered(3);
    const { code, stderr } = await daemon.run(['update', ...ids, '--tag', 'site=berlin', '--remove-tag', 'lot']);
    expect([code, stderr]).toEqual([0, expect.stringContaining('3 devices updated')]);
    const found = await daemon.run(['list', '--tag', 'site=berlin', '--json']);
    expect(found.json.list.map(({ deviceId }: { deviceId: string }) => deviceId).sort()).toEqual([...ids].sort());
    const preview = await daemon.run(['update', '--filter', 'tag=site=berlin', '--tag', 'site=bonn', '--dry-run']);
    expect([preview.code, preview.stdout]).toEqual([0, expect.stringContaining('would be updated')]);
  });

  test('with --json print a line for each device, and end with 7 if one fails', async () => {
    const { ids } = await registered(2, true);
    const { code, rows, stderr } = await daemon.run([
      'lock',
      ids[0]!,
      'NO-SUCH',
      ids[1]!,
      '--reason',
      'audit',
      '--json',
    ]);
    expect(code).toBe(7);
    expect(rows).toMatchObject([
      { deviceId: ids[0], operation: 'LOCK', status: 'success', data: { status: 'LOCKED' } },
      { serialNumber: 'NO-SUCH', status: 'failed', code: 2001 },
      { deviceId: ids[1], status: 'success' },
    ]);
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'PARTIAL_FAILURE' } });
  });

  test('are activated with the codes of the registry', async () => {
    const { ids, devices } = await registered(2);
    const { code, rows } = await daemon.run([
      'activate',
      ids[0]!,
      devices[1]!.serialNumber,
      'DEV-99999999',
      '--user',
      'bob',
      '--json',
    ]);
    expect(code).toBe(7);
    expect(rows).toMatchObject([
      { deviceId: ids[0], data: { userId: 'bob' } },
      { deviceId: ids[1], data: { userId: 'bob' } },
      { deviceId: 'DEV-99999999', status: 'failed', code: 2001 },
    ]);
  });

  test('get new codes, which are shown', async () => {
    const { ids, devices } = await registered(2);
    const { code, stdout } = await daemon.run(['replace-code', ...ids, '--reason', 'lost']);
    expect(code).toBe(0);
    for (const { deviceId, activationCode } of devices) {
      const fresh = await codeOf(deviceId);
      expect(fresh).not.toBe(activationCode);
      expect(stdout).toContain(`✓ ${deviceId}  ${fresh}`);
    }
  });

  test('are retired with --yes and a password; a wrong password changes nothing', async () => {
    const { ids } = await registered(2);
    const args = ['deactivate', ...ids, '--reason', 'worn', '--password-stdin'];
    expect((await daemon.run(args, { input: `${adminPassword}\n` })).code).toBe(2);
    const wrong = await daemon.run([...args, '--yes'], { input: 'not the password\n' });
    expect([wrong.code, await stateOf(ids[0]!)]).toEqual([3, 'INACTIVE']);
    expect((await daemon.run([...args, '--yes'], { input: `${adminPassword}\n` })).code).toBe(0);
    expect(await stateOf(ids[1]!)).toBe('DEACTIVATED');
  });
});

/** Runs a command as it was printed. */
const typed = (line: string) => daemon.run(line.replace(/^devmgr /, '').split(' '));

describe('a run', () => {
  test('is recorded in the home, and the command that it prints undoes it: only what it has changed', async () => {
    const { name, ids } = await registered(4, true);
    await daemon.run(['lock', ids[3]!, '--reason', 'lost']);
    const { code, stderr } = await daemon.run(['lock', ...ids, '--reason', 'audit']);
    expect([code, await countOf(name, 'LOCKED')]).toEqual([7, 4]);
    const undo = /^To undo it: (devmgr unlock --file (\S+) --yes)$/m.exec(stderr)!;
    expect(statSync(undo[2]!).mode & 0o777).toBe(0o600);
    const undone = await typed(undo[1]!);
    expect([undone.code, await stateOf(ids[0]!), await stateOf(ids[3]!)]).toEqual([0, 'ACTIVE', 'LOCKED']);
    const redone = await typed(/^To undo it: (.*)$/m.exec(undone.stderr)![1]!);
    expect([redone.code, await countOf(name, 'LOCKED')]).toEqual([0, 4]);
  });

  test('that cannot be undone names the file with what it has changed', async () => {
    const { ids } = await registered(2);
    const { stderr } = await daemon.run(['replace-code', ...ids, '--reason', 'lost']);
    const [, file] = /^What was changed is in (\S+)\.$/m.exec(stderr)!;
    const codes = await Promise.all(ids.map(codeOf));
    expect(linesOf(file!).slice(1)).toEqual(codes.map(fresh => expect.stringContaining(fresh)));
  });

  test('changes the devices also if the home cannot have its record, and warns', async () => {
    const { ids } = await registered(2, true);
    rmSync(join(daemon.home, 'changes'), { recursive: true, force: true });
    writeFileSync(join(daemon.home, 'changes'), '');
    const { code, stderr } = await daemon.run(['lock', ...ids, '--reason', 'audit']);
    rmSync(join(daemon.home, 'changes'));
    expect([code, stderr]).toEqual([0, expect.stringMatching(/warning: \S+ does not have all changes of this run/)]);
  });
});

describe('more than 500 devices', () => {
  test('are changed only if --max allows it: by a filter, a file and a stream', async () => {
    const { name, ids } = await registered(501, true);
    const { file } = fileOf(ids.join('\n'));
    const lock = (...more: string[]) => ['lock', '--reason', 'r', '--yes', ...more];
    const refused = { code: 2, stdout: '', stderr: expect.stringContaining('more than 500 devices would be locked') };
    expect(await daemon.run(lock('--filter', `manufacturer=${name}`))).toMatchObject(refused);
    expect(await daemon.run(lock('--file', file))).toMatchObject(refused);
    expect(await daemon.run(lock('--file', '-'), { input: ids.join('\n') })).toMatchObject(refused);
    expect(await daemon.run(lock(...ids.slice(0, 3), '--max', '2'))).toMatchObject({ code: 2 });
    expect(await countOf(name, 'LOCKED')).toBe(0);
    const { code, stderr } = await daemon.run(lock('--filter', `manufacturer=${name}`, '--max', '501'));
    expect([code, await countOf(name, 'LOCKED')]).toEqual([0, 501]);
    const [, undo] = /^To undo it: (.*)$/m.exec(stderr)!;
    expect([(await typed(undo!)).code, await countOf(name, 'ACTIVE')]).toEqual([0, 501]);
  });
});

describe('--dry-run', () => {
  test('has a line for each device, asks for nothing and changes nothing', async () => {
    const { name, ids, devices } = await registered(3, true);
    await daemon.run(['lock', ids[2]!, '--reason', 'lost']);
    const plan = async (...args: string[]) => {
      const { code, rows, stderr } = await daemon.run([...args, '--dry-run', '--json']);
      expect(stderr).toBe('');
      return [code, rows.map(({ deviceId, serialNumber, status }) => [deviceId ?? serialNumber, status])];
    };
    const wanted = [
      [ids[0], 'planned'],
      [ids[1], 'planned'],
      [ids[2], 'failed'],
    ];
    const { file } = fileOf([ids[0], devices[1]!.serialNumber, ids[2], 'NO-SUCH'].join('\n'));
    expect(await plan('lock', '--filter', `manufacturer=${name}`)).toEqual([7, wanted]);
    expect(await plan('lock', '--file', file)).toEqual([7, [...wanted, ['NO-SUCH', 'failed']]]);
    expect(await plan('deactivate', ...ids)).toEqual([0, ids.map(id => [id, 'planned'])]);
    expect(await plan('replace-code', ids[0]!)).toEqual([0, [[ids[0], 'planned']]]);
    const many = fileOf([...ids, ...Array.from({ length: 30 }, (_, n) => `NONE-${n}`)].join('\n'));
    expect((await plan('unlock', '--file', many.file))[1]).toContainEqual([ids[2], 'planned']);
    const { stderr } = await daemon.run(['lock', ...ids, '--dry-run']);
    expect(stderr).toBe('Dry run: 2 devices would be locked, 1 would be refused. Nothing was changed.\n');
    expect(await Promise.all(ids.map(stateOf))).toEqual(['ACTIVE', 'ACTIVE', 'LOCKED']);
  });
});

describe('--file', () => {
  test('2,500 devices are changed in three requests', async () => {
    const { name, ids } = await registered(2500, true);
    const { file } = fileOf(`${ids.join('\n')}\n`);
    let batches = 0;
    const url = await relayTo(daemon.url, forward => {
      batches++;
      void forward();
    });
    const env = { DEVMGR_TOKEN: daemon.token };
    const { code, rows } = await daemon.run(
      ['lock', '--file', file, '--reason', 'r', '--yes', '--max', '2500', '--json', '--server', url],
      { env },
    );
    expect([code, rows.length, batches]).toEqual([0, 2500, 3]);
    expect(rows.map(({ line }: { line: number }) => line)).toEqual(ids.map((_, n) => n + 1));
    expect(await countOf(name, 'LOCKED')).toBe(2500);
  });

  test('may be CSV, with a code and a user on each line; --user is for the others', async () => {
    const { devices } = await registered(3);
    const [a, b, c] = devices;
    const { file } = fileOf(
      `user,Serial Number,note,activation code\nada,${a!.serialNumber},x,${a!.activationCode}\n,${b!.serialNumber},"x,\ny",${b!.activationCode}\nbob,${c!.serialNumber},x,\n`,
    );
    const { code, rows } = await daemon.run(['activate', '--file', file, '--user', 'carol', '--yes', '--json']);
    expect(code).toBe(7);
    expect(rows).toMatchObject([
      { line: 2, deviceId: a!.deviceId, data: { userId: 'ada' } },
      { line: 3, deviceId: b!.deviceId, data: { userId: 'carol' } },
      { line: 5, serialNumber: c!.serialNumber, status: 'failed', code: 1001, message: 'activationCode is missing' },
    ]);
  });

  test('may be what register has written', async () => {
    const { file, out } = fileOf(
      'type,serial,manufacturer,model\nUKEY,CHAIN-1,Acme,One\nUKEY,CHAIN-2,Acme,One\n',
      'keys.csv',
    );
    await daemon.run(['register', '--file', file, '--out', out]);
    const { code, stdout } = await daemon.run(['activate', '--file', out, '--user', 'ada', '--yes', '--quiet']);
    expect([code, stdout.split('\n').length]).toEqual([0, 3]);
  });

  test('may be standard input', async () => {
    const { ids, devices } = await registered(2, true);
    const input = `\n${ids[0]}\r\n\n  ${devices[1]!.serialNumber}  `;
    const { code, rows } = await daemon.run(['lock', '--file', '-', '--reason', 'r', '--yes', '--json'], { input });
    expect([code, ...rows.map(({ line, deviceId }) => [line, deviceId])]).toEqual([0, [2, ids[0]], [4, ids[1]]]);
  });

  test('may be UTF-16 with a byte order mark', async () => {
    const { ids } = await registered(1, true);
    const { file } = fileOf('');
    for (const [verb, bytes] of [
      ['lock', Buffer.from(`\ufeff${ids[0]}\n`, 'utf16le')],
      ['unlock', Buffer.from(`\ufeff${ids[0]}\n`, 'utf16le').swap16()],
    ] as const) {
      writeFileSync(file, bytes);
      const reason = verb === 'lock' ? ['--reason', 'r'] : [];
      expect((await daemon.run([verb, '--file', file, '--yes', ...reason])).code).toBe(0);
    }
  });

  test.each([
    ['an empty file', '', 'is empty'],
    ['CSV without a column that names the device', 'model,user\na,b\n', 'has no column deviceId or serialNumber'],
    ['a column twice', 'sn,serial\na,b\n', 'has two columns for serialNumber'],
  ])('%s is refused', async (_, content, message) => {
    const { file } = fileOf('');
    writeFileSync(file, Buffer.from(content, 'latin1'));
    const { code, stderr } = await daemon.run(['unlock', '--file', file, '--yes']);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });

  test('lines that cannot be sent fail with their number, and the others are changed', async () => {
    const { ids } = await registered(1, true);
    const { file } = fileOf(`deviceId\n${'x'.repeat(201)}\n\u{fffd}\n${ids[0]},extra\n${ids[0]}\n`);
    const { code, rows } = await daemon.run(['lock', '--file', file, '--reason', 'r', '--yes', '--json']);
    expect(code).toBe(7);
    expect(rows.map(({ line, status, message }) => [line, status, message])).toEqual([
      [2, 'failed', 'deviceId has more than 200 characters'],
      [3, 'failed', 'deviceId is not valid UTF-8'],
      [4, 'failed', 'the line has 2 cells, expected 1'],
      [5, 'success', 'success'],
    ]);
  });
});

describe('--filter', () => {
  test('selects with the flags of list, and shows what it has found', async () => {
    const { name, ids } = await registered(4, true);
    await update('LOCK', [{ deviceId: ids[0], reason: 'r' }]);
    const args = ['--filter', `manufacturer=${name}`, '--filter', 'status=active,LOCKED', '--yes'];
    const { code, stderr } = await daemon.run(['lock', ...args, '--reason', 'all']);
    expect(code).toBe(7);
    expect(stderr).toMatch(/4 devices match: (1 LOCKED, 3 ACTIVE|3 ACTIVE, 1 LOCKED)\. 1 device will be refused/);
    expect(stderr).toContain('1 of 4 devices failed, 3 locked');
    expect(await countOf(name, 'LOCKED')).toBe(4);
    const none = await daemon.run(['lock', '--filter', `manufacturer=${name}-none`, '--yes', '--reason', 'r']);
    expect(none).toMatchObject({ code: 0, stdout: '', stderr: 'No device matches.\n' });
  });

  test('with --resume counts only what is left', async () => {
    const { name, ids } = await registered(2, true);
    await update('LOCK', [{ deviceId: ids[0], reason: 'r' }]);
    const out = join(temporaryFolder(), 'done.csv');
    const args = ['lock', '--filter', `manufacturer=${name}`, '--yes', '--reason', 'r', '--out', out];
    expect((await daemon.run(args)).code).toBe(7);
    await update('UNLOCK', [{ deviceId: ids[0] }]);
    const again = await daemon.run([...args, '--resume']);
    expect(again).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^1 device matches: 1 ACTIVE\. 1 device changed/),
    });
    const { code, stderr } = await daemon.run([...args, '--resume']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: 'Nothing to do: every device is done.\n' });
  });

  test('activates with the codes of the registry', async () => {
    const { name } = await registered(2);
    const { code } = await daemon.run(['activate', '--filter', `manufacturer=${name}`, '--user', 'bob', '--yes']);
    expect([code, await countOf(name, 'ACTIVE')]).toEqual([0, 2]);
  });

  test.each([
    ['colour=red', '--filter has no filter "colour"'],
    ['status', '--filter status has no value'],
    ['status=', '--filter status has no value'],
    ['status=ACTIVE,BROKEN', '--filter status=ACTIVE,BROKEN is not valid'],
    ['created-from=soon', '--filter created-from must be a time'],
    ['tag=lot', '--filter tag "lot" is not NAME=VALUE'],
    ['constructor=x', '--filter has no filter "constructor"'],
  ])('%s is refused', async (pair, message) => {
    const { code, stderr } = await daemon.run(['unlock', '--filter', pair, '--yes']);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });
});

test.each([
  ['a filter without --yes', ['unlock', '--filter', 'status=LOCKED'], 'add --yes'],
  ['a file without --yes', ['unlock', '--file', programFile], 'add --yes'],
  ['a name and a filter', ['unlock', 'DEV-1', '--filter', 'status=LOCKED', '--yes'], 'both "DEV-1" and --filter'],
  ['--plugged and two names', ['unlock', 'DEV-1', 'DEV-2', '--plugged'], '--plugged names one device'],
  ['--resume without --out', ['unlock', 'DEV-1', 'DEV-2', '--resume'], "needs option '--out'"],
  ['--out without a device', ['unlock', '--out', 'results.csv'], 'no device is named'],
  ['--code for two devices', ['activate', 'DEV-1', 'DEV-2', '--code', 'A', '--user', 'u'], '--code is for one device'],
])('%s is a usage error', async (_, args, message) => {
  const { code, stderr } = await daemon.run(args);
  expect(code).toBe(2);
  expect(stderr).toContain(message);
});

describe('--out', () => {
  test('has a line for each device; another run neither overwrites it nor mixes operations', async () => {
    const { ids } = await registered(2, true);
    const { file, out } = fileOf(`${ids.join('\n')}\nNONE-1\n`);
    const args = ['--file', file, '--yes', '--out', out];
    const first = await daemon.run(['lock', ...args, '--reason', 'r']);
    expect([first.code, first.stdout]).toEqual([7, '']);
    expect(first.stderr).toContain('line 3     ✗ -  NONE-1');
    const written = readFileSync(out, 'utf8');
    expect(linesOf(out)).toMatchObject([
      'line,operation,deviceId,serialNumber,status,activationCode,expiresAt,code,message',
      expect.stringContaining(`1,LOCK,${ids[0]},`),
      expect.stringContaining(`2,LOCK,${ids[1]},`),
      expect.stringContaining('3,LOCK,,NONE-1,failed,,,2001,'),
    ]);
    expect((await daemon.run(['lock', ...args, '--reason', 'r'])).stderr).toContain('has results of an earlier run');
    expect((await daemon.run(['unlock', ...args, '--resume'])).stderr).toContain('does not contain results of UNLOCK');
    expect(readFileSync(out, 'utf8')).toBe(written);
  });

  test.each(['my notes\n', 'my notes', '{"a":1}\n', '{"a"\n', 'line,serialNumber,status\n2,A,success\n'])(
    'a file that contains %j is not continued',
    async content => {
      const { file, out } = fileOf('DEV-1\n');
      writeFileSync(out, content);
      const args = ['unlock', '--file', file, '--yes', '--out', out];
      for (const flags of [[], ['--resume']]) expect((await daemon.run([...args, ...flags])).code).toBe(2);
      expect(readFileSync(out, 'utf8')).toBe(content);
    },
  );

  test.each([[], ['--resume']])(
    'a file with only the header row, the results of an empty run, can be used: %j',
    async (...flags) => {
      const { ids } = await registered(1, true);
      const { file, out } = fileOf(`${ids[0]}\n`);
      const header = 'line,operation,deviceId,serialNumber,status,activationCode,expiresAt,code,message';
      writeFileSync(out, `${header}\n`);
      const { code } = await daemon.run(['lock', '--file', file, '--yes', '--out', out, '--reason', 'r', ...flags]);
      expect({ code, lines: linesOf(out) }).toEqual({
        code: 0,
        lines: [header, expect.stringContaining(`,${ids[0]},`)],
      });
    },
  );

  test('with --resume, only what failed is tried again', async () => {
    const { name, devices, ids } = await registered(2, true);
    const late = `LATE-${name}`;
    const { file, out } = fileOf(`${devices[0]!.serialNumber}\n${late}\n`);
    const args = ['lock', '--file', file, '--yes', '--out', out, '--reason', 'r'];
    expect((await daemon.run(args)).code).toBe(7);
    const { deviceId, activationCode } = await daemon.register(late);
    await update('ACTIVATE', [{ deviceId, activationCode, userId: 'u' }]);
    writeFileSync(file, `${ids[0]}\n${late}\n`);
    const again = await daemon.run([...args, '--resume']);
    expect(again).toMatchObject({ code: 0, stderr: expect.stringContaining('1 device locked') });
    expect(linesOf(out)).toHaveLength(4);
    expect((await daemon.run([...args, '--resume'])).stderr).toContain('Nothing to do');
  });

  test('a run that is refused leaves no file', async () => {
    const { file, out } = fileOf('DEV-1\n');
    const env = { DEVMGR_TOKEN: 'a.b.c', DEVMGR_SERVER: daemon.url };
    expect((await daemon.run(['unlock', '--file', file, '--yes', '--out', out], { env })).code).toBe(3);
    expect([out, `${out}.resume.json`, `${out}.lock`].filter(existsSync)).toEqual([]);
  });
});

test('a session that is revoked between two batches ends the run with the login and --resume as what to do', async () => {
  const { name, ids } = await registered(1100, true);
  const { file, out } = fileOf(ids.join('\n'));
  const data = await daemon.call('POST', '/api/tokens', { name: `revoked-${name}`, role: 'DEALER', expiresInDays: 1 });
  let batches = 0;
  const url = await relayTo(daemon.url, async forward => {
    if (++batches === 2) await daemon.call('POST', `/api/tokens/${data.tokenId}/revoke`);
    await forward();
  });
  const args = ['lock', '--file', file, '--reason', 'r', '--yes', '--max', '1100', '--out', out, '--server', url];
  const { code, stderr } = await daemon.run(args, { env: { DEVMGR_TOKEN: data.token } });
  expect([code, await countOf(name, 'LOCKED')]).toEqual([3, 1000]);
  expect(stderr).toMatch(/repeat the command with --resume; before that, unset or replace DEVMGR_TOKEN/);
});

test('a reason that the interface refuses is a usage error, not a failure of each device', async () => {
  const { code, stdout, stderr } = await daemon.run(['lock', 'DEV-1', 'DEV-2', '--reason', 'x'.repeat(201)]);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toContain('--reason');
});

needs(['script'], 'bsdutils')('on a terminal', () => {
  const screenOf = (args: readonly string[]) =>
    atTerminal([process.execPath, programFile, ...args], { home: daemon.home });

  test('one question shows how many devices are changed; no is the default', async () => {
    const { name } = await registered(2, true);
    const { out } = fileOf('');
    const args = ['lock', '--filter', `manufacturer=${name}`, '--out', out];
    const refused = screenOf(args);
    await refused.answer(/Reason:/, 'audit');
    await refused.shows(/2 devices match: 2 ACTIVE\./);
    await refused.answer(/Lock 2 devices\?/, '');
    expect((await refused.ended).code).toBe(2);
    expect(await countOf(name, 'ACTIVE')).toBe(2);
    expect(existsSync(out)).toBe(false);
    const agreed = screenOf([...args, '--reason', 'audit']);
    await agreed.answer(/Lock 2 devices\?/, 'y');
    expect((await agreed.ended).code).toBe(0);
    expect(await countOf(name, 'LOCKED')).toBe(2);
  });

  test('several devices are retired after their number is typed', async () => {
    const { ids } = await registered(2);
    const { file } = fileOf(`${ids.join('\n')}\n`);
    const screen = screenOf(['deactivate', '--file', file, '--reason', 'worn']);
    await screen.answer(/Type 2 to continue/, '2');
    await screen.answer(/administrator's password/, adminPassword);
    expect((await screen.ended).code).toBe(0);
    expect(await stateOf(ids[0]!)).toBe('DEACTIVATED');
  });
});
