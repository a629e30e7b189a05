/** `doctor --report`: it contains what support needs, and no private data. */
import { appendFileSync, chmodSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Redactor } from '../../src/cli/commands/doctor/redact.ts';
import { adminPassword, type Daemon, devmgr, discard, startDaemon, temporaryFolder } from './program.ts';

let daemon: Daemon;
beforeAll(async () => {
  daemon = await startDaemon({ args: ['--simulate-keys', '2'] });
});
afterAll(() => discard(daemon));

const planted = {
  password: 'hunter2-Zq!',
  bearer: 'Bearer abc.def-123',
  code: 'ABCD-2345-WXYZ-6789',
  serial: '8986012345678901234',
  shortSerial: 'UK-7',
  person: 'margarethe',
  server: 'keys.example-company.test',
  ip: '10.20.30.40',
  apdu: '00a40004022fe2',
  query: 'keyword=Feldmann',
  storeKey: 'wJalrXUtnFEMI-bPxRfiCY',
};

function plantIn(log: string): void {
  const lines = [
    { level: 'info', msg: `login with password=${planted.password} refused` },
    { level: 'info', msg: 'a stream failed', reason: `${planted.bearer} was sent`, user: planted.person },
    { level: 'warn', msg: `no reader for serial ${planted.shortSerial}`, serialNumber: planted.serial },
    { level: 'warn', msg: `the object store does not know ${planted.storeKey}` },
    { level: 'info', msg: 'activated', activationCode: planted.code, boundTo: planted.person },
    { level: 'info', msg: `code ${planted.code} does not match ${planted.serial}` },
    { level: 'info', msg: 'the request failed', url: `/api/devices/list?${planted.query}`, remoteAddress: planted.ip },
    { level: 'info', msg: 'traffic', driver: 'pcsc', direction: 'out', bytes: planted.apdu },
    { level: 'error', msg: 'failed', err: { type: 'Error', message: `from ${planted.ip}`, stack: 'at f (a.ts:1:2)' } },
  ];
  appendFileSync(log, `${lines.map(line => JSON.stringify(line)).join('\n')}\n`);
  appendFileSync(log, `Error: connect to https://${planted.server}/x as ${planted.person}@${planted.server}\n`);
}

describe('doctor --report', () => {
  test('contains no secret, no name, no host and no serial number', async () => {
    plantIn(join(daemon.home, 'daemon.log'));
    await daemon.run(['config', 'set', 'server', `https://${planted.server}`, '--profile', 'other']);
    const secrets = ['local-token', 'signing-key', 'journal-key'].map(name =>
      readFileSync(join(daemon.home, name), 'utf8').trim(),
    );
    const { json: keys } = await daemon.run(['keys', '--json']);
    const serials = keys.list.map((key: { serialNumber: string }) => key.serialNumber);
    expect(serials).toHaveLength(2);
    const file = join(temporaryFolder(), 'report.txt');
    const env = {
      DEVMGR_ADMIN_PASSWORD: planted.password,
      AWS_SECRET_ACCESS_KEY: planted.storeKey,
      DEVMGR_LIMIT_QUERY: 'off',
    };
    expect(await daemon.run(['doctor', '--report', file], { env })).toMatchObject({ code: 0 });
    const text = readFileSync(file, 'utf8');
    for (const secret of [...Object.values(planted), ...secrets, ...serials, adminPassword])
      expect(text).not.toContain(secret);
    expect(text.split(/[^\w.-]+/)).not.toContain(hostname());
    for (const [, token] of readFileSync(join(daemon.home, 'credentials.json'), 'utf8').matchAll(/"token": "([^"]+)"/g))
      expect(text).not.toContain(token);
    // The report has what support needs.
    for (const part of ['better-sqlite3', 'DEVMGR_ADMIN_PASSWORD is set', 'DEVMGR_LIMIT_QUERY=off', 'at f (a.ts:1:2)'])
      expect(text).toContain(part);
    expect(text).toMatch(/^ok {7}simulated/m);
    expect(text).toMatch(/^- 0600 +\d+ journal-key$/m);
    expect(text).toContain('Read this report before you send it');
  });

  test.each([
    ['lp', /^lp$/],
    ['lp:zebra-hall', /^lp:text-[0-9a-f]{6}$/],
    ['printer.example-company.test:9101', /^host-[0-9a-f]{6}:9101$/],
    ['127.0.0.1:9100', /^127\.0\.0\.1:9100$/],
    ['margarethe:hunter2-Zq@10.20.30.40', /^host-[0-9a-f]{6}$/],
    ['hunter2 Zq', /^text-[0-9a-f]{6}$/],
  ])('has the printer %j of the settings, without names and secrets', async (printer, shown) => {
    const env = { DEVMGR_LABEL_PRINTER: printer };
    const { stdout } = await devmgr(['doctor', '--report', '-'], { home: temporaryFolder(), env });
    expect(/^ {2}"printer": "(.*)",$/m.exec(stdout)?.[1]).toMatch(shown);
    for (const secret of ['zebra', 'example-company', 'margarethe', 'hunter2', '10.20.30.40'])
      expect(stdout).not.toContain(secret);
  });

  test('is readable only by the user, and overwrites a file only with --force', async () => {
    const file = join(temporaryFolder(), 'report.txt');
    const target = join(temporaryFolder(), 'elsewhere');
    writeFileSync(target, 'mine');
    symlinkSync(target, file);
    const home = temporaryFolder();
    expect(await devmgr(['doctor', '--report', file], { home })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--force'),
    });
    expect((await devmgr(['doctor', '--report', file, '--force'], { home })).code).toBe(0);
    expect(readFileSync(target, 'utf8')).toBe('mine');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    chmodSync(file, 0o644);
    expect((await devmgr(['doctor', '--report', file, '--force'], { home })).code).toBe(0);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test('is written without a daemon and a home, to a file with the time in its name', async () => {
    const cwd = temporaryFolder();
    const { code, stdout } = await devmgr(['doctor', '--report', '--quiet'], { cwd, home: join(cwd, 'none') });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^devmgr-report-\d{4}-\d\d-\d\dT\d+Z\.txt\n$/);
    expect(readFileSync(join(cwd, stdout.trim()), 'utf8')).toContain('daemon: the daemon is not running');
  });

  test('is written to standard output for -', async () => {
    const { code, stdout } = await devmgr(['doctor', '--report', '-']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Report of devmgr, /);
  });
});

describe('replaced text', () => {
  test('has the same mark everywhere in a report, and a different one in another report', () => {
    const redactor = new Redactor();
    redactor.know('serial', 'KEY-1');
    const mark = redactor.text('KEY-1');
    expect(mark).toMatch(/^serial-[0-9a-f]{6}$/);
    expect(redactor.text('(KEY-1) again, serial KEY-1; not KEY-12')).toBe(
      `(${mark}) again, serial ${mark}; not KEY-12`,
    );
    const other = new Redactor();
    other.know('serial', 'KEY-1');
    expect(other.text('KEY-1')).not.toBe(mark);
  });

  test('is found quickly in a long line, and no secret is cut in two', () => {
    const redactor = new Redactor();
    const started = process.cpuUsage();
    for (const part of ['a-', 'A', '1:', 'a1_', 'serial ', 'x@', 'password=', '../', '//', '%25', '://a', 'host='])
      redactor.logLine(JSON.stringify({ msg: part.repeat(200_000), detail: part.repeat(200_000) }));
    expect(process.cpuUsage(started).user).toBeLessThan(3_000_000);
    const secret = `eyJ${'q'.repeat(40)}.${'w'.repeat(40)}`;
    expect(redactor.text(`${'.'.repeat(7_950)} ${secret}`)).not.toContain('qqqqq');
  });

  test.each([
    [
      'postgres://devmgr:hunter-2@db.example-company.test:5432/devmgr',
      /^postgres:\/\/\[removed\]@host-\w{6}:5432\/devmgr$/,
    ],
    ['postgresql://db.example-company.test/devmgr', /^postgresql:\/\/host-\w{6}\/devmgr$/],
    ['postgres://:hunter-2@db.example-company.test/', /^postgres:\/\/\[removed\]@host-\w{6}\/$/],
    ['postgres://a:hun/ter@hunter-2@db.example-company.test/', /^postgres:\/\/\[removed\]@host-\w{6}\/$/],
    ['postgres%3A%2F%2Fa%3Ahunter-2%40db.example-company.test', /^postgres:\/\/\[removed\]@host-\w{6}$/],
    ['postgres%253A%252F%252Fa%253Ahunter-2%2540db.example-company.test', /^postgres:\/\/\[removed\]@host-\w{6}$/],
    [
      "host=db.example-company.test user=margarethe password='hunter-2'",
      /^host=host-\w{6} user=user-\w{6} password=\[removed\]$/,
    ],
    ['getaddrinfo ENOTFOUND db.example-company.test', /^getaddrinfo ENOTFOUND host-\w{6}$/],
    ['PGPASSWORD=hunter-2', /^PGPASSWORD=\[removed\]$/],
    ['pwd=hunter-2', /^pwd=\[removed\]$/],
    ['code=hunter-2abcdef', /^code=\[removed\]$/],
    ['code: "hunter-2abcdef"', /^code: \[removed\]$/],
    ['abcd-efgh-jklm-np23', /^\[code\]$/],
    ['abcdefghjklmnp23', /^\[code\]$/],
    ['ABCDEFGHJKLMNPQR', /^\[code\]$/],
    ['/devmgr_abcDEF123', /^\/\[token\]$/],
    ['Bearer%20eyJhbGci.eyJzdWIi.sig', /^Bearer \[token\]$/],
  ])('has neither secrets nor names: %s', (text, shown) => {
    expect(new Redactor().text(text)).toMatch(shown);
  });

  test.each([
    'code=ECONNREFUSED, code: 57P01, code 1001, exit code: 3',
    'the characterization of a file',
    'listening on http://127.0.0.1:7470',
    'error 0x80100011 of libpcsclite.so.1 at 2026-11-20T22:36:18.222Z',
    'DEV-1234567 version 26.10.0, EACCES, 12:30:45',
    'apt-get install libudev1',
  ])('%s is unchanged', text => {
    expect(new Redactor().text(text)).toBe(text);
  });
});
