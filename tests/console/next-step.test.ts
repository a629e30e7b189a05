/** What a person sees first on a page of the console, and the step that is offered next. */
import type { Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { adminPassword } from '../support/daemon.ts';
import { data } from '../support/fleet.ts';
import { needs } from '../support/needs.ts';
import { button, consoleTests, dialog, status } from './browser.ts';
import { type FleetDevice, fleet } from './fleet.ts';

needs('chromium')('a page of the console', () => {
  const { daemon, openTab } = consoleTests();
  let devices: readonly FleetDevice[];
  let personId = '';
  beforeAll(async () => {
    devices = await fleet(daemon, 'Next', 6, 3);
    const settings = { type: 'okta', address: 'https://example.okta.com', secret: 'a token' };
    data(await daemon.call('POST', '/api/providers', { name: 'company', ...settings }));
    data(await daemon.call('POST', '/api/tokens', { name: 'line-3', role: 'VIEWER', expiresInDays: 90 }));
    personId = data(await daemon.call('POST', '/api/people', { userName: 'alice', name: 'Alice Next' })).personId;
  });

  /** Requests that are held until the end of the test. */
  const hold = async (page: Page, address: string) => {
    const end = Promise.withResolvers<void>();
    await page.route(address, async route => {
      await end.promise;
      await route.continue();
    });
    return end.resolve;
  };

  it('shows a person and the keys before their history is there', async () => {
    const { page, context } = await openTab({ place: 'health' });
    const release = await hold(page, '**/api/events?*');
    await page.goto(`${daemon.url}/console/#/people/${personId}`);
    await page.getByRole('link', { name: devices[0]!.deviceId, exact: true }).waitFor();
    release();
    await page.getByText('activated').first().waitFor();
    await context.close();
  });

  it.each([
    ['devices', '#/devices/DEV-1', 'DEV-1 · One · devmgr'],
    ['people', '#/people/PER-1', 'Alice Next · devmgr'],
    ['lots', '#/lots/1', 'Lot 1 · devmgr'],
    ['providers', '#/providers/company', 'company · devmgr'],
    ['tokens', '#/tokens/line-3', 'line-3 · devmgr'],
  ])('has the name of its record in the title of the window: %s', async (list, address, title) => {
    const { page, context } = await openTab({ place: list });
    await page.goto(`${daemon.url}/console/${address}`);
    await expect.poll(() => page.title()).toBe(title);
    await page.goto(`${daemon.url}/console/#/health`);
    await expect.poll(() => page.title()).toBe('Health · devmgr');
    await context.close();
  });

  it('clears all filters of the list at once', async () => {
    const { page, context } = await openTab({
      place: 'devices?manufacturer=Next&status=ACTIVE&tag=lot%3A1&tag=lot%3A2',
    });
    await status(page, /^0 devices$/);
    await button(page, 'Clear all filters').click();
    await status(page, /^6 devices$/);
    expect(page.url()).toMatch(/#\/devices$/);
    await context.close();
  });

  it('has the first step in the place of its records while it has none, and ends it after the first', async () => {
    const { page, context } = await openTab({ place: 'webhooks' });
    await page.locator('.empty').getByRole('button', { name: 'Create webhook …' }).click();
    await dialog(page).getByLabel('Address').fill('https://hooks.example.com/next');
    await page.locator('dialog[open]:not(:has([aria-disabled]))').waitFor();
    await page.keyboard.press('Enter');
    await page.getByLabel('Secret', { exact: true }).waitFor();
    await page.locator('.empty').waitFor({ state: 'detached' });
    expect(await page.getByLabel('Secret', { exact: true }).inputValue()).toMatch(/./);
    await context.close();
  });

  it('marks no title after the sign-in', async () => {
    const { page, context } = await openTab({ token: null });
    await page.getByLabel('User name').fill('admin');
    await page.getByLabel('Password').fill(adminPassword);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.getByText('Latest events').waitFor();
    expect(await page.locator('h1:focus').count()).toBe(0);
    await context.close();
  });

  it('takes a file that is dropped, makes a column a tag, and names faults in the words of the page', async () => {
    const { page, context } = await openTab({ place: 'import', locale: 'de-DE' });
    await page.getByLabel('Datei', { exact: true }).waitFor();
    const file = await page.evaluateHandle(`(() => {
      const files = new DataTransfer();
      files.items.add(new File(['serialNumber,deviceType,manufacturer,model,Haus\\n,UKEY,Acme,One,Bonn\\nDROP-1,UKEY,Acme,One,Bonn\\n'], 'drop.csv'));
      return files;
    })()`);
    await page.locator('main h1').dispatchEvent('drop', { dataTransfer: file });
    await page.getByLabel('Feld für die Spalte Haus').selectOption('Merkmal haus');
    await button(page, 'Datei prüfen').click();
    await page.getByText('Seriennummer: fehlt').waitFor();
    await button(page, /registrieren$/).click();
    await page.getByText('1 Gerät registriert').waitFor();
    const { list } = data(await daemon.call('GET', '/api/devices/list?serialNumber=DROP-1'));
    expect(list[0].tags).toEqual({ haus: 'Bonn' });
    await context.close();
  });
});
