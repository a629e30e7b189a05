import type { Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { data } from '../support/fleet.ts';
import { needs } from '../support/needs.ts';
import { armed, button, choose, consoleTests, dialog, status, tabTo, violationsOn } from './browser.ts';
import { type FleetDevice, fleet } from './fleet.ts';

const list = 'devices?manufacturer=View&sortBy=serialNumber&sortOrder=asc';
const heads = (page: Page) =>
  page.locator('thead th').evaluateAll(cells => cells.map(cell => cell.textContent?.trim()));
const focused = (page: Page) => page.evaluate<string>('document.activeElement.textContent');
const topOf = async (page: Page, selector: string) => (await page.locator(selector).first().boundingBox())!.y;

needs('chromium')('the view of the list of devices', () => {
  const { daemon, openTab } = consoleTests();
  let devices: FleetDevice[];
  beforeAll(async () => {
    devices = await fleet(daemon, 'View', 120, 60);
  });
  const id = (index: number): string => devices[index]!.deviceId;

  it('goes through the rows with j and k, selects with x and Shift+x, opens with Enter, and continues there after Back', async () => {
    const { page, context } = await openTab({ place: list });
    await status(page, /^120 devices$/);
    await page.keyboard.press('j');
    expect(await focused(page)).toBe(id(0));
    for (const key of ['j', 'j', 'k', 'x', 'j', 'j', 'j', 'Shift+X']) await page.keyboard.press(key);
    await status(page, /^4 of 120 devices selected$/);
    expect(await focused(page)).toBe(id(4));
    await page.keyboard.press('Enter');
    // The link that had the focus has gone with its page.
    await page.locator('h1:focus').getByText(id(4)).waitFor();
    await page.keyboard.press('j');
    await page.goBack();
    await status(page, /^4 of 120 devices selected$/);
    await expect.poll(() => focused(page)).toBe(id(4));
    await page.keyboard.press('j');
    expect(await focused(page)).toBe(id(5));
    await page.getByLabel('Search').fill('');
    await page.getByLabel('Search').pressSequentially('jx');
    await page.getByText('No devices match.').waitFor();
    await context.close();
  });

  it('shows a device beside the list with Space, the next with the arrows, acts there, and closes with Esc, by keyboard alone', async () => {
    const { page, context, complaints } = await openTab({ place: list, viewport: { width: 1280, height: 800 } });
    await status(page, /^120 devices$/);
    const address = page.url();
    const sheet = page.getByRole('complementary');
    const isShown = async (index: number) => {
      await sheet.locator('h2:focus').getByText(id(index), { exact: true }).waitFor();
      await page.locator('tr[aria-current]', { has: page.getByText(id(index), { exact: true }) }).waitFor();
      await sheet.locator('dl').getByText(`View-000${index}`).first().waitFor();
    };
    for (const key of ['j', 'j', 'Space']) await page.keyboard.press(key);
    await isShown(1);
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowUp']) await page.keyboard.press(key);
    await isShown(3);
    expect(await violationsOn(page)).toEqual([]);
    await tabTo(page, sheet.getByRole('button', { name: 'Lock …' }));
    await page.keyboard.press('Enter');
    await armed(page);
    await page.keyboard.type('lost');
    await page.keyboard.press('Enter');
    await sheet.locator('h2 .badge').getByText('locked').waitFor();
    await page.locator('tr[aria-current]').getByText('locked').waitFor();
    await page.keyboard.press('Escape');
    await sheet.waitFor({ state: 'detached' });
    expect([await focused(page), page.url()]).toEqual([id(3), address]);
    await page.keyboard.press('Space');
    await isShown(3);
    await tabTo(page, sheet.getByRole('button', { name: 'Unlock …' }));
    await page.keyboard.press('Enter');
    await armed(page);
    await page.keyboard.press('Escape');
    await dialog(page).waitFor({ state: 'detached' });
    await page.keyboard.press('Enter');
    await armed(page);
    await tabTo(page, dialog(page).getByRole('button', { name: 'Unlock', exact: true }));
    await page.keyboard.press('Enter');
    await sheet.locator('h2 .badge').getByText('active').waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('shows a device beside the list from the menu of its row, and on all of a phone', async () => {
    const { page, context } = await openTab({ place: list, viewport: { width: 360, height: 740 } });
    await status(page, /^120 devices$/);
    const sheet = page.getByRole('complementary');
    for (const index of [0, 1]) {
      await choose(page, id(index), 'Show beside the list');
      await sheet.locator('h2:focus').getByText(id(index)).waitFor();
      expect(await sheet.boundingBox()).toEqual({ x: 0, y: 0, width: 360, height: 740 });
      await button(page, 'Close').click();
      await sheet.waitFor({ state: 'detached' });
      expect(await focused(page)).toBe(id(index));
    }
    await context.close();
  });

  it.each([1280, 768])('keeps bar and head in sight at %s px', async width => {
    const { page, context } = await openTab({ place: list, viewport: { width, height: 700 } });
    await status(page, /^120 devices$/);
    await page
      .getByRole('checkbox', { name: /^Select DEV/ })
      .nth(2)
      .check();
    await page.getByRole('link', { name: id(49) }).scrollIntoViewIfNeeded();
    const bar = (await page.locator('.list-bar').boundingBox())!;
    expect(bar.y).toBeGreaterThanOrEqual(0);
    // Below 960 px the page has a header of 56 px.
    expect(bar.y).toBeLessThan(40 + (width < 960 ? 56 : 0));
    const head = await topOf(page, 'thead th');
    expect(Math.abs(head - bar.y - bar.height)).toBeLessThanOrEqual(2);
    expect(await topOf(page, `tr:has-text("${id(0)}")`)).toBeLessThan(head);
    await button(page, 'Lock …').first().click();
    await dialog(page).waitFor();
    await context.close();
  });

  it('shows the columns that were chosen: in the address, and in this browser later', async () => {
    const { page, context, requested } = await openTab({ place: list });
    await status(page, /^120 devices$/);
    const before = [
      '',
      'Device',
      'Serial number ↑',
      'Manufacturer',
      'Model',
      'State',
      'Person',
      'Registered',
      'Tags',
      'Actions',
    ];
    expect(await heads(page)).toEqual(before);
    await page.getByText('Columns', { exact: true }).first().click();
    await page.getByLabel('Manufacturer', { exact: true }).uncheck();
    await page.getByLabel('Last used', { exact: true }).check();
    const after = [
      '',
      'Device',
      'Serial number ↑',
      'Model',
      'State',
      'Person',
      'Registered',
      'Last used',
      'Tags',
      'Actions',
    ];
    expect(await heads(page)).toEqual(after);
    expect(page.url()).toContain('columns=serial');
    expect(requested.filter(url => url.includes('/api/devices/list'))).toHaveLength(1);
    await page.goto(`${daemon.url}/console/#/devices?status=ACTIVE`);
    await status(page, /^60 devices$/);
    expect(await heads(page)).toEqual(after.map(head => head.replace(' ↑', '').replace('Registered', 'Registered ↓')));
    await page.goto(`${daemon.url}/console/#/devices?columns=state`);
    await page.locator('thead th').nth(4).waitFor({ state: 'detached' });
    expect(await heads(page)).toEqual(['', 'Device', 'State', 'Actions']);
    await context.close();
  });

  it('leaves out the columns that are looked for last where the window is narrow, and scrolls at no width', async () => {
    const all = 'device,serial,type,manufacturer,model,state,user,registered,used,proof,tags';
    const { page, context } = await openTab({ place: `${list}&columns=${all}` });
    await status(page, /^120 devices$/);
    const seen = () => page.locator('thead th:visible').evaluateAll(cells => cells.length);
    const counts = [];
    for (const width of [640, 768, 1024, 1200, 1440]) {
      await page.setViewportSize({ width, height: 900 });
      counts.push(await seen());
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    }
    expect(counts).toEqual([7, 7, 7, 8, 13]);
    await context.close();
  });

  it('has three devices on the screen of a phone, the state beside the id, and each field at the same place', async () => {
    const place = `${list}&status=ACTIVE,INACTIVE`;
    const { page, context } = await openTab({ place, viewport: { width: 360, height: 740 } });
    await status(page, /^120 devices$/);
    await page.locator('tbody tr').nth(3).waitFor();
    const boxes = await page.locator('tbody tr').evaluateAll(all =>
      all.slice(0, 4).map(card => {
        const top = card.getBoundingClientRect().top;
        const placeOf = (part: string) => card.querySelector(part)!.getBoundingClientRect();
        const { left, top: y } = placeOf('[data-head="Registered"]');
        return { top, state: placeOf('.state').top - placeOf('th').top, registered: [left, y - top] };
      }),
    );
    expect(boxes[3]!.top - boxes[0]!.top).toBeLessThanOrEqual(740);
    for (const { state, registered } of boxes) {
      expect(Math.abs(state)).toBeLessThan(8);
      expect(registered).toEqual(boxes[0]!.registered);
    }
    await context.close();
  });

  it('orders the cards of a phone by a list in the line of the filters', async () => {
    const { page, context } = await openTab({ place: list, viewport: { width: 360, height: 740 } });
    await status(page, /^120 devices$/);
    const order = page.getByLabel('Order', { exact: true });
    const top = async (part: string) => (await page.locator(part).first().boundingBox())!.y;
    expect(await top('.order')).toBe(await top('.tools summary'));
    await tabTo(page, order);
    await order.selectOption('Serial number ↓');
    await page.locator('tbody th').first().getByText(id(119)).waitFor();
    await context.close();
  });

  it('saves a search as a view, shows it again and removes it, by keyboard alone', async () => {
    const { page, context } = await openTab({ place: `${list}&status=ACTIVE` });
    await status(page, /^60 devices$/);
    await button(page, 'Save as view …').press('Enter');
    await armed(page);
    await page.keyboard.type('In use');
    expect(await violationsOn(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await dialog(page).waitFor({ state: 'detached' });
    const views = page.getByRole('navigation', { name: 'Views' });
    await views.getByRole('link', { name: 'All' }).press('Enter');
    await status(page, /^120 devices$/);
    await page.reload();
    await views.getByRole('link', { name: 'In use' }).press('Enter');
    await status(page, /^60 devices$/);
    expect(page.url()).toContain('status=ACTIVE');
    await views.getByRole('button', { name: 'Remove the view In use' }).press('Enter');
    await views.getByRole('link', { name: 'In use' }).waitFor({ state: 'detached' });
    expect(await violationsOn(page)).toEqual([]);
    await context.close();
  });

  it('locks a device from the menu of its row, by keyboard alone', async () => {
    const { page, context } = await openTab({ place: list });
    await status(page, /^120 devices$/);
    await page.getByRole('button', { name: `Actions for ${id(3)}`, exact: true }).press('Enter');
    await page.getByRole('menuitem', { name: 'Lock …' }).waitFor();
    expect(await page.getByRole('menuitem').allTextContents()).toEqual([
      'Lock …',
      'New code …',
      'Retire …',
      'Show beside the list',
    ]);
    expect(await violationsOn(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await armed(page);
    await page.keyboard.type('lost');
    await page.keyboard.press('Enter');
    await page.locator('tr', { hasText: 'View-0003' }).getByText('locked').waitFor();
    await context.close();
  });

  it('finds what rows show: user, model, tag, and the name of the person, or a person by the e-mail address', async () => {
    const { page, context } = await openTab({ place: 'devices?manufacturer=View' });
    await status(page, /^120 devices$/);
    for (const [text, count] of [
      ['alice', /^60 devices$/],
      ['tag:lot:1', /^60 devices$/],
      ['lot:1 ALICE', /^30 devices$/],
    ] as const) {
      await page.getByLabel('Search').fill(text);
      await status(page, count);
    }
    await page.getByLabel('Search').fill('');
    await status(page, /^120 devices$/);

    const made = data(
      await daemon.call('POST', '/api/devices/register', {
        deviceType: 'UKEY',
        serialNumber: 'PERSON-1',
        manufacturer: 'Other',
        model: 'Nitrokey 3A NFC',
        tags: { site: 'Bonn' },
      }),
    );
    data(
      await daemon.call('POST', '/api/people', {
        userName: 'ada',
        name: 'Ada Lovelace',
        email: 'countess@example.com',
      }),
    );
    const { deviceId, activationCode } = made;
    data(await daemon.call('POST', '/api/devices/activate', { deviceId, activationCode, userId: 'ada' }));
    await page.goto(`${daemon.url}/console/#/devices`);
    await status(page, /^121 devices$/);
    for (const text of ['lovel', 'Nitrokey', 'nitrokey nfc', 'site:Bonn', 'maker:other person:ada']) {
      await page.getByLabel('Search').fill(text);
      await status(page, /^1 device$/);
      await page.getByText('PERSON-1').waitFor();
    }
    await page.getByLabel('Search').fill('countess@');
    await page.getByRole('link', { name: 'Ada Lovelace' }).click();
    await page.getByText('PERSON-1').waitFor();
    await page.goto(`${daemon.url}/console/#/devices?keyword=View-0001`);
    await status(page, /^1 device$/);
    await page.getByText('Id or serial number: View-0001').waitFor();
    await page.goto(`${daemon.url}/console/#/devices?search=View-0001`);
    await status(page, /^1 device$/);
    await button(page, 'Person: View-0001').click();
    await page.getByText('No devices match.').waitFor();
    expect(page.url()).toContain('userId=View-0001');
    await context.close();
  });

  it('cuts no model beside an empty column at 1440 pixels, no time and no last tag at 1280, and no page of the navigation', async () => {
    const devices = Array.from({ length: 30 }, (_, i) => ({
      deviceType: 'UKEY',
      serialNumber: `Wide-${1000 + i}`,
      manufacturer: 'Yubico',
      model: i % 2 ? 'YubiKey 5C NFC FIPS' : 'Security Key NFC',
      tags: { lot: '2026-43', site: 'Bonn', station: 'line-1' },
    }));
    data(await daemon.call('POST', '/api/devices/batch-register', { devices }));
    const { page, context } = await openTab({
      place: 'devices?manufacturer=Yubico',
      viewport: { width: 1440, height: 900 },
    });
    await status(page, /^30 devices$/);
    await page.locator('tbody tr').nth(29).waitFor();
    const cut = (cells: string) =>
      page.locator(cells).evaluateAll(all => all.filter(each => each.scrollWidth > each.clientWidth).length);
    expect(await cut('tbody td[data-head="Model"]')).toBe(0);
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.locator('tbody time').evaluateAll(all => {
      for (const each of all) each.textContent = '58 minutes ago';
    });
    expect(await cut('tbody td.when')).toBe(0);
    expect(await cut('tbody td.tags')).toBe(0);
    expect(await page.locator('tbody td.tags .more:visible').first().textContent()).toBe('+2');
    expect(await cut('nav')).toBe(0);
    expect(
      await page.locator('nav').evaluateAll(all => all.filter(each => each.scrollHeight > each.clientHeight).length),
    ).toBe(0);
    await context.close();
  });
});
