import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adminPassword, startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { needs } from '../support/needs.ts';
import { openConsole, startBrowser, violationsOn } from './browser.ts';

const KiB = 1024;
const built = join(import.meta.dirname, '..', '..', 'dist', 'console');

needs('chromium')('the frame of the console', () => {
  let daemon: TestDaemon;
  let browser: Browser;
  beforeAll(async () => {
    daemon = await startTestDaemon();
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await daemon?.stop();
  });

  it('signs in with a password, shows the newest events live and signs out', async () => {
    const { page, requested, complaints } = await openConsole(browser, daemon, { token: null });
    await page.getByLabel('User name').fill('admin');
    await page.getByLabel('Password').fill(adminPassword);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.getByText('live', { exact: true }).waitFor();
    const device = { deviceType: 'UKEY', serialNumber: 'UK-1', manufacturer: 'M', model: '1' };
    await daemon.call('POST', '/api/devices/register', device);
    await page.getByText('UK-1').waitFor();
    await page.locator('summary', { hasText: 'admin' }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('User name').waitFor();
    await page.reload();
    await page.getByLabel('User name').waitFor();
    expect(requested.filter(url => !url.startsWith(`${daemon.url}/`) && !url.startsWith('ws://127.0.0.1'))).toEqual([]);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it('opens with a code once, and clears it from the address and the history', async () => {
    const created = await daemon.call('POST', '/api/auth/codes', { purpose: 'SESSION' });
    const { code } = created.data;
    const { page, context, requested } = await openConsole(browser, daemon, { token: null });
    await page.goto('about:blank');
    await page.goto(`${daemon.url}/console/#code=${code}&page=activity%3Ftypes%3DDEVICE_LOCKED`);
    await page.getByRole('heading', { name: 'Activity' }).waitFor();
    expect(new URL(page.url()).hash).toBe('#/activity?types=DEVICE_LOCKED');
    expect(requested.filter(url => url.includes(code))).toEqual([]);
    await page.goBack();
    expect(page.url()).not.toContain(code);
    const second = await openConsole(browser, daemon, { token: null });
    await second.page.goto('about:blank');
    await second.page.goto(`${daemon.url}/console/#code=${code}`);
    await second.page.getByText('This link was used before').waitFor();
    await second.page.getByLabel('User name').waitFor();
    expect(new URL(second.page.url()).hash).toBe('#/');
    // No address contains a token either: the stream uses a code of its own.
    expect(requested.filter(url => url.includes(daemon.adminToken) || url.includes('token='))).toEqual([]);
    await context.close();
    await second.context.close();
  });

  it('says within two seconds that the daemon is gone, and shows each event once afterwards', async () => {
    const { page, context } = await openConsole(browser, daemon);
    await page.getByText('live', { exact: true }).waitFor();
    await daemon.stopKeepingHome();
    await page.getByText('what you see may be old').waitFor({ timeout: 2000 });
    await daemon.startAgain({ port: Number(new URL(page.url()).port) });
    for (let i = 0; i < 5; i++)
      await daemon.call('POST', '/api/devices/register', {
        deviceType: 'UKEY',
        serialNumber: `AFTER-${i}`,
        manufacturer: 'M',
        model: '1',
      });
    await page.getByText('live', { exact: true }).waitFor();
    await page.getByText('AFTER-4').waitFor();
    expect(await page.getByText(/^AFTER-/).allTextContents()).toEqual([4, 3, 2, 1, 0].map(i => `AFTER-${i}`));
    await context.close();
  });

  it.each(['light', 'dark'] as const)('is accessible in %s colors', async colorScheme => {
    const out = await openConsole(browser, daemon, { token: null, colorScheme });
    await out.page.getByLabel('User name').waitFor();
    expect(await violationsOn(out.page)).toEqual([]);
    await out.context.close();
    const { page, context } = await openConsole(browser, daemon, { colorScheme });
    await page.getByText('live', { exact: true }).waitFor();
    await page.locator('summary', { hasText: 'admin' }).click();
    expect(await violationsOn(page)).toEqual([]);
    await context.close();
  });

  it('speaks German to a browser that prefers it', async () => {
    const { page, context } = await openConsole(browser, daemon, { locale: 'de-DE' });
    await page.getByRole('heading', { name: 'Übersicht' }).waitFor();
    expect(await page.locator('html').getAttribute('lang')).toBe('de');
    await context.close();
  });
});

describe('the files of the console', () => {
  it('are small', () => {
    const files = readdirSync(built).map(name => ({ name, content: readFileSync(join(built, name)) }));
    const entry = files.find(({ name }) => name === 'console.js')!.content;
    expect(entry.length).toBeLessThanOrEqual(60 * KiB);
    expect(gzipSync(entry).length).toBeLessThanOrEqual(24 * KiB);
    expect(files.find(({ name }) => name === 'console.css')!.content.length).toBeLessThanOrEqual(8 * KiB);
  });
});
