/** Sizes and lengths: a test for each limit. */
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type DescribedText, describedNames, describedTexts } from '../../src/contract/device-description.ts';
import { second } from '../support/clock.ts';
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { data, register, registration } from '../support/fleet.ts';

let daemon: TestDaemon;
beforeEach(async () => {
  daemon = await startTestDaemon();
});
afterEach(() => daemon?.stop());

/** The texts that describe a device, as promised to clients. */
const described: Record<DescribedText, readonly [length: number, character: string]> = {
  manufacturer: [200, 'ü'],
  model: [200, '🔑'],
  hardwareVersion: [64, 'x'],
  firmwareVersion: [64, 'x'],
};

describe('sizes', () => {
  const batch = (devices: unknown) => daemon.call('POST', '/api/devices/batch-register', { devices });

  it('a batch has 1 to 10,000 items', async () => {
    for (const devices of [[], undefined, null, 'x', {}])
      expect(await batch(devices)).toMatchObject({ status: 400, code: 1001 });
    expect(await batch(Array(10_001).fill(0))).toMatchObject({ status: 400, code: 1001 });
    const response = await batch(Array.from({ length: 10_000 }, () => registration()));
    expect(response).toMatchObject({ code: 200, data: { total: 10_000, success: 10_000, failed: 0 } });
    expect(response.data.results).toHaveLength(10_000);
  });

  it('a batch may have 16 MiB of JSON, any other body 1 MiB; beyond that 1001', async () => {
    const padded = (bytes: number) => ({
      raw: JSON.stringify({ x: 'x'.repeat(bytes - 8) }),
      headers: { 'content-type': 'application/json' },
    });
    const send = (path: string, bytes: number) => daemon.call('POST', path, undefined, padded(bytes));
    const MiB = 1024 * 1024;
    expect((await send('/api/devices/register', MiB)).message).toBe('deviceType is required');
    expect(await send('/api/devices/register', MiB + 1)).toMatchObject({
      code: 1001,
      message: expect.stringContaining('too large'),
    });
    expect((await send('/api/devices/batch-register', 16 * MiB)).message).toBe('devices is required');
    expect(await send('/api/devices/batch-register', 16 * MiB + 1)).toMatchObject({
      code: 1001,
      message: expect.stringContaining('too large'),
    });
  });

  it.each([4_097, 15_000])('an id of %d characters in a path is refused as too long', async length => {
    const path = `/api/devices/${'9'.repeat(length)}`;
    expect(await daemon.call('GET', path)).toMatchObject({ status: 400, code: 1001 });
    expect(await daemon.call('GET', path, undefined, { token: null })).toMatchObject({ status: 401, code: 1004 });
  });

  it('a page has 1 to 100 records, by default 20; size takes precedence over pageSize', async () => {
    data(await batch(Array.from({ length: 120 }, () => registration())));
    const page = async (query: string) => {
      const { list: rows, pagination } = data(await daemon.call('GET', `/api/devices/list${query}`));
      return [rows.length, pagination.page, pagination.size, pagination.total, pagination.totalPages];
    };
    expect(await page('')).toEqual([20, 1, 20, 120, 6]);
    expect(await page('?size=100&page=2')).toEqual([20, 2, 100, 120, 2]);
    expect(await page('?pageSize=7')).toEqual([7, 1, 7, 120, 18]);
    expect(await page('?pageSize=7&size=50')).toEqual([50, 1, 50, 120, 3]);
    expect(await page('?page=99')).toEqual([0, 99, 20, 120, 6]);
    expect(await page('?keyword=no-such-thing')).toEqual([0, 1, 20, 0, 0]);
  });

  it.each(Object.entries({ serialNumber: [64, 'x'] as const, ...described }))(
    '%s has at most its number of characters',
    async (field, [length, character]) => {
      const send = (count: number) =>
        daemon.call('POST', '/api/devices/register', registration({ [field]: character.repeat(count) }));
      expect(await send(length)).toMatchObject({ code: 200 });
      expect(await send(length + 1)).toMatchObject({ code: 1001, message: expect.stringContaining(field) });
    },
  );

  it.each(describedNames)('the page of the interface states the maximum of %s', field => {
    const page = readFileSync(new URL('../../docs/api.md', import.meta.url), 'utf8');
    const row = page.match(new RegExp(`^\\| [^|]*\\b${field}\\b[^|]* \\| (\\d+) \\|`, 'm'));
    expect(Number(row?.[1])).toBe(describedTexts[field].max);
  });

  it('a note has at most 1,000 characters and may have several lines; a reason has 200 and a userId 128, in one line', async () => {
    const { deviceId, activationCode } = await register(daemon);
    const note = (text: string) => daemon.call('PUT', `/api/devices/${deviceId}`, { note: text });
    expect(await note(`${'x'.repeat(499)}\r\n\t${'y'.repeat(498)}`)).toMatchObject({ code: 200 });
    expect(await note('x'.repeat(1001))).toMatchObject({ code: 1001 });
    const activate = (userId: string) =>
      daemon.call('POST', '/api/devices/activate', { deviceId, activationCode, userId });
    expect(await activate('u'.repeat(129))).toMatchObject({ code: 1001, message: expect.stringContaining('userId') });
    expect(await activate('a\nb')).toMatchObject({ code: 1001 });
    expect(await activate('u'.repeat(128))).toMatchObject({ code: 200 });
    const lock = (reason: string) => daemon.call('POST', `/api/devices/${deviceId}/lock`, { reason });
    expect(await lock('r'.repeat(201))).toMatchObject({ code: 1001, message: expect.stringContaining('reason') });
    expect(await lock('r'.repeat(200))).toMatchObject({ code: 200 });
  });

  it('validityDays is a whole number from 1 to 3650, by default 365', async () => {
    const { deviceId } = await register(daemon);
    const renew = (more: object) =>
      daemon.call('POST', '/api/devices/generate-activation-code', { deviceId, reason: 'lost', ...more });
    for (const validityDays of [0, 3651, 1.5, '30', -1])
      expect(await renew({ validityDays })).toMatchObject({
        code: 1001,
        message: expect.stringContaining('validityDays'),
      });
    expect(await renew({ validityDays: 3650 })).toMatchObject({ code: 200 });
    const { generatedAt, expiresAt } = data(await renew({}));
    expect(Date.parse(expiresAt) - Date.parse(generatedAt)).toBe(365 * 86_400 * second);
  });

  it('a password has 8 to 200 characters and is taken exactly as sent', async () => {
    const make = (username: string, password: string) =>
      daemon.call('POST', '/api/users', { username, password, role: 'VIEWER' });
    for (const password of ['1234567', 'x'.repeat(201)])
      expect(await make('unknown', password)).toMatchObject({
        code: 1001,
        message: expect.stringContaining('password'),
      });
    const spaced = '  with spaces\u200b\u0007  ';
    expect(await make('spaced', spaced)).toMatchObject({ code: 200 });
    await daemon.login('spaced', spaced);
    const trimmed = { username: 'spaced', password: spaced.trim() };
    expect(await daemon.call('POST', '/api/auth/login', trimmed, { token: null })).toMatchObject({ code: 1003 });
  });
});
