/** `report` with a real registry: figures, CSV, text, and the page in a browser. */
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EnrollFile } from '../../src/cli/commands/enrollment/enroll/results.ts';
import type { KeyFailure } from '../../src/enrollment/outcome.ts';
import { startBrowser } from '../support/chromium.ts';
import { day, holdClock } from '../support/clock.ts';
import { adminPassword, startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { needs } from '../support/needs.ts';
import { devmgr, temporaryFolder } from './program.ts';
import { atTerminal, withoutColors } from './screen.ts';

const hostile = '<img src=x onerror=alert(1)>&"';
let daemon: TestDaemon;
let start: number;
let token: string;
const ids: string[] = [];

/** Ten devices of lot 7, 12 s apart, and one of lot 8 before and after them. */
beforeAll(async () => {
  const clock = holdClock(Date.now() - 3 * day);
  daemon = await startTestDaemon();
  start = Date.now();
  for (let at = 0; at < 12; at++) {
    const lot = at === 0 || at === 11 ? '8' : '7';
    const body = {
      deviceType: at < 4 ? 'UKEY' : 'SIMKEY',
      serialNumber: `RP-${at}`,
      manufacturer: hostile,
      model: at < 3 ? 'One' : 'Two',
      tags: { lot },
    };
    const { data } = await daemon.call('POST', '/api/devices/register', body);
    ids.push(data.deviceId);
    if (at < 5) {
      const { deviceId, activationCode } = data;
      await daemon.call('POST', '/api/devices/activate', {
        deviceId,
        activationCode,
        userId: `user-${Math.floor(at / 2)}`,
      });
    }
    clock.forward(12_000);
  }
  const post = (path: string, body: object) => daemon.call('POST', `/api/devices/${path}`, body);
  const reason = 'test';
  await post(`${ids[0]}/lock`, { reason });
  await post(`${ids[1]}/lock`, { reason });
  await post(`${ids[1]}/unlock`, {});
  await post(`${ids[1]}/lock`, { reason });
  await post(`${ids[2]}/lock`, { reason });
  await post(`${ids[3]}/deactivate`, { reason, confirmPassword: adminPassword });
  await post('generate-activation-code', { deviceId: ids[6], validityDays: 1, reason });
  clock.release();
  token = await daemon.login('admin');
});
afterAll(() => daemon.stop());

const run = (...args: string[]) => devmgr([...args, '--server', daemon.url], { env: { DEVMGR_TOKEN: token } });

const key = {
  result: 'registered',
  deviceId: 'DEV-2',
  serialNumber: 'A',
  deviceType: 'UKEY',
  activationCode: null,
  status: 'ACTIVE',
  userId: null,
  manufacturer: 'Acme',
  model: 'One',
  firmwareVersion: null,
  serialSource: null,
  simulated: false,
  message: null,
} as const;

/** Results: A failed and then passed, B failed twice, one key is unreadable, C is of lot 8, D passed. */
async function results(ending: string): Promise<string> {
  const path = join(temporaryFolder(), `results.${ending}`);
  const file = EnrollFile.unlocked(path, { proof: null, tags: { lot: '7' }, isRoster: true });
  const failed = { ...key, result: 'failed', deviceId: null, status: null, tags: { lot: '7' } } as const;
  await file.add({ ...failed, failure: 'pulled too early', message: 'it was unplugged. Again' });
  await file.add({ ...key, tags: { lot: '7' }, failure: null });
  await file.add({ ...failed, serialNumber: 'B', failure: hostile as KeyFailure });
  await file.add({ ...failed, serialNumber: 'B', message: '=1+1 is wrong. Try again' });
  await file.add({ ...failed, serialNumber: null, message: 'no answer' });
  await file.add({ ...failed, serialNumber: 'C', tags: { lot: '8' }, failure: 'other lot' as KeyFailure });
  await file.add({ ...key, serialNumber: 'D', result: 'known', tags: { lot: '7' } });
  return path;
}

describe('--json', () => {
  test('has the figures of the lot', async () => {
    const { code, json } = await run('report', '--tag', 'lot=7', '--json');
    expect(code).toBe(0);
    const at = (index: number) => new Date(start + index * 12_000).toISOString();
    const { bins } = json.registrations;
    expect(bins.reduce((sum: number, bin: { count: number }) => sum + bin.count, 0)).toBe(10);
    expect(json.secondsBetween.bins.filter((bin: { count: number }) => bin.count > 0)).toEqual([
      { from: 10, to: 20, count: 9 },
    ]);
    expect(json).toEqual({
      generatedAt: expect.stringMatching(/^\d{4}-/),
      criteria: { tag: ['lot:7'] },
      total: 10,
      byStatus: { INACTIVE: 6, ACTIVE: 1, LOCKED: 2, DEACTIVATED: 1 },
      byType: { UKEY: 3, SIMKEY: 7 },
      byModel: [
        { manufacturer: hostile, model: 'Two', count: 8 },
        { manufacturer: hostile, model: 'One', count: 2 },
      ],
      otherModels: 0,
      byProof: { none: 10, claimed: 0, model: 0, unit: 0, failed: 0 },
      registrations: { first: at(1), last: at(10), perHour: 300, binMinutes: 1, bins },
      secondsBetween: { median: 12, p95: 12, bins: json.secondsBetween.bins },
      persons: { count: 3, isMore: false },
      codes: { unused: 6, expired: 1 },
      changes: { locked: 2, unlocked: 1, deactivated: 1 },
      attempts: null,
    });
  });

  test.each(['csv', 'jsonl'])('has the attempts in results as %s, without those of other lots', async ending => {
    const { json } = await run('report', '--tag', 'lot=7', '--results', await results(ending), '--json');
    expect(json.attempts).toEqual({
      attempts: 6,
      failedAttempts: 4,
      reasons: expect.arrayContaining([
        { reason: 'pulled too early', count: 1 },
        { reason: hostile, count: 1 },
        { reason: '=1+1 is wrong', count: 1 },
        { reason: 'serial number unreadable', count: 1 },
      ]),
      keys: { passed: 2, failed: 2 },
      yield: 50,
    });
  });

  test('counts expired codes only where the filters allow it', async () => {
    expect((await run('report', '--status', 'LOCKED', '--json')).json.codes).toEqual({ unused: 0, expired: 0 });
    const before = ['--code-expires-before', new Date(start).toISOString()];
    expect((await run('report', ...before, '--json')).json).toMatchObject({ total: 0, codes: { expired: 0 } });
  });
});

test('a selection without devices is one line, as in a list', async () => {
  const out = join(temporaryFolder(), 'none.html');
  const none = await run('report', '--tag', 'lot=9', '--out', out);
  expect(none).toMatchObject({ code: 0, stdout: '', stderr: 'No device matches.\n' });
  expect(statSync(out, { throwIfNoEntry: false })).toBeUndefined();
  expect(await run('list', '--tag', 'lot=9')).toMatchObject({ code: none.code, stderr: none.stderr });
  // Every key of the lot has failed: there is something to report.
  const failed = await run('report', '--tag', 'lot=9', '--results', await results('csv'));
  expect(failed.stderr).toBe('No device matches.\n');
  expect((await run('report', '--serial', 'no-such', '--results', await results('csv'))).stdout).toContain('yield');
});

describe('--out', () => {
  test('names the format, is for this user alone, and replaces a file only with --force', async () => {
    const out = join(temporaryFolder(), 'lot-7.csv');
    expect(await run('report', '--tag', 'lot=7', '--out', out)).toMatchObject({ code: 0, stderr: `Wrote ${out}.\n` });
    expect(statSync(out).mode & 0o777).toBe(0o600);
    writeFileSync(out, 'mine');
    const refused = await run('report', '--tag', 'lot=7', '--out', out);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('already exists') });
    expect(readFileSync(out, 'utf8')).toBe('mine');
    expect((await run('report', '--tag', 'lot=7', '--out', out, '--force')).code).toBe(0);
    const lines = readFileSync(out, 'utf8').split('\n');
    expect(lines[0]).toBe('section,name,value');
    for (const line of [
      'filter,tag,lot:7',
      'total,devices,10',
      'state,LOCKED,2',
      'total,median,12',
      'total,per-hour,300',
    ])
      expect(lines).toContain(line);
    expect(lines.filter(line => /^keys-per-hour,\d{4}-\d\d-\d\d \d\d:\d\d,\d+$/.test(line)).length).toBeGreaterThan(0);
  });

  test('is refused before anything is read if it names the results', async () => {
    const file = await results('csv');
    const before = readFileSync(file, 'utf8');
    const { code, stderr } = await run('report', '--results', file, '--out', file, '--force');
    expect([code, stderr]).toEqual([2, expect.stringContaining('is also in --results')]);
    expect(readFileSync(file, 'utf8')).toBe(before);
  });

  test('rows that are cut or changed are named and not counted', async () => {
    const path = join(temporaryFolder(), 'torn.csv');
    const file = EnrollFile.unlocked(path, { proof: null, tags: null });
    for (const serialNumber of ['T-1', 'T-2', 'T-3']) await file.add({ ...key, result: 'registered', serialNumber });
    writeFileSync(path, readFileSync(path, 'utf8').replace('T-1', 'T-9').slice(0, -3));
    const { json } = await run('report', '--tag', 'lot=7', '--results', path, '--json');
    expect(json.attempts).toMatchObject({ attempts: 1, keys: { passed: 1, failed: 0 } });
    const { stderr } = await run('report', '--tag', 'lot=7', '--results', path);
    expect(stderr).toContain(`2 rows of ${path} not counted: incomplete, or changed after being written.`);
  });

  test('results that wait in a spool file have no outcome; a conflict is a failure', async () => {
    const path = join(temporaryFolder(), 'spooled.jsonl');
    const file = EnrollFile.unlocked(path, { proof: null, tags: null });
    const spooled = { ...key, result: 'spooled', deviceId: null } as const;
    await file.add(spooled);
    const { json } = await run('report', '--tag', 'lot=7', '--results', path, '--json');
    expect(json.attempts).toMatchObject({ attempts: 0, keys: { passed: 0, failed: 0 } });
    await file.add({
      ...key,
      result: 'conflict',
      message: 'already registered as DEV-9 since 2026-01-01T00:00:00.000Z',
    });
    const later = await run('report', '--tag', 'lot=7', '--results', path, '--json');
    expect(later.json.attempts).toMatchObject({
      reasons: [{ reason: 'already registered', count: 1 }],
      keys: { passed: 0, failed: 1 },
    });
  });

  test.each([
    ['a,b\n1,2\n', 'other.csv'],
    ['{"serialNumber":"A"}\n', 'other.jsonl'],
    [`{"result":"failed"}\n${'x'.repeat(2 ** 21)}`, 'long.jsonl'],
    [' '.repeat(2 ** 21), 'blank.csv'],
  ])('a file that has no results of an enrollment is refused (%#)', async (text, name) => {
    const file = join(temporaryFolder(), name);
    writeFileSync(file, text);
    const { code, stderr } = await run('report', '--results', file);
    expect([code, stderr]).toEqual([2, expect.stringContaining('does not contain results of an enrollment')]);
    expect((await run('report', '--results', `${file}.none`)).stderr).toContain('cannot be read');
  });
});

test('the text fits a terminal of 60 columns', async () => {
  const home = temporaryFolder();
  const words = ['report', '--tag', 'lot=7', '--results', await results('csv'), '--server', daemon.url];
  const program = join(import.meta.dirname, '..', '..', 'dist', 'devmgr.cjs');
  const screen = atTerminal([process.execPath, program, ...words], {
    home,
    columns: 60,
    env: { DEVMGR_TOKEN: token },
  });
  const { code, stdout } = await screen.ended;
  const lines = withoutColors(stdout).split(/\r?\n/);
  expect(code).toBe(0);
  expect(lines).toContain('  bound persons         3');
  expect(lines).toContain('  yield                 50 %');
  expect(lines.filter(line => [...line].length > 60)).toEqual([]);
});

needs('chromium')('the page', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser?.close());

  test('shows texts as they are, loads nothing, and fits the screen and the paper in both color schemes', async () => {
    const out = join(temporaryFolder(), 'lot-7.html');
    expect((await run('report', '--tag', 'lot=7', '--results', await results('csv'), '--out', out)).code).toBe(0);
    const page = await browser.newPage();
    const requested: string[] = [];
    const complaints: string[] = [];
    page.on('request', request => requested.push(request.url()));
    page.on('console', message => complaints.push(message.text()));
    page.on('pageerror', error => complaints.push(error.message));
    page.on('dialog', dialog => void complaints.push(dialog.message()));
    await page.goto(`file://${out}`);
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Report: tag lot:7');
    expect(await page.getByRole('rowheader', { name: `${hostile} Two`, exact: true }).count()).toBe(1);
    expect(await page.getByRole('row', { name: 'SIMKEY 7' }).count()).toBe(1);
    expect(await page.locator('img, script, iframe, [onerror]').count()).toBe(0);
    // Each plot has a name, and a table with the same number of rows as it has columns.
    const plots = await page.locator('.plot').all();
    expect(plots).toHaveLength(2);
    for (const plot of plots) {
      expect(await plot.getByRole('img').getAttribute('aria-labelledby')).not.toBeNull();
      expect(await plot.locator('rect').count()).toBe(await plot.locator('tbody tr').count());
    }
    // A4 and Letter without margins of 15 mm, in CSS pixels, and a telephone.
    for (const [media, width] of [
      ['print', 680],
      ['print', 703],
      ['screen', 360],
      ['screen', 1280],
    ] as const) {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ media });
      expect([media, width, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([
        media,
        width,
        width,
      ]);
    }
    const color = async () => page.evaluate('getComputedStyle(document.body).backgroundColor');
    await page.emulateMedia({ media: 'screen', colorScheme: 'light' });
    expect(await color()).toBe('rgb(255, 255, 255)');
    await page.emulateMedia({ media: 'screen', colorScheme: 'dark' });
    expect(await color()).toBe('rgb(22, 22, 22)');
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    expect(await color()).toBe('rgb(255, 255, 255)');
    if (process.env.DEVMGR_SCREENSHOT) await page.screenshot({ path: process.env.DEVMGR_SCREENSHOT, fullPage: true });
    expect(requested).toEqual([`file://${out}`]);
    expect(complaints).toEqual([]);
  });
});
