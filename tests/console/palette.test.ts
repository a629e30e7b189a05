import type { Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { data } from '../support/fleet.ts';
import { needs } from '../support/needs.ts';
import { accountButton, armed, consoleTests, dialog, status, violationsOn } from './browser.ts';
import { type FleetDevice, fleet } from './fleet.ts';

needs('chromium')('the search of the console', () => {
  const { daemon, openTab } = consoleTests();
  let devices: readonly FleetDevice[] = [];
  beforeAll(async () => {
    devices = await fleet(daemon, 'Acme', 12, 3);
  });
  const field = (page: Page) => page.locator('.palette input:focus');
  const marked = (page: Page) => page.locator('.palette [data-highlighted]');
  const ready = (page: Page) => page.getByText('live', { exact: true }).waitFor();
  const searches = (requested: readonly string[]) => requested.filter(url => /devices\/list\?.*search=/.test(url));

  it('finds a device by its serial number with one request, and remembers it, by keyboard alone', async () => {
    const { page, context, requested, complaints } = await openTab();
    await ready(page);
    await page.keyboard.press('Control+k');
    await field(page).waitFor();
    await page.keyboard.type('acme-0007');
    await marked(page).getByText(devices[7]!.deviceId).waitFor();
    expect(searches(requested)).toHaveLength(1);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: devices[7]!.deviceId }).waitFor();
    await dialog(page).waitFor({ state: 'detached' });
    await page.keyboard.press('/');
    await dialog(page).getByText('Recent').waitFor();
    await dialog(page).getByRole('option').first().getByText(devices[7]!.deviceId).waitFor();
    await page.keyboard.press('Escape');
    await dialog(page).waitFor({ state: 'detached' });
    expect(complaints).toEqual([]);
    await context.close();
  });

  it.each([
    ['alice', 'Devices of the person alice', /^3 devices$/],
    ['lot:1', 'Devices with the tag lot:1', /^6 devices$/],
    ['acme-00', 'Devices with “acme-00”', /^12 devices$/],
  ])('leads to the list of what a person means by %s', async (typed, words, count) => {
    const { page, context } = await openTab();
    await ready(page);
    await page.keyboard.press('/');
    await field(page).waitFor();
    await page.keyboard.type(typed);
    for (let i = 0; i < 20 && !(await marked(page).getByText(words).isVisible()); i++)
      await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await status(page, count);
    await context.close();
  });

  it('takes the first device for a scanner, which types Enter before the registry has answered', async () => {
    const { page, context } = await openTab();
    await ready(page);
    await page.keyboard.press('/');
    await field(page).waitFor();
    await page.route(/devices\/list\?.*search=/, async route => {
      await page.keyboard.press('Enter');
      await route.continue();
    });
    await page.keyboard.type('acme-0009');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: devices[9]!.deviceId }).waitFor();
    await context.close();
  });

  it.each([
    ['acme-0005', 5],
    ['acme-0006x{Backspace}', 6],
  ])('keeps the keys that are typed while it loads, and Enter acts on what they find: %s', async (typed, index) => {
    const { page, context } = await openTab({ place: 'devices' });
    await ready(page);
    await page.getByRole('link', { name: devices[1]!.deviceId, exact: true }).focus();
    const release = Promise.withResolvers<void>();
    const asked = page.waitForRequest('**/*.js');
    await page.route('**/*.js', async route => {
      await release.promise;
      await route.continue();
    });
    await page.keyboard.press('Control+k');
    await asked;
    await page.keyboard.type(typed.replace('{Backspace}', ''));
    if (typed.includes('{')) await page.keyboard.press('Backspace');
    await page.keyboard.press('Enter');
    release.resolve();
    await page.getByRole('heading', { name: devices[index]!.deviceId }).waitFor();
    await dialog(page).waitFor({ state: 'detached' });
    await context.close();
  });

  it('goes to pages, carries out commands, and offers nothing that the role does not have', async () => {
    const { page, context } = await openTab();
    await ready(page);
    await page.getByRole('button', { name: 'Find' }).press('Enter');
    await field(page).waitFor();
    await page.keyboard.type('webh');
    await marked(page).getByText('Webhooks').waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Webhooks' }).waitFor();
    await page.keyboard.press('Control+k');
    await field(page).waitFor();
    await page.keyboard.type('add dev');
    await marked(page).getByText('Add device').waitFor();
    await page.keyboard.press('Enter');
    await dialog(page).getByLabel('Serial number').waitFor();
    await context.close();
    const { token } = await daemon.user('looker', 'VIEWER');
    const other = await openTab({ token });
    await ready(other.page);
    await other.page.keyboard.press('Control+k');
    await dialog(other.page).getByText('Packages').waitFor();
    expect(await dialog(other.page).getByText('Webhooks').count()).toBe(0);
    expect(await dialog(other.page).getByText('Add device').count()).toBe(0);
    await other.context.close();
  });

  it('locks and unlocks a device that it finds, with the forms of its page, by keyboard alone', async () => {
    const { page, context } = await openTab();
    const { deviceId } = devices[0]!;
    await ready(page);
    for (const [command, state] of [
      ['Lock …', 'LOCKED'],
      ['Unlock …', 'ACTIVE'],
    ] as const) {
      await page.keyboard.press('Control+k');
      await field(page).waitFor();
      await page.keyboard.type(command.toLowerCase());
      await marked(page).getByText(command, { exact: true }).waitFor();
      await page.keyboard.press('Enter');
      await page.getByRole('combobox', { name: command, exact: true }).waitFor();
      await field(page).waitFor();
      await page.keyboard.type('acme-0000');
      await dialog(page).getByRole('option').first().getByText(deviceId, { exact: true }).waitFor();
      await page.keyboard.press('Enter');
      await dialog(page).getByRole('heading', { name: deviceId }).waitFor();
      await armed(page);
      await page.locator('dialog input:focus').waitFor();
      if (state === 'LOCKED') await page.keyboard.type('lost');
      await page.keyboard.press('Enter');
      await dialog(page).waitFor({ state: 'detached' });
      expect(data(await daemon.call('GET', `/api/devices/${deviceId}`)).status).toBe(state);
    }
    await context.close();
  });

  it('finds a person by name, for roles that may read persons', async () => {
    data(await daemon.call('POST', '/api/people', { userName: 'b.schmidt', name: 'Beate Schmidt' }));
    const { page, context } = await openTab();
    await ready(page);
    await page.keyboard.press('Control+k');
    await field(page).waitFor();
    await page.keyboard.type('beate');
    await marked(page).getByText('Beate Schmidt', { exact: true }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Beate Schmidt' }).waitFor();
    await context.close();
    const { token } = await daemon.user('onlooker', 'VIEWER');
    const other = await openTab({ token });
    await ready(other.page);
    await other.page.keyboard.press('/');
    await field(other.page).waitFor();
    await other.page.keyboard.type('beate');
    await dialog(other.page).getByText('No device has these words').waitFor();
    expect(other.requested.filter(url => url.includes('/people/'))).toEqual([]);
    expect(await dialog(other.page).getByText('Lock …').count()).toBe(0);
    await other.context.close();
  });

  it('lists the keys at ?, and no key does anything while a person or a scanner types', async () => {
    const { page, context, show } = await openTab({ place: 'devices' });
    await ready(page);
    await page.getByRole('searchbox').focus();
    await page.keyboard.type('/?');
    expect(await page.getByRole('searchbox').inputValue()).toBe('/?');
    expect(await dialog(page).count()).toBe(0);
    await show('station');
    await page.getByRole('heading', { name: 'Station' }).waitFor();
    await page.keyboard.type('a/b?');
    expect(await dialog(page).count()).toBe(0);
    await show('activity');
    await page.getByRole('heading', { name: 'Activity' }).waitFor();
    await accountButton(page).focus();
    await page.keyboard.press('?');
    await dialog(page).getByText('Next and previous device of the list').waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.locator('.account:focus').waitFor();
    await context.close();
  });

  it('locks a lost key in three steps from anywhere: ⌘K, the name of the person, Lock', async () => {
    const { deviceId } = devices[1]!;
    const { page, context } = await openTab({ place: 'health' });
    await ready(page);
    await page.keyboard.press('Control+k');
    await field(page).waitFor();
    await page.keyboard.type('alice');
    await dialog(page)
      .getByRole('option', { name: new RegExp(`^Lock ${deviceId} …`) })
      .click();
    await dialog(page).getByRole('heading', { name: deviceId }).waitFor();
    await armed(page);
    await page.keyboard.type('lost');
    await page.keyboard.press('Enter');
    await dialog(page).waitFor({ state: 'detached' });
    expect(data(await daemon.call('GET', `/api/devices/${deviceId}`)).status).toBe('LOCKED');
    await context.close();
  });

  it.each([
    ['1', 'Lot', 'lots/1'],
    ['registrar', 'Account', 'users/USR-'],
  ])('finds a lot and an account by name: %s', async (typed, kind, address) => {
    if (kind === 'Account') await daemon.user('registrar', 'VIEWER');
    const { page, context } = await openTab();
    await ready(page);
    await page.keyboard.press('Control+k');
    await field(page).waitFor();
    await page.keyboard.type(typed);
    await dialog(page)
      .getByRole('option', { name: `${typed} ${kind}` })
      .first()
      .click();
    await expect.poll(() => page.url()).toContain(`#/${address}`);
    await context.close();
  });

  it('changes the colors by a command', async () => {
    const { page, context } = await openTab();
    await ready(page);
    await page.keyboard.press('Control+k');
    await field(page).waitFor();
    await page.keyboard.type('dark');
    await marked(page).getByText('Colors: Dark').waitFor();
    await page.keyboard.press('Enter');
    await page.locator('html[data-theme=dark]').waitFor();
    await context.close();
  });

  it('reports why it cannot search', async () => {
    const { page, context } = await openTab();
    await ready(page);
    await page.route('**/api/devices/list?*', route => route.abort());
    await page.keyboard.press('/');
    await field(page).waitFor();
    await page.keyboard.type('acme');
    await dialog(page).getByText('The daemon does not respond.').waitFor();
    await context.close();
  });

  it.each([
    ['light', 1440],
    ['dark', 360],
  ] as const)('is accessible in %s colors at %i', async (colorScheme, width) => {
    const { page, context } = await openTab({ colorScheme, viewport: { width, height: 740 } });
    await ready(page);
    await page.keyboard.press('/');
    await field(page).waitFor();
    await page.keyboard.type('acme');
    await dialog(page).getByText('Acme-0011').first().waitFor();
    expect(await violationsOn(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    await context.close();
  });

  it('takes the device whose whole id a scanner types, not a newer one whose id contains it', async () => {
    await fleet(daemon, 'Other', 8, 0);
    const { page, context } = await openTab();
    await ready(page);
    await page.keyboard.press('/');
    await field(page).waitFor();
    await page.keyboard.type('dev-1');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: /^DEV-1\b/ }).waitFor();
    await context.close();
  });
});
