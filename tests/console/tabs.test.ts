import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { needs } from '../support/needs.ts';
import { accountButton, consoleTests, menuItem, status } from './browser.ts';
import { fleet } from './fleet.ts';

needs('chromium')('two tabs of the console', () => {
  const { daemon, openTab } = consoleTests();
  const save = async (page: Page, name: string) => {
    await page.getByRole('button', { name: 'Save as view …' }).click();
    await page.getByLabel('Name of the view').fill(name);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('link', { name, exact: true }).waitFor();
  };

  it('store their choices together, and each shows at once what the other one has stored', async () => {
    await fleet(daemon, 'Tabs', 2);
    const first = await openTab({ place: 'devices?manufacturer=Tabs' });
    await status(first.page, /^2 devices$/);
    const other = await first.context.newPage();
    await other.goto(`${daemon.url}/console/#/devices?status=LOCKED`);
    await status(other, /^0 devices$/);
    await save(first.page, 'Ours');
    await other.getByRole('link', { name: 'Ours' }).waitFor();
    await save(other, 'Lost ones');
    await first.page.getByRole('link', { name: 'Lost ones' }).waitFor();
    await accountButton(other).click();
    await menuItem(other, 'Dark').click();
    await first.page.locator('html[data-theme=dark]').waitFor();
    const stored = await other.evaluate(() => JSON.parse(localStorage.getItem('devmgr.preferences')!));
    expect(stored).toMatchObject({ theme: 'dark', views: [{ name: 'Ours' }, { name: 'Lost ones' }] });
    await first.context.close();
  });
});
