import { beforeAll, expect, it } from 'vitest';
import { adminPassword } from '../support/daemon.ts';
import { needs } from '../support/needs.ts';
import { consoleTests, violationsOn } from './browser.ts';

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
    expect(await figure('1 deactivated').getAttribute('href')).toBe('#/devices?status=DEACTIVATED');
    expect(await figure('1 SIM keys').getAttribute('href')).toBe('#/devices?deviceType=SIMKEY');
    const expiring = await figure('0 codes that expire within 30 days').getAttribute('href');
    expect(expiring).toMatch(/^#\/devices\?status=INACTIVE&codeExpiresBefore=20\d\d-/);
    expect(await figure('0 active, not used for 90 days').getAttribute('href')).toMatch(
      /status=ACTIVE&lastUsedBefore=/,
    );
    await page.getByText('As a table').first().click();
    expect(await page.locator('.chart').first().locator('tbody tr').first().textContent()).toMatch(/4$/);
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
    const before = requested.length;
    const devices = Array.from({ length: 10_000 }, (_, i) => key(`B-${i}`));
    await daemon.call('POST', '/api/devices/batch-register', { devices });
    await page.getByRole('link', { name: '10,004 devices', exact: true }).waitFor();
    expect(await page.locator('.events li').first().textContent()).toContain('B-9999');
    expect(await page.locator('.events li').count()).toBe(20);
    expect(requested.slice(before).filter(url => url.startsWith('http')).length).toBeLessThanOrEqual(3);
    await context.close();
  });

  it('show 500 changes of a restart once each, and earlier events on demand', async () => {
    const { page, context } = await openTab({ place: 'activity?types=DEVICE_REGISTERED' });
    await page.getByText('live', { exact: true }).waitFor();
    await page.getByText('B-9999').waitFor();
    const shown = await page.locator('.events li').count();
    await daemon.stopKeepingHome();
    await page.getByText('what you see may be old').waitFor({ timeout: 2000 });
    await context.setOffline(true);
    await daemon.startAgain({ port: Number(new URL(page.url()).port) });
    const devices = Array.from({ length: 500 }, (_, i) => key(`C-${i}`));
    await daemon.call('POST', '/api/devices/batch-register', { devices });
    await context.setOffline(false);
    await page.getByText('C-0', { exact: true }).waitFor();
    const serials = await page.locator('.events li > :last-child').allTextContents();
    const expected = Array.from({ length: 500 }, (_, i) => `C-${499 - i}`);
    expect(serials.slice(0, 500)).toEqual(expected);
    expect(serials.length).toBe(shown + 500);
    await page.getByRole('button', { name: 'Earlier events' }).click();
    await page.locator(`.events li:nth-child(${shown + 501})`).waitFor();
    expect(new Set(await page.locator('.events li > :last-child').allTextContents()).size).toBe(shown + 600);
    await context.close();
  });

  it('show all events where no type is chosen, and only those of the chosen type', async () => {
    const { page, context } = await openTab({ place: 'activity' });
    await daemon.call('POST', '/api/devices/DEV-1/lock', { reason: '<img src=x onerror=alert(1)>' });
    await page.getByText('<img src=x onerror=alert(1)>').waitFor();
    await page.getByLabel('locked', { exact: true }).check();
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
    expect((await update.getByRole('definition').allTextContents()).sort()).toEqual([
      'None → drawer 3',
      'None → lot:7',
    ]);
    await context.close();
  });

  it('are found by person, device and day, and new ones that match are added', async () => {
    const { token } = await daemon.user('bela', 'DEALER');
    await daemon.call('PUT', '/api/devices/DEV-4', { note: 'by bela' }, { token });
    await daemon.call('PUT', '/api/devices/DEV-3', { note: 'by bela' }, { token });
    const { page, context } = await openTab({ place: 'activity' });
    await page.getByText('live', { exact: true }).waitFor();
    const lines = page.locator('.events li');
    await page.getByLabel('Person').fill('bela');
    await page.getByLabel('Person').press('Enter');
    await expect.poll(() => lines.count()).toBe(2);
    await page.getByLabel('Device').fill('DEV-3');
    await page.getByLabel('Device').press('Enter');
    await expect.poll(() => lines.count()).toBe(1);
    expect(new URL(page.url()).hash).toBe('#/activity?deviceId=DEV-3&actor=bela');
    await daemon.call('PUT', '/api/devices/DEV-3', { note: 'from the office' });
    await daemon.call('PUT', '/api/devices/DEV-3', { note: 'by bela again' }, { token });
    await page.getByText('by bela again').waitFor();
    expect(await lines.count()).toBe(2);
    await page.getByLabel('Until (day)').fill('2020-01-01');
    await page.getByText('Nothing has happened yet.').waitFor();
    await context.close();
  });

  it('show a DEALER neither who did it nor the search for it', async () => {
    const { token } = await daemon.user('carla', 'DEALER');
    const { page, context } = await openTab({ place: 'activity', token });
    await page.getByLabel('Device').waitFor();
    await page.locator('.events li').first().waitFor();
    expect(await page.getByLabel('Person').count()).toBe(0);
    expect(await page.getByText('by admin', { exact: true }).count()).toBe(0);
    await context.close();
  });

  it.each(['light', 'dark'] as const)('are accessible in %s colors', async colorScheme => {
    const { page, context, show, complaints } = await openTab({ colorScheme });
    await page.getByRole('link', { name: /inactive$/ }).waitFor();
    await page.getByText('As a table').first().click();
    expect(await violationsOn(page)).toEqual([]);
    await show('activity');
    await page.getByLabel('locked', { exact: true }).waitFor();
    expect(await violationsOn(page)).toEqual([]);
    expect(complaints).toEqual([]);
    await context.close();
  });
});
