import { beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { adminPassword } from '../support/daemon.ts';
import { activation, data, register } from '../support/fleet.ts';
import { needs } from '../support/needs.ts';
import { provedDevice, receiptOf, trustReceiptKeys } from '../support/receipt-key.ts';
import { consoleTests, settled, violationsOn } from './browser.ts';

const key = (serialNumber: string) => ({ deviceType: 'UKEY', serialNumber, manufacturer: 'M', model: '1' });

needs('chromium')('the pages Overview and Activity', () => {
  const { daemon, openTab } = consoleTests();
  beforeAll(async () => {
    for (const serial of ['A-1', 'A-2', 'A-3']) await daemon.call('POST', '/api/devices/register', key(serial));
    await daemon.call('POST', '/api/devices/register', { ...key('S-1'), deviceType: 'SIMKEY' });
    for (const deviceId of ['DEV-1', 'DEV-2']) {
      const { activationCode } = (await daemon.call('GET', `/api/devices/${deviceId}`)).data;
      await daemon.call('POST', '/api/devices/activate', { deviceId, activationCode, userId: 'alice' });
    }
    await daemon.call('POST', '/api/devices/DEV-2/deactivate', { reason: 'worn out', confirmPassword: adminPassword });
  });

  it('count devices, each figure a link to its list', async () => {
    const { page, context } = await openTab();
    await page.getByText('live', { exact: true }).waitFor();
    const figure = (name: string) => page.getByRole('link', { name, exact: true });
    expect(await figure('4 devices').getAttribute('href')).toBe('#/devices');
    expect(await figure('2 inactive').getAttribute('href')).toBe('#/devices?status=INACTIVE');
    expect(await figure('1 retired').getAttribute('href')).toBe('#/devices?status=DEACTIVATED');
    expect(await figure('1 SIM keys').getAttribute('href')).toBe('#/devices?deviceType=SIMKEY');
    expect(await figure('M 1').getAttribute('href')).toBe('#/devices?manufacturer=M&model=1');
    await page.getByText('Nothing needs attention.').waitFor();
    await page.getByText('Show as a table').last().click();
    expect(await page.locator('.chart').last().locator('tbody tr').first().textContent()).toMatch(/4$/);
    await context.close();
  });

  it('draw the figures before the slowest request is answered, and nothing moves under a pointer after it', async () => {
    const { page, context } = await openTab();
    // The response that is waited for is of the reload: one that a reload cuts off never ends.
    await settled(page);
    const release = Promise.withResolvers<void>();
    await page.route('**/api/webhooks**', async route => {
      await release.promise;
      await route.continue();
    });
    const answered = page.waitForResponse(answer => answer.url().includes('/api/statistics'));
    await page.reload();
    await (await answered).finished();
    await page.getByText('live', { exact: true }).waitFor();
    const devices = page.getByRole('link', { name: '4 devices', exact: true });
    await devices.waitFor();
    const before = await devices.boundingBox();
    release.resolve();
    await page.getByText('Nothing needs attention.').waitFor();
    expect(await devices.boundingBox()).toEqual(before);
    await context.close();
  });

  it('take at most three requests for a batch of 10,000', async () => {
    const { page, context, requested } = await openTab();
    await page.getByText('live', { exact: true }).waitFor();
    await page
      .getByText('4 devices')
      .or(page.getByRole('link', { name: '4 devices', exact: true }))
      .first()
      .waitFor();
    // The words of earlier changes are loaded when those are shown.
    await settled(page);
    const before = requested.length;
    const devices = Array.from({ length: 10_000 }, (_, i) => key(`B-${i}`));
    await daemon.call('POST', '/api/devices/batch-register', { devices });
    await page.getByRole('link', { name: '10,004 devices', exact: true }).waitFor();
    await page.getByText('200 devices registered by admin').waitFor();
    expect(await page.locator('.events li').count()).toBe(1);
    expect(requested.slice(before).filter(url => url.startsWith('http')).length).toBeLessThanOrEqual(3);
    await context.close();
  });

  it('show 500 changes of a restart once each, and earlier events on demand', async () => {
    const { page, context } = await openTab({ place: 'activity?types=DEVICE_REGISTERED' });
    await page.getByText('live', { exact: true }).waitFor();
    await page.getByText('200 devices registered').waitFor();
    const lines = page.locator('.events .events li > :last-child');
    await daemon.stopKeepingHome();
    await page.getByText('what you see may be out of date').waitFor({ timeout: 2000 });
    await context.setOffline(true);
    await daemon.startAgain({ port: Number(new URL(page.url()).port) });
    const devices = Array.from({ length: 500 }, (_, i) => key(`C-${i}`));
    await daemon.call('POST', '/api/devices/batch-register', { devices });
    await context.setOffline(false);
    await page.getByText('700 devices registered by admin').click();
    await page.getByText('C-0', { exact: true }).waitFor();
    const serials = await lines.allTextContents();
    const expected = Array.from({ length: 500 }, (_, i) => `C-${499 - i}`);
    expect(serials.slice(0, 500)).toEqual(expected);
    expect(serials.length).toBe(700);
    await page.getByRole('button', { name: 'Earlier events' }).click();
    await page.getByText('800 devices registered by admin').click();
    await expect.poll(() => lines.count()).toBe(800);
    expect(new Set(await lines.allTextContents()).size).toBe(800);
    await context.close();
  });

  it('show all events where no type is chosen, and only those of the chosen type', async () => {
    const { page, context } = await openTab({ place: 'activity' });
    await daemon.call('POST', '/api/devices/DEV-1/lock', { reason: '<img src=x onerror=alert(1)>' });
    await page.getByText('<img src=x onerror=alert(1)>').waitFor();
    await page.getByText('Filters', { exact: true }).click();
    await page.getByLabel('Locked', { exact: true }).check();
    await expect.poll(() => page.locator('.events li').count()).toBe(1);
    expect(new URL(page.url()).hash).toBe('#/activity?types=DEVICE_LOCKED');
    await context.close();
  });

  it('show an ADMIN who did what, and what an update changed, also as it happens', async () => {
    const { page, context } = await openTab({ place: 'devices/DEV-4' });
    await page.getByText('live', { exact: true }).waitFor();
    await daemon.call('PUT', '/api/devices/DEV-4', { note: 'drawer 3', tags: { lot: '7' } });
    const update = page.locator('.events li').filter({ hasText: 'drawer 3' });
    await update.getByText('by admin').waitFor();
    await page.reload();
    await update.getByText('by admin').waitFor();
    expect((await update.getByRole('definition').allTextContents()).sort()).toEqual(['drawer 3', 'lot:7']);
    await context.close();
  });

  it('show equal changes of one person as one line, which opens by the keyboard', async () => {
    const { token } = await daemon.user('ada', 'ADMIN');
    const lock = { operation: 'LOCK', items: [] as object[] };
    const list = await daemon.call('GET', '/api/devices/list?keyword=B-1&size=50');
    for (const { deviceId } of list.data.list) {
      const { activationCode } = (await daemon.call('GET', `/api/devices/${deviceId}`)).data;
      await daemon.call('POST', '/api/devices/activate', { deviceId, activationCode, userId: 'bob' });
      lock.items.push({ deviceId, reason: 'lost <b>bag</b>' });
    }
    const { page, context } = await openTab();
    await page.getByText('50 devices activated by admin').waitFor();
    await daemon.call('POST', '/api/devices/batch-update', lock, { token });
    const line = page.getByText('50 devices locked by ada · lost <b>bag</b>');
    await line.waitFor();
    await line.focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => page.locator('.events .events li').count()).toBe(50);
    expect(await violationsOn(page)).toEqual([]);
    await context.close();
  });

  it('are found by person, device and day, and new ones that match are added', async () => {
    const { token } = await daemon.user('bela', 'DEALER');
    await daemon.call('PUT', '/api/devices/DEV-4', { note: 'by bela' }, { token });
    await daemon.call('PUT', '/api/devices/DEV-3', { note: 'by bela' }, { token });
    const { page, context } = await openTab({ place: 'activity' });
    await page.getByText('live', { exact: true }).waitFor();
    const lines = page.locator('.events li');
    await page.getByText('Filters', { exact: true }).click();
    await page.getByRole('textbox', { name: 'Account or program' }).fill('bela');
    await page.getByRole('textbox', { name: 'Account or program' }).press('Enter');
    await expect.poll(() => lines.count()).toBe(2);
    await page.getByRole('textbox', { name: 'Device' }).fill('DEV-3');
    await page.getByRole('textbox', { name: 'Device' }).press('Enter');
    await expect.poll(() => lines.count()).toBe(1);
    expect(new URL(page.url()).hash).toBe('#/activity?deviceId=DEV-3&actor=bela');
    await daemon.call('PUT', '/api/devices/DEV-3', { note: 'from the office' });
    await daemon.call('PUT', '/api/devices/DEV-3', { note: 'by bela again' }, { token });
    await page.getByText('by bela again').waitFor();
    expect(await lines.count()).toBe(2);
    await page.getByLabel('Until (day)').fill('2020-01-01');
    await page.getByText('No events yet.').waitFor();
    await context.close();
  });

  it('show a DEALER neither who did it nor the search for it', async () => {
    const { token } = await daemon.user('carla', 'DEALER');
    const { page, context } = await openTab({ place: 'activity', token });
    await page.getByText('Filters', { exact: true }).click();
    await page.getByRole('textbox', { name: 'Device' }).waitFor();
    await page.locator('.events li').first().waitFor();
    expect(await page.getByRole('textbox', { name: 'Account or program' }).count()).toBe(0);
    expect(await page.getByText('by admin', { exact: true }).count()).toBe(0);
    await context.close();
  });

  it('name keys that were sent, have not arrived in time, and lead to their events', async () => {
    const device = await register(daemon);
    const { deviceId } = data(await daemon.call('POST', '/api/devices/activate', activation(device, 'alice')));
    const ship = async (token?: string) =>
      data(await daemon.call('POST', `/api/devices/${deviceId}/shipped`, undefined, token ? { token } : {}));
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 15 * 86_400_000 });
    onTestFinished(() => void vi.useRealTimers());
    await ship(await daemon.login('admin'));
    vi.useRealTimers();
    const { page, context } = await openTab();
    const overdue = page.getByRole('link', { name: '1 key was sent and is not confirmed' });
    expect(await overdue.getAttribute('href')).toBe('#/activity?types=SHIPMENT_OVERDUE');
    await ship();
    await overdue.waitFor({ state: 'detached' });
    await context.close();
  });

  it('show a loan as soon as it is overdue, and its device shows the receipt', async () => {
    await trustReceiptKeys(daemon);
    const { deviceId, key: signer } = await provedDevice(daemon);
    const dueAt = new Date(Date.now() + 2000).toISOString();
    const { page, context, complaints } = await openTab();
    await page.getByText('live', { exact: true }).waitFor();
    const { receiptId } = await receiptOf(daemon, signer, { deviceId, kind: 'loan', dueAt });
    await page.getByRole('cell', { name: receiptId }).waitFor();
    expect(await page.getByText('Nothing needs attention.').count()).toBe(0);
    await page.getByRole('table', { name: 'Overdue loans' }).getByRole('link', { name: deviceId }).click();
    await page.getByText('Receipts', { exact: true }).click();
    await page.getByRole('table', { name: 'Receipts' }).getByRole('cell', { name: receiptId }).waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('lead to a device that reports receipts which cannot be loaded, and loads them again', async () => {
    const { page, context, show } = await openTab();
    await show('devices/DEV-1');
    const failing = '**/api/receipts/list?*';
    await page.route(failing, route => route.fulfill({ status: 500, json: { code: 500, message: 'no', data: null } }));
    await page.getByText('Receipts', { exact: true }).click();
    const problem = page.getByRole('alert');
    await problem.waitFor();
    await page.unroute(failing);
    await problem.getByRole('button').click();
    await page.getByText('No receipts.').waitFor();
    await context.close();
  });

  it.each(['light', 'dark'] as const)('are accessible in %s colors', async colorScheme => {
    const { page, context, show, complaints } = await openTab({ colorScheme });
    await page
      .locator('.figures')
      .getByRole('link', { name: /inactive$/ })
      .waitFor();
    await page.getByText('Show as a table').first().click();
    expect(await violationsOn(page)).toEqual([]);
    await show('activity');
    await page.getByText('Filters', { exact: true }).click();
    await page.getByLabel('Locked', { exact: true }).waitFor();
    expect(await violationsOn(page)).toEqual([]);
    expect(complaints).toEqual([]);
    await context.close();
  });
});
