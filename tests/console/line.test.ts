import { beforeAll, expect, it } from 'vitest';
import { data } from '../support/fleet.ts';
import { needs } from '../support/needs.ts';
import { armed, choose, consoleTests, row, status, tabTo, violationsOn, withoutPage } from './browser.ts';
import { countIn, fleet } from './fleet.ts';

needs('chromium')('the pages of the line', () => {
  const { daemon, openTab } = consoleTests();
  beforeAll(async () => {
    const made = await fleet(daemon, 'Feitian', 20, 6);
    await fleet(daemon, 'Yubico', 5);
    const items = made.slice(0, 2).map(({ deviceId }) => ({ deviceId, reason: 'lost' }));
    data(await daemon.call('POST', '/api/devices/batch-update', { operation: 'LOCK', items }));
    for (const { deviceId } of made.slice(6, 9)) {
      const code = { deviceId, validityDays: 3, reason: 'short' };
      data(await daemon.call('POST', '/api/devices/generate-activation-code', code));
      data(await daemon.call('PUT', `/api/devices/${deviceId}`, { tags: { site: 'Bonn', station: 'line-3' } }));
    }
  });

  it('Overview names what needs attention with as many devices as its list has, and the parts of the fleet', async () => {
    const { page, context } = await openTab();
    const link = page.getByRole('link', { name: '3 activation codes that expire within 7 days, or have expired' });
    await tabTo(page, link);
    await page.keyboard.press('Enter');
    await page.getByText('3 devices', { exact: true }).waitFor();
    await page.goBack();
    for (const [name, filter] of [
      ['Yubico', 'manufacturer=Yubico'],
      ['Bonn', 'tag=site%3ABonn'],
      ['line-3', 'tag=station%3Aline-3'],
    ])
      expect(await page.getByRole('link', { name: name!, exact: true }).getAttribute('href')).toBe(
        `#/devices?${filter}`,
      );
    const lots = page.getByRole('table', { name: 'Lot' }).getByRole('row');
    expect((await lots.allTextContents()).slice(1).map(row => row.trim())).toEqual(['013', '112']);
    const states = page.locator('.chart', { hasText: 'Devices in each state' });
    await states.getByText('Show as a table').click();
    const cells = states.locator('tbody tr').first().locator('td:not(:first-child)');
    await expect.poll(() => cells.allTextContents()).toEqual(['19', '4', '2', '0']);
    await context.close();
  });

  it('Lots lead to the report of a lot, which follows the line as it runs, by the keyboard alone', async () => {
    const { page, context, requested } = await openTab({ place: 'lots' });
    const open = async (name: string) => {
      await tabTo(page, page.getByRole('link', { name, exact: true }));
      await page.keyboard.press('Enter');
    };
    await open('1');
    await page.getByRole('heading', { name: 'Lot 1' }).waitFor();
    const figure = (name: string) => page.getByRole('link', { name, exact: true });
    expect(await figure('12 devices').getAttribute('href')).toBe('#/devices?tag=lot%3A1');
    await page.getByRole('rowheader', { name: 'Feitian One' }).waitFor();
    await page.getByRole('rowheader', { name: 'unproved' }).waitFor();
    await page.getByText('live', { exact: true }).waitFor();
    const exportsOf = () => requested.filter(url => url.includes('/export?')).length;
    const before = exportsOf();
    await fleet(daemon, 'Later', 4);
    await figure('14 devices').waitFor();
    await daemon.call('POST', '/api/devices/register', {
      ...{ deviceType: 'UKEY', serialNumber: 'other-lot', manufacturer: 'Later', model: 'One', tags: { lot: '9' } },
    });
    await page.waitForResponse(response => response.url().endsWith('/api/statistics'));
    expect(exportsOf()).toBe(before + 1);
    await context.close();
  });

  it('Lots and stations have their report beside the list: by Space, by a click and by the menu', async () => {
    const { page, context, show, complaints } = await openTab({ place: 'lots' });
    const sheet = page.locator('.sheet');
    await tabTo(page, page.locator('tbody').getByRole('link', { name: '1', exact: true }));
    await page.keyboard.press('Space');
    await sheet.getByRole('heading', { name: '1', exact: true }).waitFor();
    await sheet.getByRole('rowheader', { name: 'Feitian One' }).waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await sheet.waitFor({ state: 'detached' });
    await row(page, '1').getByRole('cell').nth(1).click();
    await sheet.getByRole('rowheader', { name: 'Feitian One' }).waitFor();
    await page.keyboard.press('Escape');
    await show('stations');
    await choose(page, 'line-3', 'Show beside the list');
    await sheet.getByRole('link', { name: '3 devices', exact: true }).waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('Lots are sorted by each of their columns, by keyboard alone', async () => {
    const { page, context } = await openTab({ place: 'lots' });
    const lots = () => page.locator('tbody th').allTextContents();
    const counts = () => page.locator('tbody tr td:nth-child(2)').allTextContents();
    await page.locator('th[aria-sort="descending"]').getByText('Devices').waitFor();
    const [before, sizes] = [await lots(), await counts()];
    expect(before.length).toBeGreaterThan(1);
    await tabTo(page, page.getByRole('button', { name: 'Devices', exact: true }));
    await page.keyboard.press('Enter');
    await expect.poll(counts).toEqual(sizes.reverse());
    await tabTo(page, page.getByRole('button', { name: 'Lot', exact: true }));
    await page.keyboard.press('Enter');
    await expect.poll(lots).toEqual(before.sort());
    await context.close();
  });

  it('Stations show the devices of each, the last use of its token, and the keys at the daemon', async () => {
    const made = await daemon.call('POST', '/api/tokens', { name: 'line-3', role: 'DEALER', expiresInDays: 1 });
    data(await daemon.call('GET', '/api/users/me', undefined, { token: data(made).token }));
    const { page, context } = await openTab({ place: 'stations' });
    const cells = row(page, 'line-3').getByRole('cell');
    await cells.first().waitFor();
    expect((await cells.allTextContents()).slice(0, 5)).toEqual(['3', '3', '0', '0', '0']);
    await page.getByRole('columnheader', { name: 'Token last used' }).waitFor();
    await tabTo(page, page.getByRole('link', { name: 'line-3', exact: true }));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Station line-3' }).waitFor();
    await context.close();
  });

  it('Health names each part with its state, and what to do about those that need it, for administrators', async () => {
    const { page, context } = await openTab();
    await tabTo(page, page.getByRole('link', { name: 'Health' }));
    await page.keyboard.press('Enter');
    await status(page, 'Everything works.');
    const part = (name: string) => page.getByRole('listitem').filter({ has: page.getByText(name, { exact: true }) });
    expect(await part('Store').textContent()).toContain('works');
    expect(await part('Forwarding').textContent()).toContain('not set up');
    const failing = ['devmgr_webhooks_failing', 'devmgr_directory_failing'];
    const metrics = ['devmgr_daemons', 'devmgr_audit_forward_lag_entries', ...failing];
    await page.route('**/metrics', route =>
      route.fulfill({ body: metrics.map(name => `${name}{node="a"} 3\n`).join('') }),
    );
    await page.route('**/api/health', async route => {
      const response = await route.fetch();
      const { data } = await response.json();
      const store = { state: 'unavailable', detail: 'the disk is full' };
      const body = {
        code: 503,
        message: 'not ready',
        data: { ...data, store, ready: false, reason: 'the disk is full' },
      };
      await route.fulfill({ status: 503, json: body });
    });
    await page.reload();
    await status(page, '5 parts need attention.');
    await page.getByText('3 daemons use this registry.').waitFor();
    await page.getByText('Check the disk or the database server').waitFor();
    await page.getByText('3 entries of the journal wait to be forwarded.').waitFor();
    await page.getByText('Open the webhook under Webhooks').waitFor();
    await page.getByText('Open the directory under Policies').waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await context.close();
    expect(
      await withoutPage({ daemon, openTab }, 'DEALER', { place: 'health', link: 'Health', path: '/metrics' }),
    ).toEqual({
      links: 0,
      requests: [],
    });
  });

  it('Health is German as a whole, and has the words of the daemon below its own', async () => {
    const { page, context } = await openTab({ place: 'health', locale: 'de-DE' });
    await status(page, 'Alles funktioniert.');
    await page.route('**/api/health', async route => {
      const { data } = await (await route.fetch()).json();
      const detail = 'the disk is full';
      const drivers = [
        { name: 'hid', state: 'unavailable', detail: 'node-hid is missing' },
        { name: 'pcsc', state: 'ready', detail: 'Watching the reader ACME 1.' },
        { name: 'other', state: 'ready', detail: 'unknown to the console' },
      ];
      const store = { state: 'unavailable', detail };
      const body = { code: 503, message: detail, data: { ...data, store, drivers, ready: false, reason: detail } };
      await route.fulfill({ status: 503, json: body });
    });
    await page.reload();
    await status(page, '3 Teile mit Handlungsbedarf.');
    const original = page.locator('[lang="en"]');
    await page.getByText('USB-Schlüssel werden nicht erkannt.').waitFor();
    expect(await original.allTextContents()).toEqual([
      ...['the disk is full', 'the disk is full'],
      ...['node-hid is missing', 'Watching the reader ACME 1.'],
    ]);
    await page.getByText('other: unknown to the console').waitFor();
    expect(await original.filter({ visible: true }).count()).toBe(0);
    expect(await violationsOn(page)).toEqual([]);
    await context.close();
  });

  it('Cleanup shows a plan, asks, and leaves devices that have changed since, by the keyboard alone', async () => {
    await fleet(daemon, 'Old', 12, 8);
    const idOf = async (serial: string) =>
      (await daemon.call('GET', `/api/devices/list?serialNumber=${serial}`)).data.list[0].deviceId;
    const { page, context } = await openTab({ place: 'cleanup' });
    const { keyboard } = page;
    const plan = page.getByRole('button', { name: 'Plan: lock' });
    await plan.waitFor();
    expect(await plan.isDisabled()).toBe(true);
    await tabTo(page, page.getByText('Filters', { exact: true }));
    await keyboard.press('Enter');
    await tabTo(page, page.getByLabel('Manufacturer (exact)'));
    await keyboard.type('Old');
    await keyboard.press('Enter');
    await tabTo(page, plan);
    await keyboard.press('Enter');
    await page.getByText('8 devices would be locked').waitFor();
    await page.getByText('8 active', { exact: true }).waitFor();
    expect(await page.getByRole('table', { name: 'The first devices of the plan' }).getByRole('row').count()).toBe(6);
    expect(await countIn(daemon, 'Old', 'LOCKED')).toBe(0);
    const used = await idOf('Old-0001');
    data(await daemon.call('POST', `/api/devices/${used}/usage`, { durationSeconds: 60 }));
    await tabTo(page, page.getByRole('button', { name: 'Apply plan' }));
    await keyboard.press('Enter');
    await page.getByText('1 device changed since the plan was made: skipped.').waitFor();
    await page.getByText(`${used} it was used`).waitFor();
    const later = await idOf('Old-0002');
    data(await daemon.call('POST', `/api/devices/${later}/lock`, { reason: 'lost' }));
    await keyboard.type('not in use');
    await armed(page);
    await keyboard.press('Enter');
    await page.getByText('6 devices locked. 1 failed.').waitFor();
    await page.getByText('it is already locked').waitFor();
    expect(await violationsOn(page)).toEqual([]);
    expect(await countIn(daemon, 'Old', 'LOCKED')).toBe(7);
    expect((await daemon.call('GET', `/api/devices/${later}`)).data.lockReason).toBe('lost');
    expect((await daemon.call('GET', `/api/devices/${used}`)).data.status).toBe('ACTIVE');
    await context.close();
  });
});
