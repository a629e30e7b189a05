import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Route } from 'playwright-core';
import { expect, it } from 'vitest';
import { adminPassword } from '../support/daemon.ts';
import { needs } from '../support/needs.ts';
import { consoleTests, violationsOn } from './browser.ts';

const KiB = 1024;
const built = join(import.meta.dirname, '..', '..', 'dist', 'console');

needs('chromium')('the frame of the console', () => {
  const { daemon, openTab } = consoleTests();

  it('signs in with a password, shows the newest events live and signs out', async () => {
    const { page, requested, complaints } = await openTab({ token: null });
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

  it('stays signed out if a new token arrives after the sign-out', async () => {
    const { page, context } = await openTab();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    const asked = Promise.withResolvers<Route>();
    await page.route('**/api/auth/refresh', route => asked.resolve(route));
    await page.evaluate(() => {
      const stored = JSON.parse(sessionStorage.getItem('devmgr.session')!);
      const expireTime = new Date(Date.now() + 4000).toISOString();
      sessionStorage.setItem('devmgr.session', JSON.stringify({ ...stored, expireTime }));
    });
    await page.reload();
    const route = await asked.promise;
    await page.locator('summary', { hasText: 'admin' }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('User name').waitFor();
    const arrived = page.waitForResponse('**/api/auth/refresh');
    await route.continue();
    await (await arrived).finished();
    expect(await page.evaluate(() => sessionStorage.getItem('devmgr.session'))).toBeNull();
    await page.getByLabel('User name').waitFor();
    await context.close();
  });

  it('opens with a code once, and clears it from the address and the history', async () => {
    const created = await daemon.call('POST', '/api/auth/codes', { purpose: 'SESSION' });
    const { code } = created.data;
    const { page, context, requested } = await openTab({ token: null });
    await page.goto('about:blank');
    await page.goto(`${daemon.url}/console/#code=${code}&page=activity%3Ftypes%3DDEVICE_LOCKED`);
    await page.getByRole('heading', { name: 'Activity' }).waitFor();
    expect(new URL(page.url()).hash).toBe('#/activity?types=DEVICE_LOCKED');
    expect(requested.filter(url => url.includes(code))).toEqual([]);
    await page.goBack();
    expect(page.url()).not.toContain(code);
    const second = await openTab({ token: null });
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
    const { page, context } = await openTab();
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
    const out = await openTab({ token: null, colorScheme });
    await out.page.getByLabel('User name').waitFor();
    expect(await violationsOn(out.page)).toEqual([]);
    await out.context.close();
    const { page, context } = await openTab({ colorScheme });
    await page.getByText('live', { exact: true }).waitFor();
    await page.locator('summary', { hasText: 'admin' }).click();
    expect(await violationsOn(page)).toEqual([]);
    await context.close();
  });

  it('speaks German to a browser that prefers it', async () => {
    const { page, context } = await openTab({ locale: 'de-DE' });
    await page.getByRole('heading', { name: 'Übersicht' }).waitFor();
    expect(await page.locator('html').getAttribute('lang')).toBe('de');
    await context.close();
  });
});

needs('chromium')('what a page of the console loads', () => {
  const { openTab } = consoleTests();

  it.each(pageNames())('is small: %s', async name => {
    const { page, context, requested } = await openTab({ place: name });
    await page.locator('main h1').waitFor();
    await page.waitForLoadState('networkidle');
    const loaded = [...new Set(requested)].filter(url => /\.(js|css)$/.test(url)).map(url => basename(url));
    const sizes = (extension: string) =>
      loaded
        .filter(file => file.endsWith(extension))
        .map(file => readFileSync(join(built, file)))
        .map(content => [content.length, gzipSync(content).length] as const);
    const sum = (extension: string, index: 0 | 1) => sizes(extension).reduce((total, size) => total + size[index], 0);
    expect(loaded).toContain('console.js');
    expect(sum('.js', 0)).toBeLessThanOrEqual(60 * KiB);
    expect(sum('.js', 1)).toBeLessThanOrEqual(24 * KiB);
    expect(sum('.css', 0)).toBeLessThanOrEqual(8 * KiB);
    await context.close();
  });
});

needs('chromium')('the bench at a daemon with hardware', () => {
  const { openTab } = consoleTests({ simulateKeys: 1 });

  it('loads no more than it did', async () => {
    const { page, requested } = await openTab({ place: 'bench' });
    await page.getByLabel('User id of the person').waitFor();
    await page.waitForLoadState('networkidle');
    const loaded = [...new Set(requested)].filter(url => url.endsWith('.js')).map(url => basename(url));
    const contents = loaded.map(file => readFileSync(join(built, file)));
    // Above the bounds of the other pages: decision 043.
    expect(contents.reduce((sum, { length }) => sum + length, 0)).toBeLessThanOrEqual(76 * KiB);
    expect(contents.reduce((sum, content) => sum + gzipSync(content).length, 0)).toBeLessThanOrEqual(29 * KiB);
  });
});

/** The names of all pages, as their table has them. */
function pageNames(): string[] {
  const table = readFileSync(join(import.meta.dirname, '..', '..', 'console', 'pages.tsx'), 'utf8');
  const names = [...table.matchAll(/^ {4}name: '(\w+)'/gm)].map(([, name]) => name!);
  return [...names, 'devices/DEV-1'];
}
