import type { Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { adminPassword } from '../support/daemon.ts';
import { activation, data, register } from '../support/fleet.ts';
import { needs } from '../support/needs.ts';
import {
  actionsFor,
  armed,
  button,
  choose,
  consoleTests,
  dialog,
  row,
  status,
  tabTo,
  violationsOn,
  withoutPage,
} from './browser.ts';

const hostile = '<img src=x onerror=alert(1)>';

needs('chromium')('the pages of persons in the console', () => {
  const tests = consoleTests();
  const { daemon, openTab } = tests;
  const post = async (path: string, body: object) => data(await daemon.call('POST', path, body));
  const add = async (userName: string, more = {}): Promise<string> =>
    (await post('/api/people', { userName, ...more })).personId;
  const bind = async (userId: string): Promise<string> =>
    (await post('/api/devices/activate', activation(await register(daemon), userId))).deviceId;
  const statusOf = async (id: string) => data(await daemon.call('GET', `/api/devices/${id}`)).status;
  /** Confirms the open dialog by keyboard. */
  const confirm = async (page: Page, name: string | RegExp) => {
    await tabTo(page, dialog(page).getByRole('button', { name }));
    await page.keyboard.press('Enter');
  };
  // So many that a person with one device is not held.
  beforeAll(() => Promise.all(Array.from({ length: 12 }, () => bind('stock'))));

  it('lists persons by name and state, with their devices, and keeps texts of the registry texts', async () => {
    const personId = await add('lovelace', { name: hostile, email: 'ada@example.com' });
    await bind('lovelace');
    await post(`/api/people/${await add('former')}/leave`, { reason: 'has left' });
    const { page, context, complaints } = await openTab({ place: 'people' });
    await row(page, 'lovelace').getByText(hostile).waitFor();
    await row(page, 'lovelace').getByText('ada@example.com').waitFor();
    expect(await row(page, 'lovelace').getByRole('link', { name: '1' }).getAttribute('href')).toBe(
      '#/devices?userId=lovelace',
    );
    await page.getByLabel('State').selectOption('Has left');
    await row(page, 'lovelace').waitFor({ state: 'detached' });
    await row(page, 'former').getByText('now').waitFor();
    await page.getByLabel('State').selectOption('All states');
    await page.getByLabel('Name, e-mail or id').fill('ADA@');
    await page.keyboard.press('Enter');
    await status(page, '1 person');
    expect(new URL(page.url()).hash).toBe('#/people?keyword=ADA%40');
    await page.getByRole('link', { name: 'lovelace' }).click();
    await page.getByRole('heading', { name: hostile }).waitFor();
    expect(page.url()).toContain(personId);
    expect(await page.locator('img').count()).toBe(0);
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('searches as one types, and Back leads to the list before the search', async () => {
    await add('typed.letters');
    const { page, context } = await openTab({ place: 'people' });
    await row(page, 'typed.letters').waitFor();
    const address = page.url();
    const field = page.getByRole('searchbox', { name: 'Name, e-mail or id' });
    await field.pressSequentially('TYPED.', { delay: 20 });
    await page.waitForURL(url => url.hash === '#/people?keyword=TYPED.');
    await status(page, '1 person');
    await page.goBack();
    await page.waitForURL(address);
    await expect.poll(() => field.inputValue()).toBe('');
    await context.close();
  });

  it('sorts persons by keyboard alone if all of them are on the page, and offers no order otherwise', async () => {
    const first = await add('sorted.10', { name: 'Ada' });
    for (const name of ['Chloë', 'Bea']) await add(`sorted.${name.length}`, { name });
    await bind('sorted.3');
    const { page, context } = await openTab({ place: 'people?keyword=sorted.' });
    const names = () => page.locator('tbody th').allTextContents();
    const sortBy = async (head: string, expected: readonly string[]) => {
      await tabTo(page, page.getByRole('button', { name: head, exact: true }));
      await page.keyboard.press('Enter');
      await expect.poll(names).toEqual(expected);
    };
    await row(page, 'sorted.10').waitFor();
    expect(await names()).toEqual(['sorted.3', 'sorted.5', 'sorted.10']);
    await sortBy('Name', ['sorted.10', 'sorted.3', 'sorted.5']);
    await page.locator('th[aria-sort="ascending"]').getByText('Name').waitFor();
    await page.locator('button.sort:focus').waitFor();
    await sortBy('Name', ['sorted.5', 'sorted.3', 'sorted.10']);
    await sortBy('Devices', ['sorted.3', 'sorted.5', 'sorted.10']);
    await sortBy('User name', ['sorted.3', 'sorted.5', 'sorted.10']);
    await sortBy('User name', ['sorted.10', 'sorted.5', 'sorted.3']);
    await page.getByLabel('State').selectOption('Active');
    await page.waitForURL(/(?=.*active=true)(?=.*sortBy=userName)/);
    await daemon.call('POST', `/api/people/${first}/leave`, { reason: 'has left' });
    await expect.poll(names).toEqual(['sorted.5', 'sorted.3']);
    await Promise.all(Array.from({ length: 51 }, (_, i) => add(`crowd.${i}`)));
    await page.goto(`${page.url().split('#')[0]}#/people?keyword=crowd.&sortBy=name&sortOrder=asc`);
    await status(page, '51 persons');
    await page.getByRole('columnheader', { name: 'User name' }).waitFor();
    expect(await page.locator('button.sort, [aria-sort]').count()).toBe(0);
    await context.close();
  });

  it('adds a person by keyboard alone', async () => {
    const { page, context } = await openTab({ place: 'people' });
    await button(page, 'Add person …').press('Enter');
    await armed(page);
    for (const text of ['hopper', 'Grace Hopper', 'grace@example.com']) {
      await page.keyboard.type(text);
      await page.keyboard.press('Tab');
    }
    await confirm(page, 'Add person');
    await status(page, 'hopper was added.');
    await row(page, 'hopper').getByText('grace@example.com').waitFor();
    await context.close();
  });

  it('ends a person by keyboard alone, names the devices before, and lists what is locked after the return', async () => {
    const personId = await add('leaver', { name: 'Lea Ver' });
    const ids = [await bind('leaver'), await bind('leaver')];
    const { page, context } = await openTab({ place: `people/${personId}` });
    await tabTo(page, button(page, 'Mark as left …'));
    await page.keyboard.press('Enter');
    await armed(page);
    await dialog(page).getByText(`${ids[1]}, ${ids[0]}`).waitFor();
    await dialog(page).getByText('2 active devices will be locked at once').waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await dialog(page).waitFor({ state: 'detached' });
    expect(await statusOf(ids[0]!)).toBe('ACTIVE');
    await page.keyboard.press('Enter');
    await armed(page);
    await page.keyboard.type('contract ended');
    await confirm(page, 'Mark as left');
    await status(page, 'leaver has left: 2 devices locked');
    await row(page, ids[0]!).getByText('locked', { exact: true }).waitFor();
    await page.locator('.events').getByText('contract ended').first().waitFor();
    await tabTo(page, button(page, 'Mark as returned …'));
    await page.keyboard.press('Enter');
    await armed(page);
    await confirm(page, 'Mark as returned');
    const locked = page.locator('section').filter({ has: page.getByRole('heading', { name: 'Locked keys' }) });
    await locked.getByRole('link', { name: ids[1]! }).waitFor();
    expect(await locked.getByRole('listitem').allTextContents()).toEqual(
      ids.toReversed().map(id => `${id} contract ended`),
    );
    expect(await statusOf(ids[0]!)).toBe('LOCKED');
    await context.close();
  });

  it('erases a person by keyboard alone once the case is closed, and lists what the erasure does not reach', async () => {
    const personId = await add('erased', { name: 'Era Sed', email: 'era@example.com' });
    const deviceId = await bind('erased');
    await post(`/api/people/${personId}/leave`, { reason: 'has left' });
    const { page, context, complaints } = await openTab({ place: `people/${personId}` });
    const open = async () => {
      await choose(page, 'erased', 'Erase');
      await armed(page);
      await dialog(page).getByText(`shows ${personId} instead of the name`).waitFor();
    };
    await open();
    await dialog(page).getByText('The case of this person is open.').waitFor();
    await page.keyboard.type('erased');
    expect(await dialog(page).getByRole('button', { name: 'Erase' }).isDisabled()).toBe(true);
    await page.keyboard.press('Escape');
    await dialog(page).waitFor({ state: 'detached' });
    await post(`/api/people/${personId}/case/close`, {});
    await page.getByText('The case ended on').waitFor();
    await open();
    for (const text of ['erased', 'Era Sed', 'era@example.com', deviceId])
      await dialog(page).getByText(text, { exact: true }).waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await page.keyboard.type('erase');
    expect(await dialog(page).getByRole('button', { name: 'Erase' }).isDisabled()).toBe(true);
    await page.keyboard.type('d');
    await page.keyboard.press('Tab');
    await page.keyboard.type(adminPassword);
    await confirm(page, 'Erase');
    await dialog(page).getByText('Earlier backups of the registry').waitFor();
    await dialog(page)
      .getByText(/^Tokens of sessions .*\(gone by /)
      .waitFor();
    await page.getByRole('heading', { name: personId, exact: true }).waitFor();
    await dialog(page).getByText('Earlier backups of the registry').waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await confirm(page, 'Close');
    await dialog(page).waitFor({ state: 'detached' });
    expect(data(await daemon.call('GET', `/api/people/${personId}`))).toMatchObject({
      userName: personId,
      email: null,
    });
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('leads from the list to the person who is back', async () => {
    await post(`/api/people/${await add('returner')}/leave`, { reason: 'has left' });
    const { page, context } = await openTab({ place: 'people' });
    await choose(page, 'returner', 'Mark as returned');
    await armed(page);
    await confirm(page, 'Mark as returned');
    await status(page, 'returner is back.');
    await page.getByRole('heading', { name: 'returner' }).waitFor();
    await button(page, 'Mark as left …').waitFor();
    await context.close();
  });

  it('reports what the brake holds, shows it on the overview, and releases what is held at that moment', async () => {
    const personId = await add('bulk', { name: 'Bulk Leaver' });
    const ids = await Promise.all(Array.from({ length: 11 }, () => bind('bulk')));
    const { page, context, show } = await openTab({ place: 'people' });
    await choose(page, 'bulk', 'Mark as left');
    await armed(page);
    await page.keyboard.type('moved away');
    await page.keyboard.press('Enter');
    await dialog(page).getByRole('alert').getByText('11 devices stay active').waitFor();
    await confirm(page, 'Close');
    expect(await statusOf(ids[0]!)).toBe('ACTIVE');
    await page.getByRole('heading', { name: 'Held leavers' }).waitFor();
    await show('');
    await page.getByRole('link', { name: '1 leaver whose devices await a release' }).click();
    await page.getByRole('heading', { name: 'Held leavers' }).waitFor();
    await tabTo(page, button(page, 'Release bulk'));
    await page.keyboard.press('Enter');
    await armed(page);
    const release = dialog(page).getByRole('button', { name: /^Lock/ });
    expect(await release.textContent()).toBe('Lock 11 devices');
    expect(await violationsOn(page)).toEqual([]);
    await post(`/api/devices/${ids[10]}/lock`, { reason: 'lost' });
    await dialog(page).getByRole('button', { name: 'Lock 10 devices' }).waitFor();
    await confirm(page, 'Lock 10 devices');
    await status(page, '10 devices locked');
    await page.getByRole('heading', { name: 'Held leavers' }).waitFor({ state: 'detached' });
    expect(await statusOf(ids[0]!)).toBe('LOCKED');
    await show('activity?types=PERSON_HELD');
    await page.getByText('leaver held: devices await a release').nth(1).waitFor();
    await page.getByText('11 devices').waitFor();
    await page.getByRole('link', { name: personId }).click();
    await page.getByRole('heading', { name: 'Bulk Leaver' }).waitFor();
    await context.close();
  });

  it('shows a DEALER neither e-mail addresses nor actions', async () => {
    const personId = await add('seen', { email: 'seen@example.com' });
    await bind('seen');
    const { token } = await daemon.user('people-dealer', 'DEALER');
    const { page, context, requested, show } = await openTab({ place: 'people', token });
    await row(page, 'seen').waitFor();
    expect(await page.getByRole('columnheader').allTextContents()).toEqual([
      'User name',
      'Name',
      'Groups',
      'Source',
      'Devices',
      'Left',
    ]);
    expect(await actionsFor(page, 'seen').count()).toBe(0);
    expect(await button(page, 'Add person …').count()).toBe(0);
    await show(`people/${personId}`);
    await page.getByRole('heading', { name: 'seen' }).waitFor();
    await page.getByText('activated').waitFor();
    expect(await button(page, 'Mark as left …').count()).toBe(0);
    expect(await page.content()).not.toContain('seen@example.com');
    expect(requested.filter(url => url.includes('/people/held'))).toEqual([]);
    await context.close();
  });

  it('offers persons by name in the field for a user, with one request for a pause, and requires one by the policy', async () => {
    await add('offered.person', { name: 'Olga Offered' });
    const { deviceId, activationCode } = await register(daemon);
    const { page, context, requested } = await openTab({ place: `devices/${deviceId}` });
    const searches = () => requested.filter(url => url.includes('/people/list'));
    const policy = (personsRequired: boolean) =>
      daemon.call('PUT', '/api/policies/people', { personsRequired, leavers: 'lock', leaverDelayHours: 0 });
    data(await policy(true));
    await button(page, 'Activate …').press('Enter');
    await armed(page);
    const field = dialog(page).getByRole('combobox', { name: 'Person' });
    await field.pressSequentially('olga', { delay: 20 });
    await dialog(page)
      .locator('option[value="offered.person"][label="Olga Offered · offered.person"]')
      .waitFor({ state: 'attached' });
    expect(searches()).toHaveLength(1);
    await dialog(page).getByText('no active person has this user name').waitFor();
    await dialog(page).getByLabel('Activation code').fill(activationCode);
    await page.keyboard.press('Enter');
    expect(await dialog(page).locator('input:invalid').count()).toBe(1);
    expect(await violationsOn(page, { part: 'dialog[open]' })).toEqual([]);
    await field.fill('offered.person');
    await dialog(page).getByText('no active person has this user name').waitFor({ state: 'detached' });
    await confirm(page, 'Activate');
    await status(page, `${deviceId}: activated`);
    expect(data(await daemon.call('GET', `/api/devices/${deviceId}`)).userId).toBe('offered.person');
    data(await policy(false));
    await context.close();
  });

  it('does not exist for a VIEWER', async () => {
    const page = { place: 'people', link: 'People', path: '/api/people/' };
    expect(await withoutPage(tests, 'VIEWER', page)).toEqual({ links: 0, requests: [] });
  });

  it('shows the case of a leaver: an item is kept with a reason, and the case is closed from the list of open ones', async () => {
    const personId = await add('case.leaver');
    const deviceId = await bind('case.leaver');
    await post(`/api/people/${personId}/leave`, { reason: 'has left' });
    // The brake may have held it.
    await daemon.call('POST', `/api/devices/${deviceId}/unlock`, {});
    const { page, context, complaints } = await openTab({ place: 'people' });
    await page.getByRole('link', { name: /^Open cases: \d+$/ }).click();
    await row(page, 'case.leaver').getByText(`Device ${deviceId}`).waitFor();
    await row(page, 'case.leaver').getByRole('link', { name: 'case.leaver' }).click();
    await page.getByRole('button', { name: `Keep Device ${deviceId}` }).click();
    await dialog(page).getByLabel('Reason').fill('shared key');
    await armed(page);
    await confirm(page, `Keep Device ${deviceId}`);
    await status(page, `Device ${deviceId} is kept.`);
    await page.getByText('kept · shared key').waitFor();
    await page.goBack();
    await row(page, 'case.leaver').getByText('Close case').first().waitFor();
    await row(page, 'case.leaver').getByRole('button', { name: 'Close case case.leaver' }).click();
    await armed(page);
    await confirm(page, 'Close case');
    await row(page, 'case.leaver').waitFor({ state: 'detached' });
    expect(data(await daemon.call('GET', `/api/people/${personId}/case`)).closed).not.toBeNull();
    expect(await violationsOn(page)).toEqual([]);
    expect(complaints).toEqual([]);
    await context.close();
  });
});
