/** Commands whose device, user, version, token or profile is missing: at a terminal a list offers what fits, elsewhere they fail. */
import { execFileSync } from 'node:child_process';
import { readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { needs } from '../support/needs.ts';
import { adminPassword, type Daemon, discard, programFile, startDaemon, temporaryFolder } from './program.ts';
import { atTerminal, ctrl, enter, keys, type Screen, shellAtTerminal, withoutColors } from './screen.ts';

let daemon: Daemon;

beforeAll(async () => {
  daemon = await startDaemon();
});
afterAll(() => discard(daemon));

interface Device {
  readonly deviceId: string;
  readonly serialNumber: string;
}

let next = 0;
/** New devices whose serial numbers have this text in common with no others, in a state. */
async function devices(count: number, state: 'INACTIVE' | 'ACTIVE' | 'LOCKED', user = 'alice') {
  const serials = `P${++next}X`;
  const made: Device[] = [];
  for (let n = 0; n < count; n++) {
    const serialNumber = `${serials}-${n}`;
    const { deviceId, activationCode } = (await daemon.register(serialNumber)) as {
      deviceId: string;
      activationCode: string;
    };
    if (state !== 'INACTIVE')
      await daemon.call('POST', '/api/devices/activate', { deviceId, activationCode, userId: user });
    if (state === 'LOCKED') await daemon.call('POST', `/api/devices/${deviceId}/lock`, { reason: 'lost' });
    made.push({ deviceId, serialNumber });
  }
  return { serials, made };
}

const stateOf = async ({ deviceId }: Device) =>
  ((await daemon.call('GET', `/api/devices/${deviceId}`)) as { status: string }).status;

const ask = (args: readonly string[], columns = 100, home = daemon.home): Screen =>
  atTerminal([process.execPath, programFile, ...args], { home, columns });

/** Types the serial number of a device into a list to mark, and waits until the list has only that device. */
async function find(screen: Screen, { deviceId, serialNumber }: Device): Promise<void> {
  screen.type(`${ctrl.u}${serialNumber}`);
  await screen.shows(new RegExp(`: ${serialNumber}\\s+❯◯ ${deviceId} `));
}

/** Finds the device and marks it; so many are marked then. */
async function mark(screen: Screen, device: Device, count = 1): Promise<void> {
  await find(screen, device);
  screen.type(keys.space);
  await screen.shows(new RegExp(`❯◉ ${device.deviceId} [\\s\\S]*${count} marked`));
}

needs('script', 'bsdutils')('a device that is not named', () => {
  test('is picked from a list that searches its serial number while a person types', async () => {
    const { serials, made } = await devices(3, 'ACTIVE');
    const screen = ask(['show']);
    await screen.shows(/Device[^\n]*:[\s\S]*choose/);
    screen.type(`${serials.toLowerCase()}-1`);
    await screen.shows(new RegExp(`❯ ${made[1]!.deviceId} +${serials}-1`));
    screen.type(keys.enter);
    const { code, stdout } = await screen.ended;
    expect({ code, shown: stdout.includes(`serial number`) }).toEqual({ code: 0, shown: true });
  });

  test('is found by its id and by its user', async () => {
    const { made } = await devices(1, 'ACTIVE', 'user-of-one');
    const screen = ask(['show']);
    await screen.shows(/choose/);
    screen.type(made[0]!.deviceId.toLowerCase());
    await screen.shows(new RegExp(`❯ ${made[0]!.deviceId} `));
    screen.type(`${ctrl.u}user-of-one`);
    await screen.shows(new RegExp(`❯ ${made[0]!.deviceId}[^\n]*user-of-one`));
    screen.type(ctrl.c);
    expect((await screen.ended).code).toBe(130);
  });

  test.each([
    ['activate', 'INACTIVE'],
    ['lock', 'ACTIVE'],
    ['unlock', 'LOCKED'],
    ['replace-code', 'INACTIVE'],
  ] as const)('can only be one that %s works on', async (verb, state) => {
    const all = { INACTIVE: devices(1, 'INACTIVE'), ACTIVE: devices(1, 'ACTIVE'), LOCKED: devices(1, 'LOCKED') };
    const fitting = (await all[state]).made[0]!;
    const others = await Promise.all(Object.entries(all).map(([name, made]) => (name === state ? null : made)));
    const screen = ask([verb]);
    await screen.shows(/0 marked/);
    await find(screen, fitting);
    for (const other of others.filter(made => made !== null)) {
      screen.type(`${ctrl.u}${other.made[0]!.serialNumber}`);
      await screen.shows(/Nothing matches/);
    }
    screen.type(ctrl.c);
    expect((await screen.ended).code).toBe(130);
  });

  test('can be any that is not retired for deactivate, which then asks for its id', async () => {
    const { made } = await devices(1, 'LOCKED');
    const [device] = made;
    const screen = ask(['deactivate', '--reason', 'worn out']);
    await screen.shows(/0 marked/);
    await mark(screen, device!);
    screen.type(keys.enter);
    await screen.answer(/Type DEV-\d+ to continue/, device!.deviceId);
    await screen.answer(/password/, adminPassword);
    expect({ code: (await screen.ended).code, state: await stateOf(device!) }).toEqual({
      code: 0,
      state: 'DEACTIVATED',
    });
  });
});

needs('script', 'bsdutils')('a list of devices to mark', () => {
  test('changes all that are marked after one confirmation, whatever was searched for in between', async () => {
    const { made } = await devices(3, 'LOCKED');
    const screen = ask(['unlock']);
    await screen.shows(/0 marked/);
    await mark(screen, made[0]!, 1);
    await mark(screen, made[2]!, 2);
    screen.type(keys.enter);
    await screen.shows(/Unlock 2 devices\? \(y\/N\)/);
    screen.type('y\r');
    expect((await screen.ended).code).toBe(0);
    expect(await Promise.all(made.map(stateOf))).toEqual(['ACTIVE', 'LOCKED', 'ACTIVE']);
  });

  test('changes nothing if the confirmation is not given', async () => {
    const { made } = await devices(1, 'ACTIVE');
    const screen = ask(['lock', '--reason', 'lost']);
    await screen.shows(/0 marked/);
    await mark(screen, made[0]!);
    screen.type(keys.enter);
    await screen.answer(/Lock 1 device\?/, '');
    expect({ code: (await screen.ended).code, state: await stateOf(made[0]!) }).toEqual({ code: 2, state: 'ACTIVE' });
  });

  test('takes activation codes from the registry, and the user from the list of users or as typed', async () => {
    const { made } = await devices(1, 'INACTIVE');
    const screen = ask(['activate', '--yes']);
    await screen.shows(/0 marked/);
    await mark(screen, made[0]!);
    screen.type(keys.enter);
    await screen.shows(/User to bind it to:[\s\S]*USR-1 +admin/);
    screen.type('bob');
    await screen.shows(/❯ bob[\s\S]*exactly this text/);
    screen.type(keys.enter);
    expect((await screen.ended).code).toBe(0);
    const { userId } = (await daemon.call('GET', `/api/devices/${made[0]!.deviceId}`)) as { userId: string };
    expect(userId).toBe('bob');
  });

  test('binds the name of an account, also if its id is typed and the person agrees', async () => {
    const { made } = await devices(2, 'INACTIVE');
    const userOf = async (n: number) => (await daemon.call('GET', `/api/devices/${made[n]!.deviceId}`)).userId;
    const line = async (n: number) => {
      const { deviceId, activationCode } = await daemon.call('GET', `/api/devices/${made[n]!.deviceId}`);
      return ['activate', deviceId, '--code', activationCode];
    };
    const picked = ask(await line(0));
    await picked.shows(/User to bind it to:[\s\S]*USR-1 +admin/);
    picked.type(keys.enter);
    expect([(await picked.ended).code, await userOf(0)]).toEqual([0, 'admin']);
    const typed = ask([...(await line(1)), '--user', 'USR-1']);
    await typed.answer(/USR-1 is the id of the account admin\. Bind to its name instead\?/, 'y');
    expect([(await typed.ended).code, await userOf(1)]).toEqual([0, 'admin']);
  });

  test('shows persons, and searches their names and addresses, also for what --user has', async () => {
    const { made } = await devices(2, 'INACTIVE');
    const person = { userName: 'picked.person', name: 'Zoe Picked', email: 'zp@example.com' };
    const { personId } = await daemon.call('POST', '/api/people', person);
    const activate = async (n: number, ...flags: string[]) => {
      const { deviceId, activationCode } = await daemon.call('GET', `/api/devices/${made[n]!.deviceId}`);
      return ask(['activate', deviceId, '--code', activationCode, ...flags]);
    };
    const userOf = async (n: number) => (await daemon.call('GET', `/api/devices/${made[n]!.deviceId}`)).userId;
    const searched = await activate(0);
    await searched.shows(/User to bind it to:[\s\S]*❯ picked\.person +Zoe Picked +zp@example\.com/);
    searched.type('elsewhere');
    await searched.shows(/❯ elsewhere[\s\S]*exactly this text/);
    searched.type(`${ctrl.u}zp@`);
    await searched.shows(/: zp@\s+❯ picked\.person/);
    searched.type(keys.enter);
    expect([(await searched.ended).code, await userOf(0)]).toEqual([0, 'picked.person']);
    const named = await activate(1, '--user', 'zoe');
    await named.shows(/No person has the user name zoe\. Person: zoe\s+❯ picked\.person/);
    named.type(keys.enter);
    expect([(await named.ended).code, await userOf(1)]).toEqual([0, 'picked.person']);
    // Without an active person, accounts are offered, as the other tests expect.
    await daemon.call('POST', `/api/people/${personId}/leave`, { reason: 'end of the test' });
  });

  test.each([60, 40])('keeps its rows within a terminal that is made %i columns wide', async columns => {
    const { serials } = await devices(4, 'ACTIVE', 'a-user-with-a-long-name-for-a-narrow-terminal');
    const screen = ask(['lock'], 100);
    await screen.shows(/0 marked/);
    const { pid } = screen.child;
    const program = Number(
      execFileSync('pgrep', ['-P', String(pid)], { encoding: 'utf8' })
        .trim()
        .split('\n')[0],
    );
    execFileSync('stty', ['-F', readlinkSync(`/proc/${program}/fd/0`), 'cols', String(columns)]);
    screen.type(serials);
    await screen.shows(new RegExp(`${serials}\\s+❯◯ DEV-\\d+ +${serials}-3`));
    screen.type(ctrl.c);
    const { stdout } = await screen.ended;
    const rows = withoutColors(stdout)
      .split('\n')
      .map(line => line.trimEnd())
      .filter(line => line.includes('◯') && line.includes(`${serials}-`));
    expect(rows.length).toBeGreaterThanOrEqual(4);
    expect(Math.max(...rows.slice(-4).map(row => row.length))).toBeLessThan(columns);
  });

  test('is drawn again after Ctrl-Z and fg, with its marks', async () => {
    const { made } = await devices(1, 'LOCKED');
    const shell = await shellAtTerminal({ home: daemon.home });
    enter(shell, [process.execPath, programFile, 'unlock']);
    await shell.shows(/0 marked/);
    await mark(shell, made[0]!);
    shell.type(ctrl.z);
    await shell.shows(/Stopped/);
    await shell.shows(/\$ $/);
    shell.type('fg\r');
    await shell.shows(new RegExp(`❯◉ ${made[0]!.deviceId}[\\s\\S]*1 marked`));
    shell.type(keys.enter);
    await shell.answer(/Unlock 1 device\?/, 'y');
    await shell.shows(/1 device unlocked/);
    await shell.shows(/\$ $/);
    shell.type('exit\r');
    await shell.ended;
    expect(await stateOf(made[0]!)).toBe('ACTIVE');
  });
});

needs('script', 'bsdutils')('a list of devices', () => {
  const own = async (env: Readonly<Record<string, string>>) => {
    const other = await startDaemon({ env });
    onTestFinished(() => discard(other));
    return other;
  };

  test('is not shown if no device fits: the command ends with 5', async () => {
    const other = await own({});
    await other.register('ONLY-1');
    const screen = ask(['unlock'], 100, other.home);
    const { code, stdout } = await screen.ended;
    expect({ code, said: stdout.includes('no device is LOCKED'), asked: stdout.includes('marked') }).toEqual({
      code: 5,
      said: true,
      asked: false,
    });
  });

  test('stays and explains why if the server fails while it is shown', async () => {
    const other = await own({});
    await other.register('ONLY-1');
    const screen = ask(['show'], 100, other.home);
    await screen.shows(/❯ DEV-1 +ONLY-1/);
    await other.end('SIGKILL');
    screen.type('only');
    await screen.shows(/: only[\s\S]*> [^\n]*127\.0\.0\.1[^\n]*\. Type to search again/);
    screen.type(ctrl.c);
    expect((await screen.ended).code).toBe(130);
  });

  test('waits for the limit of the server, and reports this', async () => {
    const other = await own({ DEVMGR_LIMIT_QUERY: '4/3' });
    await other.register('ONLY-1');
    const screen = ask(['show'], 100, other.home);
    await screen.shows(/❯ DEV-1 +ONLY-1/);
    for (const text of ['o', 'on', 'onl']) {
      screen.type(`${ctrl.u}${text}`);
      await screen.shows(new RegExp(`: ${text}\\s+(❯|[^❯]*the server's limit is reached: searching in \\d s)`));
    }
    await screen.shows(/: onl\s+❯ DEV-1 +ONLY-1/);
    screen.type(ctrl.c);
    const { code, stdout } = await screen.ended;
    expect({ code, said: stdout.includes("the server's limit is reached") }).toEqual({ code: 130, said: true });
  });

  test('offers as many as can be looked through, and shows how many others there are', async () => {
    const other = await own({});
    const devices = Array.from({ length: 75 }, (_, n) => ({
      deviceType: 'UKEY',
      serialNumber: `MANY-${String(n).padStart(2, '0')}`,
      manufacturer: 'Acme',
      model: 'One',
    }));
    await other.call('POST', '/api/devices/batch-register', { devices });
    const screen = ask(['show'], 100, other.home);
    await screen.shows(/chooses, 25 more: keep typing/);
    screen.type('many-07');
    await screen.shows(/: many-07\s+❯ DEV-8 +MANY-07[\s\S]*chooses(?!,)/);
    screen.type(ctrl.c);
    expect((await screen.ended).code).toBe(130);
  });
});

needs('script', 'bsdutils')('the user of an activation', () => {
  test('is typed by a caller who may not list users, and checked at the question', async () => {
    const { made } = await devices(1, 'INACTIVE');
    const home = temporaryFolder();
    await daemon.call('POST', '/api/users', { username: 'dealer-1', password: 'a long password', role: 'DEALER' });
    const login = ['login', 'dealer-1', '--password-stdin', '--server', daemon.url];
    expect((await daemon.run(login, { home, input: 'a long password\n' })).code).toBe(0);
    const screen = ask(['activate', made[0]!.deviceId], 200, home);
    await screen.answer(/Activation code:/, 'not a code');
    await screen.shows(/> A code has four groups/);
    const { activationCode } = (await daemon.call('GET', `/api/devices/${made[0]!.deviceId}`)) as {
      activationCode: string;
    };
    screen.type(`${ctrl.u}${activationCode.toLowerCase()}\r`);
    await screen.answer(/User to bind it to:/, 'x'.repeat(130));
    await screen.shows(/> This is longer than 128/);
    screen.type(`${ctrl.u}carol\r`);
    expect((await screen.ended).code).toBe(0);
  });
});

needs('script', 'bsdutils')('a user, version, token or profile that is not named', () => {
  test('is picked: a user', async () => {
    await daemon.call('POST', '/api/users', { username: 'dealer-berlin', password: 'a long password', role: 'DEALER' });
    const screen = ask(['users', 'update', '--role', 'VIEWER']);
    await screen.shows(/User:[\s\S]*USR-1 +admin/);
    screen.type('berlin');
    await screen.shows(/❯ USR-\d+ +dealer-berlin +DEALER/);
    screen.type(keys.enter);
    const { code, stdout } = await screen.ended;
    expect({ code, changed: /dealer-berlin was changed[\s\S]*VIEWER/.test(withoutColors(stdout)) }).toEqual({
      code: 0,
      changed: true,
    });
  });

  test('is picked: a service token, which is revoked after a confirmation', async () => {
    for (const name of ['line-1', 'line-2'])
      await daemon.call('POST', '/api/tokens', { name, role: 'DEALER', expiresInDays: 1 });
    const screen = ask(['tokens', 'remove']);
    await screen.shows(/Service token:[\s\S]*line-1[\s\S]*choose/);
    screen.type('line-1');
    await screen.shows(/Service token: line-1\s+❯ TOK-\d+ +line-1/);
    screen.type(keys.enter);
    await screen.answer(/Revoke line-1\?/, 'y');
    expect((await screen.ended).stdout).toContain('line-1 is revoked');
  });

  test('is picked: a profile', async () => {
    await daemon.run(['config', 'set', 'server', 'https://registry.example.com', '--profile', 'work']);
    const screen = ask(['config', 'use']);
    await screen.shows(/Profile:[\s\S]*work +https:\/\/registry.example.com/);
    screen.type('example');
    await screen.shows(/❯ work/);
    screen.type(keys.enter);
    expect((await screen.ended).stdout).toContain('Profile work is used from now on.');
    await daemon.run(['config', 'use', 'default', '--profile', 'default']);
  });

  test('is picked: a version to download', async () => {
    const folder = temporaryFolder();
    const file = join(folder, 'tool-1.2.0.deb');
    writeFileSync(file, 'a package');
    await daemon.run(['apps', 'add', file, '--version', '1.2.0']);
    const screen = ask(['apps', 'download', '--out', join(folder, 'copy.deb')]);
    await screen.shows(/Version:[\s\S]*❯ APP-1 +LINUX +1\.2\.0/);
    screen.type(keys.enter);
    const { code, stdout } = await screen.ended;
    expect({ code, right: /APP-1 is in/.test(stdout) }).toEqual({ code: 0, right: true });
  });
});

needs('script', 'bsdutils')('a backup that is not named', () => {
  test('is picked after its device, and restored after a confirmation', async () => {
    const { made } = await devices(1, 'ACTIVE');
    const [device] = made;
    for (const name of ['first.age', 'second.age']) {
      const file = join(temporaryFolder(), name);
      writeFileSync(file, name);
      expect((await daemon.run(['device-backups', 'add', device!.deviceId, file])).code).toBe(0);
    }
    const screen = ask(['device-backups', 'restore']);
    await screen.shows(/Device[^\n]*:[\s\S]*choose/);
    screen.type(device!.serialNumber);
    await screen.shows(new RegExp(`: ${device!.serialNumber}\\s+❯ ${device!.deviceId} `));
    screen.type(keys.enter);
    await screen.shows(/Backup of DEV-\d+:\s+❯ BKP-\d+ +second\.age[\s\S]*first\.age/);
    screen.type('first');
    await screen.shows(/: first\s+❯ BKP-\d+ +first\.age/);
    screen.type(keys.enter);
    await screen.answer(/Restore it\?/, 'y');
    const { code, stdout } = await screen.ended;
    expect({ code, restored: /is restored/.test(stdout) }).toEqual({ code: 0, restored: true });
  });
});

describe('without a terminal', () => {
  test.each([
    ['lock --reason lost', 'no device is named'],
    ['show', 'no device is named'],
    ['users update --disable', "missing required argument 'USER'"],
    ['apps download', "missing required argument 'VERSION_ID'"],
    ['device-backups list', "missing required argument 'DEVICE'"],
    ['device-backups restore DEV-1', "missing required argument 'BACKUP_ID'"],
    ['tokens remove', "missing required argument 'TOKEN'"],
    ['config use', 'config use takes 1 arguments, not 0'],
    ['apps latest', '--platform is missing'],
  ])('%s fails and names what is missing', async (line, message) => {
    const { code, stderr, stdout } = await daemon.run(line.split(' '));
    expect({ code, stdout, said: stderr.includes(message) }).toEqual({ code: 2, stdout: '', said: true });
  });
});

needs('script', 'bsdutils')('with --no-input', () => {
  test.each([
    ['lock --reason lost', 'no device is named'],
    ['users update --disable', "missing required argument 'USER'"],
  ])('%s does not ask at a terminal either', async (line, message) => {
    const { code, stdout } = await ask([...line.split(' '), '--no-input']).ended;
    expect({ code, said: stdout.includes(message) }).toEqual({ code: 2, said: true });
  });
});
