import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { adminPassword } from '../support/daemon.ts';
import { backUp, data, deviceIn, freshSerial, register } from '../support/fleet.ts';
import { needs } from '../support/needs.ts';
import { armed, button, consoleTests, tabTo, violationsOn } from './browser.ts';

const code = /[A-Z2-9]{4}(-[A-Z2-9]{4}){3}/;
const heading = (page: Page, words: string) =>
  page.getByRole('heading', { level: 1 }).filter({ hasText: words }).waitFor();

/** Replaces a part of what the daemon reports about a device. */
const changeDetail = (page: Page, deviceId: string, change: object) =>
  page.route(`**/api/devices/${deviceId}?events=*`, async route => {
    const response = await route.fetch();
    const envelope = await response.json();
    await route.fulfill({ response, json: { ...envelope, data: { ...envelope.data, ...change } } });
  });

needs('chromium')('the page of a device in the console', () => {
  const { daemon, openTab } = consoleTests();
  const open = (deviceId: string, more = {}) => openTab({ place: `devices/${deviceId}`, ...more });
  /** Chooses an action in the menu of the device, or of a backup. */
  const choose = async (page: Page, action: string, name = 'DEV-') => {
    await button(page, new RegExp(`^Actions for ${name}`)).click();
    await page.getByRole('menuitem', { name: action }).click();
  };
  const detail = async (deviceId: string) => data(await daemon.call('GET', `/api/devices/${deviceId}`));

  it('shows facts and history, and follows changes of others', async () => {
    const { deviceId, serialNumber } = await deviceIn('ACTIVE', daemon);
    const { page, complaints, context } = await open(deviceId);
    await heading(page, 'active');
    await page.getByText(serialNumber).first().waitFor();
    await page.getByText('alice').first().waitFor();
    await page.getByText('live', { exact: true }).waitFor();
    expect(await page.locator('.events li').count()).toBe(2);
    await daemon.call('POST', `/api/devices/${deviceId}/lock`, { reason: 'reported lost' });
    await heading(page, 'locked');
    await page.locator('.events li').nth(2).waitFor();
    expect(await page.locator('.events li').first().textContent()).toContain('reported lost');
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('shows how long ago something was, and the exact time at the pointer and at the focus', async () => {
    const { deviceId } = await register(daemon);
    const { page, context } = await openTab({ place: 'devices?keyword=none' });
    const createdAt = new Date(Date.now() - 4 * 3_600_000 + 40_000).toISOString();
    await changeDetail(page, deviceId, { createdAt });
    await page.clock.install();
    await page.goto(`${daemon.url}/console/#/devices/${deviceId}`);
    await page.reload();
    const registered = page.locator('.facts time').first();
    await registered.filter({ hasText: /^3 hours ago$/ }).waitFor();
    const exact = page.getByRole('tooltip').filter({ hasText: createdAt.slice(0, 4) });
    await registered.hover();
    await exact.waitFor();
    await page.mouse.move(0, 0);
    await exact.waitFor({ state: 'hidden' });
    await registered.focus();
    await exact.waitFor();
    await page.keyboard.press('Escape');
    await exact.waitFor({ state: 'hidden' });
    await page.clock.fastForward(50_000);
    await registered.filter({ hasText: /^4 hours ago$/ }).waitFor();
    await context.close();
  });

  it('reads older events on demand', async () => {
    const { deviceId } = await register(daemon);
    for (let i = 0; i < 54; i++) await daemon.call('PUT', `/api/devices/${deviceId}`, { note: `note ${i}` });
    const { page, context } = await open(deviceId);
    await button(page, 'Older events').click();
    await page.getByText('No older events.').waitFor();
    expect(await page.locator('.events li').count()).toBe(55);
    await context.close();
  });

  it('activates, locks, unlocks and replaces the code', async () => {
    const { deviceId, activationCode } = await register(daemon);
    const { page, context } = await open(deviceId);
    await button(page, 'Activate …').click();
    await page.getByLabel('Person').fill('bob');
    await page.getByLabel('Activation code', { exact: true }).fill('AAAA-AAAA-AAAA-AAAA');
    await button(page, /^Activate$/).click();
    await page.getByRole('dialog').getByRole('alert').waitFor();
    await page.getByLabel('Activation code', { exact: true }).fill(activationCode);
    await button(page, /^Activate$/).click();
    await heading(page, 'active');
    expect((await detail(deviceId)).userId).toBe('bob');
    await button(page, 'Lock …').click();
    await page.getByLabel('Reason').fill('lost');
    await button(page, /^Lock$/).click();
    await heading(page, 'locked');
    await page.getByText('Lock reason').waitFor();
    await button(page, 'Unlock …').click();
    await button(page, /^Unlock$/).click();
    await heading(page, 'active');
    await choose(page, 'New code …');
    await page.getByLabel('Reason').fill('lost');
    await button(page, /^New code$/).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect((await detail(deviceId)).activationCode).not.toBe(activationCode);
    await context.close();
  });

  it('retires only with the id and a password; a wrong password changes nothing and loses no entry', async () => {
    const { deviceId } = await deviceIn('ACTIVE', daemon);
    const { page, context } = await open(deviceId);
    await choose(page, 'Retire …');
    await page.getByLabel('Reason').fill('worn out');
    await page.getByLabel('Administrator password').fill('wrong');
    expect(await button(page, /^Retire$/).isDisabled()).toBe(true);
    await page.getByLabel(`Type the id of the device, ${deviceId}`).fill(deviceId);
    await button(page, /^Retire$/).click();
    await page.getByRole('dialog').getByRole('alert').waitFor();
    expect((await detail(deviceId)).status).toBe('ACTIVE');
    expect(await page.getByLabel('Reason').inputValue()).toBe('worn out');
    await page.getByLabel('Administrator password').fill(adminPassword);
    await button(page, /^Retire$/).click();
    await heading(page, 'retired');
    expect((await detail(deviceId)).status).toBe('DEACTIVATED');
    expect(await button(page, /…$|^Actions for DEV/).count()).toBe(0);
    await context.close();
  });

  it('hides the code until it is asked for, and again after a minute', async () => {
    const { deviceId, activationCode } = await register(daemon);
    const { page, requested, complaints, context } = await open(deviceId);
    await page.clock.install();
    await page.reload();
    await button(page, 'Show code').waitFor();
    expect(await page.content()).not.toContain(activationCode);
    expect(requested.filter(url => url.includes('/qr-'))).toEqual([]);
    await button(page, 'Show code').click();
    await page.getByText(activationCode).waitFor();
    await page.getByRole('img', { name: 'Activation code as a QR code' }).waitFor();
    expect(requested.filter(url => url.includes('/qr-'))).toHaveLength(1);
    await page.clock.fastForward(59_000);
    expect(await page.content()).toContain(activationCode);
    await page.clock.fastForward(1100);
    await button(page, 'Show code').waitFor();
    expect(await page.content()).not.toContain(activationCode);
    expect(await page.locator('svg.qr').count()).toBe(0);
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('changes tags and the note, and keeps what was typed after a failure', async () => {
    const { deviceId } = await register(daemon, { tags: { lot: '7' } });
    const { page, context } = await open(deviceId);
    await page.getByLabel('New tag').fill('Not a tag');
    await button(page, 'Add').click();
    await page.getByText('Enter name:value.').waitFor();
    await page.getByLabel('New tag').fill('shelf:b-12');
    await button(page, 'Add').click();
    await button(page, 'Remove the tag shelf').waitFor();
    await button(page, 'Remove the tag lot').click();
    await button(page, 'Remove the tag lot').waitFor({ state: 'detached' });
    let isLost = true;
    await page.route(`**/api/devices/${deviceId}`, route => {
      const abort = isLost && route.request().method() === 'PUT';
      if (abort) isLost = false;
      return abort ? route.abort() : route.continue();
    });
    await page.getByRole('textbox', { name: 'Note' }).fill('drawer 3');
    await button(page, 'Save').click();
    await page.getByText('The daemon does not respond.').waitFor();
    expect(await page.getByRole('textbox', { name: 'Note' }).inputValue()).toBe('drawer 3');
    await button(page, 'Save').click();
    await page.getByText('The daemon does not respond.').waitFor({ state: 'detached' });
    await expect.poll(() => detail(deviceId)).toMatchObject({ note: 'drawer 3', tags: { shelf: 'b-12' } });
    await context.close();
  });

  it('shows both notes if another person has changed the note since, and stores the one that is chosen', async () => {
    const { deviceId } = await register(daemon, { note: 'drawer 1' });
    const { page, context } = await open(deviceId);
    const note = page.getByRole('textbox', { name: 'Note' });
    await note.fill('drawer 2, mine');
    await daemon.call('PUT', `/api/devices/${deviceId}`, { note: 'with ada until Friday' });
    await button(page, 'Save').click();
    const choice = page.getByRole('alert').filter({ hasText: 'Another person changed this' });
    await choice.getByText('with ada until Friday').waitFor();
    await choice.getByText('drawer 2, mine').waitFor();
    expect((await detail(deviceId)).note).toBe('with ada until Friday');
    expect(await violationsOn(page)).toEqual([]);
    await button(page, 'Replace it with yours').click();
    await choice.waitFor({ state: 'detached' });
    expect((await detail(deviceId)).note).toBe('drawer 2, mine');
    await note.fill('drawer 3, mine');
    await daemon.call('PUT', `/api/devices/${deviceId}`, { note: 'lost again' });
    await button(page, 'Save').click();
    await button(page, 'Keep the stored version').click();
    await choice.waitFor({ state: 'detached' });
    await expect.poll(() => note.inputValue()).toBe('lost again');
    expect((await detail(deviceId)).note).toBe('lost again');
    await context.close();
  });

  it('saves a note without a question if another person has changed something else of the device', async () => {
    const { deviceId } = await register(daemon);
    const { page, context } = await open(deviceId);
    await page.getByRole('textbox', { name: 'Note' }).fill('drawer 3');
    await daemon.call('PUT', `/api/devices/${deviceId}`, { tags: { lot: '7' } });
    await button(page, 'Save').click();
    await expect.poll(async () => (await detail(deviceId)).note).toBe('drawer 3');
    expect(await page.getByRole('alert').count()).toBe(0);
    await context.close();
  });

  it('asks before it replaces a tag or a firmware version that another person has changed since', async () => {
    const { deviceId } = await register(daemon, { tags: { lot: '7' }, firmwareVersion: '1.0.4' });
    const { page, context } = await open(deviceId);
    await page.getByLabel('New tag').fill('lot:8');
    await page.getByLabel('Firmware version').fill('1.0.5');
    await daemon.call('PUT', `/api/devices/${deviceId}`, { tags: { lot: '9' }, firmwareVersion: '2.0.0' });
    await button(page, 'Add').click();
    await page.getByRole('alert').getByText('9', { exact: true }).waitFor();
    await button(page, 'Keep the stored version').click();
    await button(page, /^Change$/).click();
    await page.getByRole('alert').getByText('2.0.0', { exact: true }).waitFor();
    await button(page, 'Replace it with yours').click();
    await expect.poll(() => detail(deviceId)).toMatchObject({ tags: { lot: '9' }, firmwareVersion: '1.0.5' });
    await context.close();
  });

  it('shows what a proof means, with its warnings as text', async () => {
    const { deviceId, serialNumber } = await register(daemon, {
      manufacturer: '<img src=x onerror="document.title=1">',
    });
    const proof = {
      grade: 'model',
      method: 'fido',
      model: 'YubiKey 5 Series',
      aaguid: null,
      firmware: '5.4.3',
      serial: null,
      root: 'Yubico',
      metadataNumber: 12,
      provedAt: '2026-03-01T08:30:00.000Z',
      warnings: ['YSA-2024-03: <b>side channel</b>'],
    };
    const { page, complaints, context } = await openTab({ place: 'devices?keyword=none' });
    await changeDetail(page, deviceId, { proof });
    await page.goto(`${daemon.url}/console/#/devices/${deviceId}`);
    await page.getByText('YSA-2024-03: <b>side channel</b>').waitFor();
    await page.getByText('It is a genuine key of its model.').waitFor();
    await page.getByText('<img src=x').waitFor();
    expect(await page.locator('img, main b').count()).toBe(0);
    // What the key is stands above its history, and what people maintain below.
    expect(await page.locator('main h2').allTextContents()).toEqual([
      expect.stringContaining('<img src=x'),
      'History',
      'Sign-in at providers',
      'Receipts',
      'Backups',
      'Proof',
      'Tags',
      'Note',
      'Activation code',
      'Label',
    ]);
    await page.locator('.identity').getByText(serialNumber).waitFor();
    expect(await page.locator('.events li').allTextContents()).toEqual([
      expect.stringContaining('registered'),
      expect.stringMatching(/ago checked.*model/),
    ]);
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('downloads a backup', async () => {
    const { deviceId } = await deviceIn('ACTIVE', daemon);
    data(await backUp(daemon, deviceId));
    const { page, context } = await open(deviceId);
    // A dialog of the system cannot be answered here.
    await page.evaluate('delete window.showSaveFilePicker');
    const download = page.waitForEvent('download');
    await choose(page, 'Download', 'key.bak');
    const file = await download;
    expect(file.suggestedFilename()).toBe('key.bak');
    expect(await new Response(await file.createReadStream()).text()).toBe('an encrypted backup');
    await context.close();
  });

  it('offers Undo after a lock, by keyboard alone', async () => {
    const { deviceId } = await deviceIn('ACTIVE', daemon);
    const { page, context } = await open(deviceId);
    await heading(page, 'active');
    await tabTo(page, 'Lock …');
    await page.keyboard.press('Enter');
    await page.getByLabel('Reason').waitFor();
    await page.keyboard.type('lost');
    await armed(page);
    await page.keyboard.press('Enter');
    await heading(page, 'locked');
    await page.getByText(`${deviceId}: locked`).waitFor();
    await tabTo(page, 'Undo');
    await page.keyboard.press('Enter');
    await heading(page, 'active');
    await page.getByText(`${deviceId}: unlocked`).waitFor();
    expect((await detail(deviceId)).status).toBe('ACTIVE');
    await context.close();
  });

  it('stores a backup and marks it as restored, by keyboard alone', async () => {
    const { deviceId } = await deviceIn('ACTIVE', daemon);
    const { page, complaints, context } = await open(deviceId);
    // From now on choosers are answered here: the browser of the test cancels others at once.
    const chooser = page.waitForEvent('filechooser');
    await heading(page, 'active');
    await tabTo(page, `Actions for ${deviceId}`);
    await page.keyboard.press('Enter');
    await page.locator('.menu:focus').waitFor();
    await page.keyboard.press('a');
    await page.keyboard.press('Enter');
    await page.locator('dialog input[type=file]:focus').waitFor();
    // A browser does this when a person closes the chooser without a file.
    await page.locator(':focus').dispatchEvent('cancel', { bubbles: true });
    await page.keyboard.press('Space');
    await (await chooser).setFiles({
      name: 'new.bak',
      mimeType: 'text/plain',
      buffer: Buffer.from('an encrypted backup'),
    });
    await tabTo(page, 'Note (optional)');
    await page.keyboard.type('before the trip');
    await armed(page);
    await page.keyboard.press('Enter');
    await page.getByText(/^The backup is stored as BKP-/).waitFor();
    await page.getByRole('rowheader', { name: 'new.bak' }).waitFor();
    const [stored] = data(await daemon.call('GET', `/api/devices/${deviceId}/backups/list`)).list;
    expect(stored).toMatchObject({ fileName: 'new.bak', note: 'before the trip', fileSize: 19 });
    await tabTo(page, 'Actions for new.bak');
    await page.keyboard.press('Enter');
    await page.locator('.menu:focus').waitFor();
    await page.keyboard.press('m');
    await page.keyboard.press('Enter');
    await armed(page);
    await tabTo(page, 'Mark as restored');
    await page.keyboard.press('Enter');
    await page.getByText('new.bak is intact and marked as restored.').waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('records a use, and shows the number and the total time of uses', async () => {
    const { deviceId } = await deviceIn('ACTIVE', daemon);
    const { page, context } = await open(deviceId);
    await choose(page, 'Record a use …');
    await page.getByLabel('Duration in minutes').fill('x');
    await page.getByText('Enter a number of minutes, at most 366 days.').waitFor();
    await page.getByLabel('Duration in minutes').fill('200');
    await armed(page);
    await button(page, 'Record a use').click();
    await page.getByText('1 · 3 hr 20 min').waitFor();
    await page.locator('.events li').getByText('last used').waitFor();
    expect((await detail(deviceId)).statistics).toMatchObject({ totalUsageCount: 1, totalUsageDuration: 12_000 });
    await context.close();
  });

  it('shows a VIEWER neither a code nor an action', async () => {
    const { deviceId, serialNumber } = await register(daemon);
    const { token } = await daemon.user(freshSerial('watcher'), 'VIEWER');
    const { page, context } = await openTab({ token, place: 'devices?keyword=none' });
    const bodies: Promise<string>[] = [];
    // A request that the page gave up has no body.
    page.on('requestfinished', request => {
      if (request.url().includes('/api/devices/')) bodies.push(request.response().then(response => response!.text()));
    });
    await page.goto(`${daemon.url}/console/#/devices/${deviceId}`);
    await page.getByText('No older events.').waitFor();
    await page.getByText(serialNumber).first().waitFor();
    expect(await page.getByRole('heading', { name: 'Activation code' }).count()).toBe(0);
    expect(await button(page, /…$|^Save$|^Add$|Show code|^Actions/).count()).toBe(0);
    expect(await page.content()).not.toMatch(code);
    expect(bodies.length).toBeGreaterThan(0);
    for (const body of await Promise.all(bodies)) expect(body).not.toMatch(code);
    await context.close();
  });

  it('reports that a device does not exist', async () => {
    const { page, context } = await open('DEV-999999');
    await page.getByRole('alert').getByText('device does not exist').waitFor();
    await context.close();
  });

  it.each([
    ['light', 1440],
    ['dark', 1440],
    ['light', 768],
    ['light', 360],
    ['dark', 360],
  ] as const)('is accessible in %s colors at %i pixels', async (colorScheme, width) => {
    const { deviceId } = await deviceIn('ACTIVE', daemon);
    await daemon.call('PUT', `/api/devices/${deviceId}`, { tags: { lot: '7' } });
    data(await backUp(daemon, deviceId));
    const { page, context } = await open(deviceId, { colorScheme, viewport: { width, height: 900 } });
    await button(page, 'Actions for key.bak').waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
    await page.getByText('No older events.').waitFor();
    await button(page, 'Show code').click();
    await page.getByRole('img', { name: 'Activation code as a QR code' }).waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await choose(page, 'Retire …');
    await page.getByLabel('Reason').waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await context.close();
  });
});
