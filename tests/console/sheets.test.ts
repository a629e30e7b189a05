/** A record at the side of its list, and the first steps in a registry without records. */
import { beforeAll, expect, it } from 'vitest';
import { adminPassword } from '../support/daemon.ts';
import { needs } from '../support/needs.ts';
import { armed, button, choose, consoleTests, dialog, settled, tabTo, violationsOn } from './browser.ts';
import { fillSample } from './sample.ts';

needs('chromium')('a registry without records', () => {
  const { openTab } = consoleTests();

  it('offers the first steps where devices would be, and none for a search', async () => {
    const { page, context, show } = await openTab();
    for (const place of ['overview', 'devices']) {
      await show(place);
      await page.getByText('This registry has no devices yet.').waitFor();
      expect(await page.locator('.empty').getByRole('link', { name: 'Import a file' }).getAttribute('href')).toBe(
        '#/import',
      );
      expect(await page.locator('.empty').getByRole('link', { name: 'Open the station' }).getAttribute('href')).toBe(
        '#/station',
      );
      await page.locator('.empty').getByRole('button', { name: 'Add device …' }).press('Enter');
      await dialog(page).getByLabel('Serial number').waitFor();
      await page.keyboard.press('Escape');
      await dialog(page).waitFor({ state: 'detached' });
    }
    await show('devices?search=none');
    await page.getByText('No devices match.').waitFor();
    await show('people');
    await page.getByText('Persons come from').waitFor();
    await show('people?keyword=none');
    await page.getByText('No persons match.').waitFor();
    await show('nowhere');
    await page.locator('main').getByRole('link', { name: 'Overview' }).waitFor();
    await context.close();
  });
});

needs('chromium')('a sheet of the console', () => {
  const { daemon, openTab } = consoleTests();
  beforeAll(async () => {
    await fillSample({ url: daemon.url, password: adminPassword });
  });

  it('shows a person by keyboard alone: the keys, what happened, the next person, and an action', async () => {
    const { page, context, complaints } = await openTab({ place: 'people' });
    const name = (person: string) => page.locator('main').getByRole('rowheader', { name: person }).getByRole('link');
    await tabTo(page, name('pia.fischer'));
    await page.keyboard.press('Space');
    const sheet = page.locator('.sheet');
    await sheet.getByRole('heading', { name: 'pia.fischer' }).waitFor();
    await sheet.getByRole('heading', { name: /^Keys/ }).waitFor();
    await sheet.locator('.events li').first().waitFor();
    await settled(page);
    expect(await violationsOn(page, { part: '.sheet' })).toEqual([]);
    await page.keyboard.press('ArrowDown');
    await sheet.getByRole('heading', { name: 'omar.haddad' }).waitFor();
    await tabTo(page, sheet.getByRole('button', { name: 'Mark as left …' }));
    await page.keyboard.press('Enter');
    await armed(page);
    await page.keyboard.press('Escape');
    await dialog(page).waitFor({ state: 'detached' });
    await page.keyboard.press('Escape');
    await sheet.waitFor({ state: 'detached' });
    await name('omar.haddad').and(page.locator(':focus')).waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('shows the record of a row that is clicked, and no sheet for a click on a link', async () => {
    const { page, context, show } = await openTab({ place: 'devices' });
    const sheet = page.locator('.sheet');
    await page.locator('main tbody tr').nth(2).locator('td.when').click();
    await sheet.locator('.identity').waitFor();
    await page.keyboard.press('Escape');
    await sheet.waitFor({ state: 'detached' });
    await show('webhooks');
    await page.locator('main tbody td').nth(1).click();
    await sheet.getByText('https://hooks.example.com/devmgr', { exact: true }).waitFor();
    await sheet.getByText('locked, retired', { exact: true }).waitFor();
    await button(page, 'Close').click();
    await show('users');
    await page.locator('main').getByRole('link', { name: 'ada', exact: true }).click();
    await page.getByRole('heading', { name: 'ada' }).waitFor();
    expect(await sheet.count()).toBe(0);
    await context.close();
  });

  it('is offered by the menu of each row', async () => {
    const { page, context } = await openTab({ place: 'tokens' });
    await choose(page, 'line-3', 'Show beside the list');
    await page.locator('.sheet').getByRole('heading', { name: 'line-3' }).waitFor();
    await context.close();
  });

  it('is not needed on the overview, whose first row names what has changed in a week', async () => {
    const { page, context } = await openTab();
    await page.locator('.matters').getByText('Compared with a week ago:').waitFor();
    expect(
      await page
        .locator('.matters')
        .getByRole('link', { name: /^▲ \d+ locked$/ })
        .getAttribute('href'),
    ).toBe('#/devices?status=LOCKED');
    await context.close();
  });
});
