import { basename } from 'node:path';
import type { Page, Route } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { adminPassword } from '../support/daemon.ts';
import { backUp, data, deviceIn } from '../support/fleet.ts';
import { needs } from '../support/needs.ts';
import { accountButton, consoleTests, menuItem, settled, signOut, violationsOn } from './browser.ts';
import { pageNames } from './pages.ts';

/** The only device of its daemon. */
const device = 'devices/DEV-1';
/** The pages with the most words: in German they are longer. */
const long = ['devices', device];

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
    await signOut(page);
    await page.getByLabel('User name').waitFor();
    await page.reload();
    await page.getByLabel('User name').waitFor();
    expect(requested.filter(url => !url.startsWith(`${daemon.url}/`) && !url.startsWith('ws://127.0.0.1'))).toEqual([]);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it('closes the menu of the person at Esc, at a click outside and on another page', async () => {
    const { page, context } = await openTab();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    const item = menuItem(page, 'Sign out');
    const open = async () => {
      await accountButton(page).click();
      await item.waitFor();
    };
    await open();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Escape');
    await item.waitFor({ state: 'hidden' });
    await page.locator('.account:focus').waitFor();
    await open();
    await page.getByRole('heading', { name: 'Overview' }).click();
    await item.waitFor({ state: 'hidden' });
    await open();
    await menuItem(page, 'Password and security keys').click();
    await page.getByRole('heading', { name: 'Security keys' }).waitFor();
    await item.waitFor({ state: 'hidden' });
    await context.close();
  });

  it('renews its token when half of its time is over, also if the clock of the browser is two days ahead', async () => {
    const tab = await openTab({ token: null });
    const { page, context, requested } = tab;
    await page.clock.install({ time: Date.now() + 48 * 3_600_000 });
    await page.reload();
    await page.getByLabel('User name').fill('admin');
    await page.getByLabel('Password').fill(adminPassword);
    await page.keyboard.press('Enter');
    await page.getByText('live', { exact: true }).waitFor();
    await page.reload();
    await page.getByText('live', { exact: true }).waitFor();
    const renewals = () => requested.filter(url => url.endsWith('/api/auth/refresh')).length;
    await page.clock.runFor(10_000);
    expect(renewals()).toBe(0);
    await page.clock.fastForward(31 * 24 * 3_600_000);
    await expect.poll(renewals).toBe(1);
    await context.close();
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
    await signOut(page);
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
    await page.getByRole('button', { name: 'Continue as admin' }).click();
    await page.getByRole('heading', { name: 'Activity' }).waitFor();
    expect(new URL(page.url()).hash).toBe('#/activity?types=DEVICE_LOCKED');
    expect(requested.filter(url => url.includes(code))).toEqual([]);
    await page.goBack();
    expect(page.url()).not.toContain(code);
    const second = await openTab({ token: null });
    await second.page.goto('about:blank');
    await second.page.goto(`${daemon.url}/console/#code=${code}`);
    await second.page.getByText('This link was already used').waitFor();
    await second.page.getByLabel('User name').waitFor();
    expect(new URL(second.page.url()).hash).toBe('#/');
    // No address contains a token either: the stream uses a code of its own.
    expect(requested.filter(url => url.includes(daemon.adminToken) || url.includes('token='))).toEqual([]);
    await context.close();
    await second.context.close();
  });

  it('gives its session to another tab of the browser, and a sign-out ends both', async () => {
    const { page, context } = await openTab({ token: null });
    await page.getByLabel('User name').fill('admin');
    await page.getByLabel('Password').fill(adminPassword);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    const opened = context.waitForEvent('page');
    await page.getByRole('link', { name: 'Devices', exact: true }).click({ modifiers: ['Control'] });
    const other = await opened;
    await other.getByRole('heading', { name: 'Devices' }).waitFor();
    await signOut(other);
    await other.getByLabel('User name').waitFor();
    await page.getByLabel('User name').waitFor();
    const third = await context.newPage();
    await third.goto(page.url());
    await third.getByLabel('User name').waitFor();
    await context.close();
  });

  it('shows within two seconds that the daemon is gone, and shows each event once afterwards', async () => {
    const { page, context } = await openTab();
    await page.getByText('live', { exact: true }).waitFor();
    await daemon.stopKeepingHome();
    await page.getByText('what you see may be out of date').waitFor({ timeout: 2000 });
    await daemon.startAgain({ port: Number(new URL(page.url()).port) });
    for (let i = 0; i < 5; i++)
      await daemon.call('POST', '/api/devices/register', {
        deviceType: 'UKEY',
        serialNumber: `AFTER-${i}`,
        manufacturer: 'M',
        model: '1',
      });
    await page.getByText('live', { exact: true }).waitFor();
    // Equal events are one line, which opens.
    await page.locator('.events summary').first().click();
    await page.getByText('AFTER-4').waitFor();
    expect(await page.getByText(/^AFTER-/).allTextContents()).toEqual([4, 3, 2, 1, 0].map(i => `AFTER-${i}`));
    await context.close();
  });

  it('shows a page that was first opened while the daemon was away when it is back', async () => {
    const { page, context } = await openTab();
    await page.getByText('live', { exact: true }).waitFor();
    await daemon.stopKeepingHome();
    await page.getByText('what you see may be out of date').waitFor();
    await page.getByRole('link', { name: 'Packages' }).click();
    await page.getByText('This part of the console could not be loaded.').waitFor();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('This part of the console could not be loaded.').waitFor();
    await daemon.startAgain({ port: Number(new URL(page.url()).port) });
    await page.getByRole('heading', { name: 'Packages' }).waitFor();
    await context.close();
  });

  it('loads itself again if the daemon has another version of a page', async () => {
    const { page, context } = await openTab();
    await page.getByText('live', { exact: true }).waitFor();
    await page.evaluate(() => Reflect.set(globalThis, 'ofTheFirstVersion', true));
    await page.route('**/console/*.js', route => route.fulfill({ status: 404 }));
    await page.getByRole('link', { name: 'Packages' }).click();
    const again = page.getByRole('button', { name: 'Try again' });
    await again.waitFor();
    await page.route('**/api/health', async route => {
      await page.unroute('**/console/*.js');
      await route.continue();
    });
    await again.click();
    await page.getByRole('heading', { name: 'Packages' }).waitFor();
    expect(await page.evaluate(() => Reflect.has(globalThis, 'ofTheFirstVersion'))).toBe(false);
    await context.close();
  });

  it.each(['light', 'dark'] as const)('is accessible in %s colors', async colorScheme => {
    const out = await openTab({ token: null, colorScheme });
    await out.page.getByLabel('User name').waitFor();
    expect(await violationsOn(out.page)).toEqual([]);
    await out.context.close();
    const { page, context } = await openTab({ colorScheme });
    await page.getByText('live', { exact: true }).waitFor();
    await accountButton(page).click();
    await menuItem(page, 'Sign out').waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await context.close();
  });

  it('changes the language, keeps the page, and stays in it', async () => {
    const { page, context, show } = await openTab();
    await show('packages');
    await page.getByText('No package has been uploaded yet.').waitFor();
    await accountButton(page).click();
    await menuItem(page, 'Deutsch').click();
    await page.getByText('Es wurde noch kein Paket hochgeladen.').waitFor();
    expect(await page.locator('html').getAttribute('lang')).toBe('de');
    const [cookie] = await context.cookies();
    expect(cookie).toMatchObject({ name: 'devmgr-language', value: 'de', path: '/console/', sameSite: 'Strict' });
    await page.reload();
    await page.getByText('Es wurde noch kein Paket hochgeladen.').waitFor();
    await context.close();
  });

  it('shows other pages after one could not be loaded', async () => {
    const { page, context, show } = await openTab();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.route('**/console/*.js', route => route.abort());
    await show('packages');
    await page.getByText('This part of the console could not be loaded.').waitFor();
    await page.unroute('**/console/*.js');
    await show('activity');
    await page.getByRole('heading', { name: 'Activity' }).waitFor();
    await context.close();
  });

  it('leads the keyboard past the navigation, and names roles in the language of the person', async () => {
    const out = await openTab({ token: null });
    await out.page.locator('code', { hasText: 'devmgr open' }).waitFor();
    expect(await out.page.locator('main').textContent()).not.toContain('`');
    await out.context.close();
    const { page, context, show } = await openTab({ locale: 'de-DE', place: 'account' });
    await page.getByRole('heading', { name: 'admin Administrator' }).waitFor();
    await page.keyboard.press('Tab');
    await page.getByRole('button', { name: 'Zum Inhalt' }).press('Enter');
    await page.locator('main:focus').waitFor();
    await accountButton(page).click();
    await page.locator('.menu').getByText('Administrator').waitFor();
    await show('policies');
    await page.locator('fieldset').getByText('Leser').waitFor();
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
  const { daemon, openTab } = consoleTests();
  // With all that the page of a device can show.
  beforeAll(async () => {
    const { deviceId, serialNumber } = await deviceIn('ACTIVE', daemon);
    const { proofId } = data(await daemon.call('POST', '/api/proofs/challenge', {}));
    const claims = { firmware: '5.7.4' };
    data(await daemon.call('POST', `/api/proofs/${proofId}`, { serialNumber, claims }));
    data(await backUp(daemon, deviceId));
  });

  // The page of a device loads the list of backups after its data.
  it.each([
    ['devices', 2],
    [device, 3],
  ])('comes in few steps, and not again at the next visit: %s in %i', async (place, steps) => {
    const { page, context } = await openTab({ place });
    const tools = await context.newCDPSession(page);
    await tools.send('Network.enable');
    const limits = { offline: false, latency: 200, downloadThroughput: -1, uploadThroughput: -1 };
    await tools.send('Network.emulateNetworkConditions', limits);
    const visit = async () => {
      await page.reload();
      await page.locator('main h1').waitFor();
      await settled(page);
      return page.evaluate(filesOfConsole);
    };
    await settled(page);
    const next = await visit();
    expect(next.length).toBeGreaterThan(3);
    expect(next.filter(({ transferSize }) => transferSize > 0)).toEqual([]);
    await tools.send('Network.setCacheDisabled', { cacheDisabled: true });
    const first = await visit();
    expect(first.filter(({ transferSize }) => transferSize === 0)).toEqual([]);
    expect(stepsOf(first)).toBe(steps);
    await context.close();
  });

  const pages = [
    ...[...pageNames, device].map(name => [name, 'en-US'] as const),
    ...long.map(name => [name, 'de-DE'] as const),
  ];
  it.each(pages)('is small: %s in %s', async (name, locale) => {
    const { page, context } = await openTab({ place: name, locale });
    await page.locator('main h1').waitFor();
    if (name === device)
      for (const shown of ['5.7.4', 'key.bak']) await page.locator('main').getByText(shown).first().waitFor();
    await settled(page);
    await expectSmall(page, name === 'overview' ? budgets.firstView : budgets.page);
    await context.close();
  });
});

needs('chromium')('the station at a daemon with hardware', () => {
  const { openTab } = consoleTests({ simulateKeys: 1 });

  it.each(['en-US', 'de-DE'])('is as small, and loads the rest when someone acts: %s', async locale => {
    const { page, context, requested } = await openTab({ place: 'station', locale });
    await page.locator('.stage').getByText('SIM-UKEY').waitFor();
    await settled(page);
    await expectSmall(page, budgets.page);
    const before = requested.length;
    await page.getByLabel(/^(?:List of people|Liste der Personen)/).setInputFiles({
      name: 'people.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from('userId\nann\n'),
    });
    await expect.poll(() => requested.slice(before).map(kindOf)).toContain('roster-file');
    await context.close();
  });
});

/** When a file was requested and complete, in milliseconds; what was transferred, with its headers, 0 if the browser had it. */
interface LoadedFile {
  readonly name: string;
  readonly startTime: number;
  readonly responseEnd: number;
  readonly transferSize: number;
}

/** Runs in the page: the scripts and styles that it has loaded. */
function filesOfConsole(): LoadedFile[] {
  const entries = performance.getEntriesByType('resource') as unknown as LoadedFile[];
  return entries
    .filter(({ name }) => /\.(?:js|css)$/.test(name))
    .map(({ name, startTime, responseEnd, transferSize }) => ({ name, startTime, responseEnd, transferSize }));
}

/** The most files of which each was requested after the one before was complete. */
function stepsOf(files: readonly LoadedFile[]): number {
  let steps = 0;
  let end = Number.NEGATIVE_INFINITY;
  for (const file of [...files].sort((a, b) => a.responseEnd - b.responseEnd)) {
    if (file.startTime < end) continue;
    steps++;
    end = file.responseEnd;
  }
  return steps;
}

/** The most bytes of scripts and styles that are transferred: for what a person sees first, and for any other page with the frame. */
const budgets = { firstView: 60_000, page: 120_000 } as const;

/** Checks the size of all scripts and styles that the page has loaded, in a browser without a cache. */
async function expectSmall(page: Page, most: number): Promise<void> {
  const loaded = await page.evaluate(filesOfConsole);
  const kinds = loaded.map(({ name }) => kindOf(name));
  expect(kinds).toContain('console');
  expect(kinds).not.toContain('issuing');
  expect(loaded.filter(({ transferSize }) => transferSize === 0)).toEqual([]);
  expect(loaded.reduce((sum, { transferSize }) => sum + transferSize, 0)).toBeLessThanOrEqual(most);
}

/** The name of a script without its hash. */
const kindOf = (address: string): string => basename(address).replace(/-.{8}\.js$/, '');
