import type { Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { data } from '../support/fleet.ts';
import { needs } from '../support/needs.ts';
import { button, consoleTests, signOut, status } from './browser.ts';
import { type FleetDevice, fleet } from './fleet.ts';

const list = 'devices?manufacturer=Return&sortBy=serialNumber&sortOrder=asc';
const box = (page: Page, deviceId: string) => page.getByRole('checkbox', { name: `Select ${deviceId}` });
const link = (page: Page, deviceId: string) => page.getByRole('link', { name: deviceId, exact: true });
const scrolled = (page: Page) => page.evaluate<number>('document.scrollingElement.scrollTop');
const requestsOf = (requested: readonly string[], path: string) => requested.filter(url => url.includes(path)).length;

needs('chromium')('Back and a reload in the console', () => {
  const { daemon, openTab } = consoleTests();
  let devices: FleetDevice[];
  beforeAll(async () => {
    devices = await fleet(daemon, 'Return', 120, 120);
  });
  const id = (index: number): string => devices[index]!.deviceId;

  /** A tab whose list has six devices selected, and is scrolled to another one. */
  const leftList = async () => {
    const tab = await openTab({ place: list });
    const { page } = tab;
    await status(page, /^120 devices$/);
    await page.getByText('live', { exact: true }).waitFor();
    await box(page, id(30)).click();
    await box(page, id(35)).click({ modifiers: ['Shift'] });
    await status(page, /^6 of 120 devices selected$/);
    await link(page, id(40)).scrollIntoViewIfNeeded();
    const top = await scrolled(page);
    expect(top).toBeGreaterThan(300);
    return { ...tab, top };
  };

  it('selects all devices between two clicks with Shift, and takes them out again', async () => {
    const { page, context } = await leftList();
    for (let i = 29; i <= 36; i++) expect(await box(page, id(i)).isChecked()).toBe(i >= 30 && i <= 35);
    await box(page, id(35)).click();
    await box(page, id(32)).click({ modifiers: ['Shift'] });
    await status(page, /^2 of 120 devices selected$/);
    await context.close();
  });

  it('Back from a device shows the list as it was left: filters, position and selection, without a request', async () => {
    const { page, context, requested, top } = await leftList();
    await link(page, id(40)).click();
    await page.getByRole('heading', { name: id(40) }).waitFor();
    expect(await scrolled(page)).toBe(0);
    await page.goBack();
    await status(page, /^6 of 120 devices selected$/);
    await expect.poll(() => scrolled(page)).toBe(top);
    expect(await box(page, id(33)).isChecked()).toBe(true);
    expect(requestsOf(requested, '/api/devices/list')).toBe(1);
    await context.close();
  });

  it('“All devices” leads from a device to the list with its filters, also after a reload', async () => {
    const { page, context } = await openTab({ place: list });
    await status(page, /^120 devices$/);
    await link(page, id(3)).click();
    await page.getByRole('heading', { name: id(3) }).waitFor();
    await page.reload();
    await page.getByRole('link', { name: '← All devices' }).click();
    await status(page, /^120 devices$/);
    expect(page.url()).toContain(list);
    await context.close();
  });

  it('draws the cards of a phone when they are near, and Back shows the same card at the same place', async () => {
    const { page, context } = await openTab({ place: list, viewport: { width: 360, height: 740 } });
    const isDrawn = (index: number) =>
      link(page, id(index)).evaluate(card => card.checkVisibility({ contentVisibilityAuto: true }));
    await expect.poll(() => isDrawn(0)).toBe(true);
    await link(page, id(49)).waitFor({ state: 'attached' });
    expect(await isDrawn(49)).toBe(false);
    // A card has its own height once it was drawn: on a busy machine, one that is passed quickly never is.
    for (let card = 0; card <= 40; card++) {
      await link(page, id(card)).scrollIntoViewIfNeeded();
      await expect.poll(() => isDrawn(card)).toBe(true);
    }
    const placeOf = async () => Math.round((await link(page, id(40)).boundingBox())?.y ?? -1);
    const before = await placeOf();
    await link(page, id(40)).click();
    await page.getByRole('heading', { name: id(40) }).waitFor();
    await page.goBack();
    await expect.poll(placeOf).toBe(before);
    await context.close();
  });

  it('a reload shows the list as it was left', async () => {
    const { page, context, top } = await leftList();
    await page.reload();
    await status(page, /^6 of 120 devices selected$/);
    await expect.poll(() => scrolled(page)).toBe(top);
    await context.close();
  });

  it('Back to an earlier search selects what was selected there', async () => {
    const { page, context } = await leftList();
    await page.getByLabel('Search').fill('Return-01');
    await status(page, /^20 devices$/);
    await page.goBack();
    await status(page, /^6 of 120 devices selected$/);
    await page.goForward();
    await status(page, /^20 devices$/);
    await context.close();
  });

  it('needs requests for each device that is looked at and its credentials, and none for the list between them', async () => {
    const { page, context, requested } = await openTab({ place: list });
    await status(page, /^120 devices$/);
    await page.getByText('live', { exact: true }).waitFor();
    const before = requested.length;
    for (let i = 0; i < 33; i++) {
      await link(page, id(i)).click();
      await page.getByText('No older events.').waitFor();
      await page.goBack();
      await status(page, /^120 devices$/);
    }
    // A page to which nothing was sent for 10 s asks whether the daemon is there.
    const made = requested.slice(before).filter(url => url.includes('/api/') && !url.endsWith('/api/health'));
    expect(made.map(url => new URL(url).pathname)).toEqual(
      devices
        .slice(0, 33)
        .flatMap(({ deviceId }) => [`/api/devices/${deviceId}`, `/api/devices/${deviceId}/credentials`]),
    );
    await context.close();
  }, 240_000);

  it('Back shows what has changed since, and counts the changes of devices that the page does not show', async () => {
    const { page, context } = await leftList();
    await link(page, id(41)).click();
    await page.getByRole('heading', { name: id(41) }).waitFor();
    data(await daemon.call('POST', `/api/devices/${id(42)}/lock`, { reason: 'lost' }));
    await page.goBack();
    await page.locator('tr', { hasText: 'Return-0042' }).getByText('locked').waitFor();
    await link(page, id(41)).click();
    await page.getByRole('heading', { name: id(41) }).waitFor();
    const other = { deviceType: 'UKEY', serialNumber: 'OTHER-1', manufacturer: 'Other', model: 'One' };
    data(await daemon.call('POST', '/api/devices/register', other));
    await page.goBack();
    await button(page, '1 other device changed. Show').waitFor();
    await context.close();
  });

  it('leaves nothing of it to the next person', async () => {
    const { page, context } = await leftList();
    await link(page, id(40)).click();
    await page.getByRole('heading', { name: id(40) }).waitFor();
    await signOut(page);
    await page.getByLabel('User name').waitFor();
    await page.reload();
    await page.getByLabel('User name').waitFor();
    expect(await page.evaluate("sessionStorage.getItem('devmgr.history')")).not.toContain(id(33));
    await context.close();
  });
});
