import type { Download, Locator, Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { adminPassword, startTestDaemon } from '../support/daemon.ts';
import { data } from '../support/fleet.ts';
import { needs } from '../support/needs.ts';
import { armed, button, consoleTests, dialog, violationsOn } from './browser.ts';
import { countIn, fleet } from './fleet.ts';

const textOf = async (file: Download) => new Response(await file.createReadStream()).text();

async function selectAll(page: Page, total: number): Promise<void> {
  await page.getByRole('checkbox', { name: 'Select all on this page' }).check();
  if (total > 50) await button(page, `Select all ${total.toLocaleString('en')} matching`).click();
}

needs('chromium')('bulk operations in the console', () => {
  const { daemon, openTab } = consoleTests();
  const open = (manufacturer: string) =>
    openTab({ place: `devices?manufacturer=${manufacturer}&sortBy=serialNumber&sortOrder=asc` });

  it.each([50, 60])('put the focus into the first field of the question about %s devices', async count => {
    await fleet(daemon, `Focus-${count}`, count, count);
    const { page, context } = await open(`Focus-${count}`);
    await selectAll(page, count);
    await page.getByRole('button', { name: 'Lock …', exact: true }).press('Enter');
    await dialog(page).getByLabel('Reason').waitFor();
    await page.keyboard.type('audit');
    expect(await dialog(page).getByLabel('Reason').inputValue()).toBe('audit');
    await context.close();
  });

  it('lock all matching devices, and list each that fails with the reason', async () => {
    const devices = await fleet(daemon, 'Lock', 130, 120);
    const { page, complaints, context } = await open('Lock');
    await selectAll(page, 130);
    await page.getByText('All 130 matching devices selected').waitFor();
    await page.getByRole('link', { name: 'Next' }).click();
    await page.getByText('Lock-0099').waitFor();
    expect(await page.getByRole('checkbox', { name: /^Select DEV/, checked: true }).count()).toBe(50);
    await button(page, /^Lock/).click();
    await dialog(page).getByText('120 devices will be locked.').waitFor();
    expect(await dialog(page).locator('tbody tr').allInnerTexts()).toEqual([
      'inactive\t10\tskipped: not allowed in this state',
      'active\t120\twill be changed',
    ]);
    // Between the preview and the start, two devices change.
    for (const { deviceId } of devices.slice(3, 5))
      data(await daemon.call('POST', `/api/devices/${deviceId}/lock`, { reason: 'before' }));
    await page.getByLabel('Reason').fill('audit');
    await button(page, 'Lock 120 devices').click();
    await dialog(page).getByText('118 devices locked.').waitFor();
    await dialog(page).getByText('2 failed.').waitFor();
    const failed = dialog(page).getByRole('table', { name: 'Failed devices' });
    expect(await failed.locator('tbody td:first-of-type').allTextContents()).toEqual(['Lock-0003', 'Lock-0004']);
    expect(await failed.locator('tbody td:last-of-type').first().textContent()).toContain('locked');
    const download = page.waitForEvent('download');
    await button(page, 'Download results (CSV)').click();
    const lines = (await textOf(await download)).trim().split('\r\n');
    expect(lines).toHaveLength(121);
    expect(lines[0]).toBe('deviceId,serialNumber,status,code,message');
    expect(lines.filter(line => line.includes(',failed,2004,'))).toHaveLength(2);
    await button(page, 'Close').click();
    await page.getByText('130 devices', { exact: true }).waitFor();
    expect(await countIn(daemon, 'Lock', 'LOCKED')).toBe(120);
    const detail = await daemon.call('GET', `/api/devices/${devices[0]!.deviceId}`);
    expect(data(detail).lockReason).toBe('audit');
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('offer to undo a lock of many devices', async () => {
    await fleet(daemon, 'Undo', 3, 3);
    const { page, context } = await open('Undo');
    await selectAll(page, 3);
    await button(page, /^Lock/).click();
    await armed(page);
    await page.getByLabel('Reason').fill('audit');
    await button(page, 'Lock 3 devices').click();
    await dialog(page).getByText('3 devices locked.').waitFor();
    expect(await countIn(daemon, 'Undo', 'LOCKED')).toBe(3);
    await button(page, 'Close').click();
    await button(page, 'Undo').press('Enter');
    await page.getByText('3 devices unlocked.').waitFor();
    expect(await countIn(daemon, 'Undo', 'ACTIVE')).toBe(3);
    await context.close();
  });

  it('set and remove tags of many devices, by keyboard alone', async () => {
    await fleet(daemon, 'Tags', 60, 10);
    const { page, context } = await open('Tags');
    await selectAll(page, 60);
    await button(page, 'Tags …').press('Enter');
    await dialog(page).getByText('The tags of 60 devices will be changed. Other tags stay.').waitFor();
    await armed(page);
    await page.keyboard.type('site:Berlin, north');
    await page.keyboard.press('Enter');
    await page.keyboard.type('Not a tag');
    expect(await button(page, 'Change 60 devices').isDisabled()).toBe(true);
    for (let i = 0; i < 'Not a tag'.length; i++) await page.keyboard.press('Backspace');
    await page.keyboard.press('Tab');
    await page.keyboard.type('lot');
    expect(await violationsOn(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await dialog(page).getByText('60 devices changed.').waitFor();
    await page.keyboard.press('Enter');
    await dialog(page).waitFor({ state: 'detached' });
    await page.locator('tbody .tag', { hasText: 'site:Berlin, north' }).first().waitFor();
    const tagged = async (tag: string) =>
      data(await daemon.call('GET', `/api/devices/list?manufacturer=Tags&tag=${encodeURIComponent(tag)}`)).pagination
        .total;
    expect([await tagged('site:Berlin, north'), await tagged('lot:0')]).toEqual([60, 0]);
    await context.close();
  });

  it('change the selected rows of several pages and no others', async () => {
    await fleet(daemon, 'Rows', 60, 60);
    const { page, context } = await open('Rows');
    const rows = page.getByRole('checkbox', { name: /^Select DEV/ });
    await rows.nth(0).check();
    await rows.nth(2).check();
    await page.getByRole('link', { name: 'Next' }).click();
    await page.getByText('Rows-0059').waitFor();
    await rows.nth(9).check();
    await page.getByText('3 of 60 devices selected').waitFor();
    await button(page, /^Lock/).click();
    await page.getByLabel('Reason').fill('audit');
    await button(page, 'Lock 3 devices').click();
    await dialog(page).getByText('3 devices locked.').waitFor();
    const list = await daemon.call('GET', '/api/devices/list?manufacturer=Rows&status=LOCKED&sortBy=serialNumber');
    expect(data(list).list.map(({ serialNumber }: { serialNumber: string }) => serialNumber)).toEqual([
      'Rows-0059',
      'Rows-0002',
      'Rows-0000',
    ]);
    await context.close();
  });

  it('show new codes only when asked, and save them', async () => {
    const devices = await fleet(daemon, 'Codes', 3);
    const { page, context } = await open('Codes');
    await selectAll(page, 3);
    await button(page, /^New code/).click();
    await page.getByLabel('Reason').fill('lost');
    await page.getByLabel('Days until the code expires').fill('30');
    await button(page, 'Replace 3 codes').click();
    await dialog(page).getByText('3 codes replaced.').waitFor();
    const codes: string[] = [];
    for (const { deviceId } of devices) {
      const detail = data(await daemon.call('GET', `/api/devices/${deviceId}`));
      codes.push(detail.activationCode);
      expect(await page.content()).not.toContain(detail.activationCode);
    }
    const download = page.waitForEvent('download');
    await button(page, 'Download codes (CSV)').click();
    const lines = (await textOf(await download)).trim().split('\r\n');
    expect(lines[0]).toBe('deviceId,serialNumber,activationCode,expiresAt');
    expect(lines.slice(1).map(line => line.split(',')[2])).toEqual(codes);
    await button(page, 'Show codes').click();
    for (const code of codes) await dialog(page).getByText(code).waitFor();
    await button(page, 'Hide codes').click();
    await dialog(page).getByText(codes[0]!).waitFor({ state: 'detached' });
    await context.close();
  });

  it('retire devices only with their number and a password; a wrong one changes nothing and loses no entry', async () => {
    await fleet(daemon, 'Retire', 7);
    const { page, context } = await open('Retire');
    await selectAll(page, 7);
    await button(page, /^Retire/).click();
    await page.getByLabel('Reason').fill('worn out');
    await page.getByLabel('Administrator password').fill('wrong');
    expect(await button(page, 'Retire 7 devices').isDisabled()).toBe(true);
    await page.getByLabel('Type the number of devices, 7').fill('70');
    expect(await button(page, 'Retire 7 devices').isDisabled()).toBe(true);
    await page.getByLabel('Type the number of devices, 7').fill('7');
    await button(page, 'Retire 7 devices').click();
    await dialog(page).getByRole('alert').waitFor();
    expect(await countIn(daemon, 'Retire', 'INACTIVE')).toBe(7);
    expect(await page.getByLabel('Reason').inputValue()).toBe('worn out');
    await page.getByLabel('Administrator password').fill(adminPassword);
    await button(page, 'Retire 7 devices').click();
    await dialog(page).getByText('7 devices retired.').waitFor();
    expect(await countIn(daemon, 'Retire', 'DEACTIVATED')).toBe(7);
    await context.close();
  });

  it('stop between batches, and say what was left', async () => {
    await fleet(daemon, 'Stop', 1100, 1100);
    const { page, context } = await open('Stop');
    await selectAll(page, 1100);
    await button(page, /^Lock/).click();
    await page.getByLabel('Reason').fill('audit');
    const held = Promise.withResolvers<void>();
    await page.route('**/api/devices/batch-update', async route => {
      await held.promise;
      await route.continue();
    });
    await button(page, 'Lock 1,100 devices').click();
    await button(page, 'Stop after this batch').click();
    await button(page, 'Stopping …').waitFor();
    held.resolve();
    await dialog(page).getByText('1,000 devices locked.').waitFor();
    await dialog(page).getByText('100 devices not processed.').waitFor();
    expect(await countIn(daemon, 'Stop', 'LOCKED')).toBe(1000);
    await context.close();
  });

  it('say that they wait for the rate limit, and stop at once while they wait', async () => {
    const limited = await startTestDaemon({
      limits: { login: null, query: null, upload: null, modify: { count: 2, seconds: 60 } },
    });
    await fleet(limited, 'Wait', 1100);
    const { page, context } = await openTab({ daemon: limited, place: 'devices?manufacturer=Wait' });
    await selectAll(page, 1100);
    await button(page, /^New code/).click();
    await page.getByLabel('Reason').fill('lost');
    await button(page, 'Replace 1,100 codes').click();
    await dialog(page)
      .getByText(/^Too many requests/)
      .first()
      .waitFor();
    await button(page, 'Stop after this batch').click();
    await dialog(page).getByText('1,000 codes replaced.').waitFor();
    await dialog(page).getByText('100 devices not processed.').waitFor();
    expect(await page.getByText(/^Too many requests/).count()).toBe(0);
    await context.close();
    await limited.stop();
  });

  it('send a batch whose response was lost again, and carry it out once', async () => {
    await fleet(daemon, 'Lost', 5, 5);
    const { page, context } = await open('Lost');
    await selectAll(page, 5);
    await button(page, /^Lock/).click();
    await page.getByLabel('Reason').fill('audit');
    await page.route(
      '**/api/devices/batch-update',
      async route => {
        await route.fetch();
        await route.abort();
      },
      { times: 1 },
    );
    await button(page, 'Lock 5 devices').click();
    await dialog(page).getByText('The daemon does not respond').waitFor();
    await button(page, 'Lock 5 devices').click();
    await dialog(page).getByText('5 devices locked.').waitFor();
    expect(await dialog(page).getByText('failed').count()).toBe(0);
    await context.close();
  });

  it('need no mouse', async () => {
    await fleet(daemon, 'Keys', 2, 2);
    const { page, context } = await open('Keys');
    await page.getByText('Keys-0001').waitFor();
    const hasFocus = async (locator: Locator) => (await locator.and(page.locator(':focus')).count()) === 1;
    const press = async (key: string, until: Locator) => {
      for (let i = 0; i < 60 && !(await hasFocus(until)); i++) await page.keyboard.press(key);
      expect(await hasFocus(until)).toBe(true);
    };
    await press('Tab', page.getByLabel('Select all on this page'));
    await page.keyboard.press('Space');
    await page.getByText('2 of 2 devices selected').waitFor();
    await press('Shift+Tab', button(page, /^Lock/));
    await page.keyboard.press('Enter');
    await page.getByLabel('Reason').waitFor();
    await press('Tab', page.getByLabel('Reason'));
    await page.keyboard.type('audit');
    await armed(page);
    await page.keyboard.press('Enter');
    await dialog(page).getByText('2 devices locked.').waitFor();
    await press('Tab', button(page, 'Close'));
    await page.keyboard.press('Escape');
    await dialog(page).waitFor({ state: 'detached' });
    await page.getByText('2 devices', { exact: true }).waitFor();
    await page.locator('h1:focus').waitFor();
    expect(await countIn(daemon, 'Keys', 'LOCKED')).toBe(2);
    await context.close();
  });

  it.each(['light', 'dark'] as const)('have accessible results in %s colors', async colorScheme => {
    const name = `Axe${colorScheme}`;
    const [first] = await fleet(daemon, name, 3, 3);
    const { page, context } = await openTab({
      colorScheme,
      place: `devices?manufacturer=${name}`,
    });
    await selectAll(page, 3);
    await button(page, /^New code/).click();
    await page.getByLabel('Reason').fill('lost');
    data(
      await daemon.call('POST', `/api/devices/${first!.deviceId}/deactivate`, {
        reason: 'worn',
        confirmPassword: adminPassword,
      }),
    );
    await button(page, 'Replace 3 codes').click();
    await dialog(page).getByText('1 failed.').waitFor();
    await button(page, 'Show codes').click();
    expect(await violationsOn(page)).toEqual([]);
    await context.close();
  });
});
