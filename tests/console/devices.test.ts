import { gzipSync } from 'node:zlib';
import type { Page, Route } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';

import { data } from '../support/fleet.ts';
import { needs } from '../support/needs.ts';
import { consoleTests, status, violationsOn } from './browser.ts';
import { fleet } from './fleet.ts';

const serials = (page: Page) => page.locator('tbody td.code').allTextContents();

/** Number of the elements that can be given the focus. Runs in the page. */
function reachable(selector: string): number {
  const { document } = globalThis as unknown as {
    document: { activeElement: unknown; querySelectorAll(selector: string): Iterable<{ focus(): void }> };
  };
  return [...document.querySelectorAll(selector)].filter(element => {
    element.focus();
    return document.activeElement === element;
  }).length;
}

needs('chromium')('the list of devices in the console', () => {
  const { daemon, openTab } = consoleTests();
  beforeAll(async () => {
    await fleet(daemon, 'Plain', 120, 30);
  });

  it('searches as one types, and aborts the request of an earlier text', async () => {
    const { page, context } = await openTab({ place: 'devices?manufacturer=Plain' });
    await status(page, /^120 devices$/);
    const isFor = (text: string, url: string) => new URL(url).searchParams.get('search') === text;
    await page.route(
      url => isFor('plain-00', url.href),
      () => {},
    );
    const asked = page.waitForRequest(request => isFor('plain-00', request.url()));
    await page.getByLabel('Search').fill('plain-00');
    await asked;
    const aborted = page.waitForEvent('requestfailed', request => isFor('plain-00', request.url()));
    await page.getByLabel('Search').pressSequentially('42');
    expect((await aborted).failure()?.errorText).toBe('net::ERR_ABORTED');
    await status(page, /^1 device$/);
    expect(await serials(page)).toEqual(['Plain-0042']);
    await page.goBack();
    await status(page, /^120 devices$/);
    expect(await page.getByLabel('Search').inputValue()).toBe('');
    await page.getByLabel('Search').fill('plain-0043');
    await status(page, /^1 device$/);
    await page.goBack();
    await status(page, /^120 devices$/);
    await context.close();
  });

  it('keeps filters, order and page in the address: Back and a link show the same', async () => {
    const { page, context } = await openTab({ place: 'devices' });
    await page.getByText('Filters', { exact: true }).click();
    const offered = page.locator('datalist option[value="Plain"]');
    await expect.poll(() => offered.textContent()).toBe('120 devices');
    await expect.poll(() => page.locator('datalist option[value="One"]').textContent()).toMatch(/^[0-9]+ devices$/);
    await page.getByLabel('Manufacturer (exact)').fill('Plain');
    await page.keyboard.press('Enter');
    await page.getByLabel('inactive').check();
    await status(page, /^90 devices$/);
    await page.getByRole('button', { name: 'Serial number' }).click();
    await page.getByText('Plain-0030').waitFor();
    await page.getByRole('link', { name: 'Next' }).click();
    await page.getByText('Page 2 of 2').waitFor();
    await page.getByText('Plain-0119').waitFor();
    const query = new URLSearchParams(page.url().split('?')[1]);
    expect(Object.fromEntries(query)).toEqual({
      manufacturer: 'Plain',
      status: 'INACTIVE',
      sortBy: 'serialNumber',
      sortOrder: 'asc',
      page: '2',
    });
    const shown = await serials(page);
    expect(shown).toEqual(Array.from({ length: 40 }, (_, i) => `Plain-${`${80 + i}`.padStart(4, '0')}`));
    const second = await openTab({ place: `devices?${query}` });
    await second.page.getByText('Plain-0119').waitFor();
    expect(await serials(second.page)).toEqual(shown);
    expect(await second.page.getByRole('columnheader', { name: 'Serial number' }).getAttribute('aria-sort')).toBe(
      'ascending',
    );
    await second.context.close();
    await page.goBack();
    await page.getByText('Page 1 of 2').waitFor();
    await page.getByText('Plain-0030').waitFor();
    await page.goBack();
    await page.goBack();
    await status(page, /^120 devices$/);
    await page.getByRole('button', { name: 'Remove the filter Manufacturer (exact)' }).click();
    expect(page.url()).toBe(`${daemon.url}/console/#/devices`);
    await context.close();
  });

  it('dims the rows of an earlier filter until those of the new one are there, and nothing can be done with them', async () => {
    const { page, context } = await openTab({ place: 'devices?manufacturer=Plain' });
    await page.getByRole('checkbox', { name: 'Select all on this page' }).check();
    const held: Route[] = [];
    await page.route('**/api/devices/list?*status=LOCKED*', route => void held.push(route));
    await page.evaluate("location.hash = '#/devices?manufacturer=Plain&status=LOCKED'");
    await status(page, 'Updating …');
    const rows = page.locator('[inert] tbody tr');
    expect(await rows.count()).toBe(50);
    // Neither the pointer nor the keyboard reaches them.
    expect(await page.evaluate(reachable, 'main table input, main .pager a, main .list-bar button')).toBe(0);
    await expect.poll(() => held.length).toBe(1);
    await held[0]!.abort();
    await page.getByRole('alert').getByText('The daemon does not respond.').waitFor();
    expect(await rows.count()).toBe(50);
    await page.unroute('**/api/devices/list?*status=LOCKED*');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('No devices match.').waitFor();
    expect([await page.locator('[inert]').count(), await page.locator('tbody tr').count()]).toEqual([0, 0]);
    await context.close();
  });

  it('keeps the focus when the rows of a new order arrive', async () => {
    const { page, context } = await openTab({ place: 'devices?manufacturer=Plain' });
    const head = page.getByRole('button', { name: 'Serial number' });
    await head.focus();
    await page.keyboard.press('Enter');
    await page.locator('th[aria-sort="ascending"]').getByText('Serial number').waitFor();
    await page.getByText('Plain-0000').waitFor();
    await page.locator('button.sort:focus').getByText('Serial number').waitFor();
    await context.close();
  });

  it('sends dates as instants: until a date includes the day', async () => {
    const { page, requested, context } = await openTab({
      place:
        'devices?createdFrom=2026-03-01&createdTo=2026-03-31&lastUsedBefore=2026-01-01T10:00:00.000Z&tag=lot:1&tag=a:b',
      timezoneId: 'Europe/Berlin',
    });
    await page.getByText('No devices match.').waitFor();
    const list = new URL(requested.find(url => url.includes('/api/devices/list'))!).searchParams;
    expect(list.get('createdFrom')).toBe('2026-02-28T23:00:00.000Z');
    expect(list.get('createdTo')).toBe('2026-03-31T22:00:00.000Z');
    expect(list.get('lastUsedBefore')).toBe('2026-01-01T10:00:00.000Z');
    expect(list.getAll('tag')).toEqual(['lot:1', 'a:b']);
    await page.getByText('Registered until: Mar 31, 2026').waitFor();
    await context.close();
  });

  it('names a filter that is not valid, and shows no devices as if it did not apply', async () => {
    const { page, context } = await openTab({ place: 'devices?createdTo=yesterday' });
    await page.getByRole('alert').getByText('createdTo').waitFor();
    expect(await page.locator('tbody tr').count()).toBe(0);
    await context.close();
  });

  it('refreshes rows that it shows, and counts the changes of others until they are asked for', async () => {
    const [shown] = await fleet(daemon, 'Live', 1, 1);
    const { page, context } = await openTab({ place: 'devices?manufacturer=Live' });
    await page.getByText('Live-0000').waitFor();
    await page.getByText('live', { exact: true }).waitFor();
    await daemon.call('POST', '/api/devices/register', {
      deviceType: 'UKEY',
      serialNumber: 'Live-0001',
      manufacturer: 'Live',
      model: 'One',
    });
    await page.getByRole('button', { name: '1 other device changed. Show' }).click();
    await page.getByText('Live-0001').waitFor();
    await page.getByRole('button', { name: 'changed. Show' }).waitFor({ state: 'detached' });
    await daemon.call('POST', `/api/devices/${shown!.deviceId}/lock`, { reason: 'lost' });
    await page.locator('tbody .badge', { hasText: 'locked' }).waitFor();
    await context.close();
  });

  it('leads from a page after the last one to the last one', async () => {
    const { page, context } = await openTab({ place: 'devices?manufacturer=Plain&page=9999' });
    await page.getByText('Page 3 of 3').waitFor();
    await page.getByText('Plain-0000').waitFor();
    expect(await page.locator('tbody tr').count()).toBe(20);
    expect(page.url()).toContain('page=3');
    await context.close();
  });

  it('translates the refusals of the daemon', async () => {
    const { page, context } = await openTab({ locale: 'de-DE', place: 'devices/DEV-404' });
    await page.getByRole('alert').getByText('Dieses Gerät gibt es nicht.').waitFor();
    await context.close();
  });

  it.each(['csv', 'ndjson'] as const)('exports what the filters select as %s', async format => {
    const { page, context } = await openTab({
      place: 'devices?manufacturer=Plain&status=ACTIVE&tag=lot:1',
    });
    // A dialog of the system cannot be answered here.
    await page.evaluate('delete window.showSaveFilePicker');
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: `Export ${format.toUpperCase()}` }).click();
    const file = await download;
    expect(file.suggestedFilename()).toBe(`devices.${format}`);
    const saved = await new Response(await file.createReadStream()).text();
    const direct = await fetch(
      `${daemon.url}/api/devices/export?format=${format}&manufacturer=Plain&status=ACTIVE&tag=lot:1`,
      { headers: { authorization: `Bearer ${daemon.adminToken}` } },
    );
    expect(saved).toBe(await direct.text());
    expect(saved.split('\n').filter(line => line.includes('Plain-'))).toHaveLength(15);
    await context.close();
  });

  it('shows a VIEWER neither actions nor codes', async () => {
    const { token } = await daemon.user('watcher', 'VIEWER');
    const { page, context } = await openTab({ token, place: 'devices?keyword=none' });
    const bodies: Promise<string>[] = [];
    page.on('response', response => {
      if (response.url().includes('/api/devices')) bodies.push(response.text());
    });
    await page.getByText('No devices match.').waitFor();
    await page.goto(`${daemon.url}/console/#/devices?manufacturer=Plain`);
    await status(page, /^120 devices$/);
    await page.getByRole('link', { name: 'Next' }).click();
    await page.getByText('Page 2 of 3').waitFor();
    expect(await page.getByRole('checkbox').count()).toBe(0);
    const code = /[A-Z2-9]{4}(-[A-Z2-9]{4}){3}/;
    expect(await page.content()).not.toMatch(code);
    for (const body of await Promise.all(bodies)) expect(body).not.toMatch(code);
    expect(bodies.length).toBeGreaterThan(0);
    await context.close();
  });

  it('has rows of one line for the longest texts, and shows the whole text under the pointer and at the focus', async () => {
    const long = (length: number, letter: string) => letter.repeat(length);
    const tags = Object.fromEntries(Array.from({ length: 16 }, (_, i) => [`tag-${i}`, long(128, 'W')]));
    const devices = Array.from({ length: 50 }, (_, i) => ({
      deviceType: 'UKEY',
      serialNumber: `LONG-${`${i}`.padStart(2, '0')}-${long(56, 'W')}`,
      manufacturer: long(200, 'M'),
      model: long(200, 'W'),
      tags,
    }));
    const made = data(await daemon.call('POST', '/api/devices/batch-register', { devices })).results;
    const userId = long(64, 'q');
    const items = made.map(({ deviceId, activationCode }: Record<string, string>) => ({
      deviceId,
      activationCode,
      userId,
    }));
    data(await daemon.call('POST', '/api/devices/batch-update', { operation: 'ACTIVATE', items }));
    const { page, context } = await openTab({ place: 'devices?keyword=LONG-&sortBy=serialNumber&sortOrder=asc' });
    await status(page, /^50 devices$/);
    const heights = await page
      .locator('tbody tr')
      .evaluateAll(rows => rows.map(row => row.getBoundingClientRect().height));
    expect(new Set(heights)).toEqual(new Set([36]));
    const whole = page.getByRole('tooltip');
    const [first] = await page.locator('tbody tr').all();
    await first!.locator('td', { hasText: /^q+$/ }).hover();
    await whole.filter({ hasText: userId }).waitFor();
    await page.keyboard.press('Escape');
    await whole.waitFor({ state: 'hidden' });
    await page.mouse.move(0, 0);
    expect(await first!.locator('.tag').count()).toBe(2);
    // At this width one tag is shown.
    await first!.getByText('+15').waitFor();
    await first!.locator('td.tags a').first().focus();
    await whole.filter({ hasText: `tag-15:${tags['tag-15']}` }).waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await page.keyboard.press('Shift+Tab');
    await whole.filter({ hasText: 'tag-15' }).waitFor({ state: 'hidden' });
    await context.close();
  });

  it('shows text of the registry as text', async () => {
    const manufacturer = '<img src=x onerror="document.title=1">';
    const device = { deviceType: 'UKEY', serialNumber: 'MARKUP-1', manufacturer, model: '<b>bold</b>' };
    data(await daemon.call('POST', '/api/devices/register', device));
    const { page, complaints, context } = await openTab({
      place: 'devices?keyword=MARKUP-1',
      viewport: { width: 1440, height: 900 },
    });
    await page.getByText(manufacturer).waitFor();
    await page.getByText('<b>bold</b>').waitFor();
    expect(await page.locator('img, b').count()).toBe(0);
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('is accessible with open filters', async () => {
    const { page, context } = await openTab({
      colorScheme: 'dark',
      place: 'devices?manufacturer=Plain&status=ACTIVE,INACTIVE',
    });
    await status(page, /^120 devices$/);
    await page.getByText('Filters', { exact: true }).click();
    await page.getByRole('checkbox', { name: 'Select all on this page' }).check();
    expect(await violationsOn(page)).toEqual([]);
    await page.getByRole('button', { name: 'Retire …' }).click();
    await page.getByLabel('Reason').waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await context.close();
  });

  it('speaks German', async () => {
    const { page, complaints, context } = await openTab({
      locale: 'de-DE',
      place: 'devices?manufacturer=Plain&status=ACTIVE',
    });
    await page.getByRole('heading', { name: 'Geräte' }).waitFor();
    await status(page, /^30 Geräte$/);
    await page.getByLabel('Alle auf dieser Seite auswählen').check();
    await page.getByRole('button', { name: 'Sperren …', exact: true }).click();
    await page.getByText('30 Geräte werden gesperrt.').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: /^DEV-/ }).first().click();
    await page.getByRole('heading', { name: 'Verlauf' }).waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('loads at most 60 kB of scripts, compressed', async () => {
    const { page, requested, context } = await openTab({ place: 'devices?manufacturer=Plain' });
    await status(page, /^120 devices$/);
    const scripts = [...new Set(requested.filter(url => url.endsWith('.js')))];
    const contents = await Promise.all(scripts.map(async url => Buffer.from(await (await fetch(url)).arrayBuffer())));
    expect(scripts.length).toBeGreaterThan(1);
    expect(contents.reduce((sum, content) => sum + gzipSync(content).length, 0)).toBeLessThanOrEqual(60_000);
    await context.close();
  });
});
