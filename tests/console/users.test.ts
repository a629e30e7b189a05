import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { Page as KeyPage } from '../support/browser.ts';
import { adminPassword } from '../support/daemon.ts';
import { data } from '../support/fleet.ts';
import { needs } from '../support/needs.ts';
import { SoftwareKey } from '../support/software-key.ts';
import {
  actionsFor,
  armed,
  button,
  choose,
  consoleTests,
  dialog,
  menuItem,
  row,
  status,
  tabTo,
  violationsOn,
  withoutPage,
} from './browser.ts';

const hostile = '"<img/src=x/onerror=alert(1)>"@example.com';
const fresh = 'a quite different horse';

/** Opens the dialog of an action by keyboard: of a button, or of the menu of a user. */
const ask = async (page: Page, name: string, action = '') => {
  if (action) await choose(page, name, action);
  else await page.getByRole('button', { name, exact: true }).press('Enter');
  await armed(page);
};

needs('chromium')('the page Users of the console', () => {
  const tests = consoleTests();
  const { daemon, openTab } = tests;
  const userOf = async (username: string) =>
    (await daemon.call('GET', '/api/users/list?size=100')).data.list.find(
      (user: { username: string }) => user.username === username,
    );

  const keysOf = async (id: string) => data(await daemon.call('GET', `/api/users/${id}/passkeys/list`));

  it('sorts accounts by keyboard alone, the newest first before', async () => {
    for (const [name, role] of [
      ['sort.b', 'VIEWER'],
      ['sort.a', 'DEALER'],
    ] as const)
      await daemon.user(name, role);
    const { page, context } = await openTab({ place: 'users' });
    const names = async () =>
      (await page.locator('tbody th a').allTextContents()).filter(name => name.startsWith('sort.'));
    const sortBy = async (head: string, expected: readonly string[]) => {
      await tabTo(page, page.getByRole('button', { name: head, exact: true }));
      await page.keyboard.press('Enter');
      await expect.poll(names).toEqual(expected);
    };
    await page.locator('th[aria-sort="descending"]').getByText('Created').waitFor();
    expect(await names()).toEqual(['sort.a', 'sort.b']);
    await sortBy('Created', ['sort.b', 'sort.a']);
    await sortBy('Role', ['sort.a', 'sort.b']);
    await sortBy('Role', ['sort.b', 'sort.a']);
    await context.close();
  });

  it('creates a user by keyboard alone, and keeps what was entered after a refusal, except the password', async () => {
    const { page, context, complaints } = await openTab({ place: 'users' });
    await row(page, 'admin you').waitFor();
    await ask(page, 'Create account …');
    await page.keyboard.type('admin');
    await page.keyboard.press('Tab');
    await page.keyboard.type('dealer');
    await page.keyboard.press('Tab');
    await page.keyboard.type(hostile);
    await page.keyboard.press('Tab');
    await page.keyboard.type(fresh);
    await page.keyboard.press('Tab');
    await page.keyboard.type(`${fresh}x`);
    await page.getByText('The passwords do not match.').waitFor();
    await page.keyboard.press('Backspace');
    await page.keyboard.press('Enter');
    await dialog(page).getByText('username admin already exists').waitFor();
    expect(await page.getByLabel('User name').inputValue()).toBe('admin');
    expect(await page.getByLabel('E-mail').inputValue()).toBe(hostile);
    expect(await page.getByLabel('New password').inputValue()).toBe('');
    await page.getByLabel('User name').fill('dealer-1');
    await page.getByLabel('New password').fill(fresh);
    await page.getByLabel('Repeat the password').fill(fresh);
    await page.keyboard.press('Enter');
    await status(page, 'dealer-1 was created.');
    await row(page, 'dealer-1').getByText(hostile).waitFor();
    expect(await userOf('dealer-1')).toMatchObject({ role: 'DEALER', email: hostile, disabled: false });
    expect(await page.locator('img').count()).toBe(0);
    expect(await daemon.login('dealer-1', fresh)).toBeTruthy();
    // The refusal is the one answer that the browser reports.
    expect(complaints.filter(text => !text.includes('400 (Bad Request)'))).toEqual([]);
    await context.close();
  });

  it.each([
    ['Create account …', ''],
    ['admin', 'Edit'],
  ])('loads a dialog again that could not be loaded: %s %s', async (name, action) => {
    const { page, context } = await openTab({ place: 'users' });
    const open = () => (action ? choose(page, name, action) : button(page, name).click());
    await row(page, 'admin you').waitFor();
    await page.route('**/dialogs-*.js', route => route.abort(), { times: 1 });
    await open();
    await page.getByText('This part of the console could not be loaded.').waitFor();
    await open();
    await dialog(page).getByLabel('E-mail').waitFor();
    await context.close();
  });

  it('changes role and e-mail address', async () => {
    await daemon.user('edit-1', 'DEALER');
    const { page, context } = await openTab({ place: 'users' });
    await ask(page, 'edit-1', 'Edit');
    const save = dialog(page).getByRole('button', { name: 'Save' });
    expect(await save.isDisabled()).toBe(true);
    await page.getByLabel('Role').selectOption('Viewer');
    await page.getByText('Read-only, without activation codes.').waitFor();
    await page.getByLabel('E-mail').fill('ops@example.com');
    await page.keyboard.press('Enter');
    await status(page, 'edit-1 was changed.');
    expect(await userOf('edit-1')).toMatchObject({ role: 'VIEWER', email: 'ops@example.com' });
    await ask(page, 'edit-1', 'Edit');
    await page.getByLabel('E-mail').fill('');
    await page.keyboard.press('Enter');
    await row(page, 'edit-1').getByText('ops@example.com').waitFor({ state: 'detached' });
    expect(await userOf('edit-1')).toMatchObject({ role: 'VIEWER', email: null });
    await context.close();
  });

  it('disables, enables and logs out a user, and Esc changes nothing', async () => {
    const { token } = await daemon.user('gone-1', 'DEALER');
    const works = async (given: string) =>
      (await daemon.call('GET', '/api/users/me', undefined, { token: given })).code;
    const { page, context } = await openTab({ place: 'users' });
    await ask(page, 'gone-1', 'Disable');
    await page.keyboard.press('Escape');
    await dialog(page).waitFor({ state: 'detached' });
    expect(await page.locator(':focus').getAttribute('aria-label')).toBe('Actions for gone-1');
    expect(await works(token)).toBe(200);
    await ask(page, 'gone-1', 'Log out');
    await dialog(page).getByRole('button', { name: 'Log out' }).press('Enter');
    await status(page, 'gone-1 is logged out everywhere.');
    expect(await works(token)).toBe(1004);
    await ask(page, 'gone-1', 'Disable');
    await dialog(page).getByRole('button', { name: 'Disable' }).press('Enter');
    await row(page, 'gone-1').getByText('disabled', { exact: true }).waitFor();
    await ask(page, 'gone-1', 'Enable');
    await dialog(page).getByRole('button', { name: 'Enable' }).press('Enter');
    await row(page, 'gone-1').getByText('enabled', { exact: true }).waitFor();
    expect(await works(await daemon.login('gone-1'))).toBe(200);
    await context.close();
  });

  it('removes a user after a question, by keyboard alone', async () => {
    await daemon.user('leaver-1', 'DEALER');
    const { page, context } = await openTab({ place: 'users' });
    await ask(page, 'leaver-1', 'Remove');
    await page.keyboard.press('Escape');
    await dialog(page).waitFor({ state: 'detached' });
    expect(await userOf('leaver-1')).toMatchObject({ disabled: false });
    await ask(page, 'leaver-1', 'Remove');
    await page.getByText('To undo this, enable it.').waitFor();
    await dialog(page).getByRole('button', { name: 'Remove' }).press('Enter');
    await status(page, 'leaver-1 is removed.');
    await row(page, 'leaver-1').getByText('removed', { exact: true }).waitFor();
    expect(await userOf('leaver-1')).toMatchObject({ disabled: true, email: 'removed@devmgr.invalid' });
    for (const [name, present] of [
      ['leaver-1', 'Enable'],
      ['admin', 'Password'],
    ] as const) {
      await actionsFor(page, name).click();
      await menuItem(page, present).waitFor();
      expect(await menuItem(page, 'Remove').count()).toBe(0);
      await page.keyboard.press('Escape');
    }
    await context.close();
  });

  it('shows a user whom the command line has removed, and enabling clears the mark', async () => {
    const { id } = await daemon.user('removed-1', 'VIEWER');
    await daemon.call('PUT', `/api/users/${id}`, { disabled: true, email: 'removed@devmgr.invalid' });
    const { page, context } = await openTab({ place: 'users' });
    await row(page, 'removed-1').getByText('removed', { exact: true }).waitFor();
    expect(await row(page, 'removed-1').textContent()).not.toContain('invalid');
    await ask(page, 'removed-1', 'Enable');
    await dialog(page).getByRole('button', { name: 'Enable' }).press('Enter');
    await row(page, 'removed-1').getByText('enabled', { exact: true }).waitFor();
    expect(await userOf('removed-1')).toMatchObject({ disabled: false, email: null });
    await context.close();
  });

  it('sets the password of another user, and no password stays on the page', async () => {
    await daemon.user('forgot-1', 'VIEWER');
    const { page, context } = await openTab({ place: 'users' });
    await ask(page, 'forgot-1', 'Password');
    await page.getByLabel('New password').fill('forgot-1');
    await page.getByLabel('Repeat the password').fill('forgot-1');
    await page.keyboard.press('Enter');
    await dialog(page).getByRole('alert').waitFor();
    expect(await page.getByLabel('New password').inputValue()).toBe('');
    await page.getByLabel('New password').fill(fresh);
    await page.getByLabel('Repeat the password').fill(fresh);
    await page.keyboard.press('Enter');
    await status(page, 'forgot-1 has a new password.');
    expect(await daemon.login('forgot-1', fresh)).toBeTruthy();
    expect(await page.evaluate(() => JSON.stringify([{ ...sessionStorage }, { ...localStorage }]))).not.toContain(
      fresh,
    );
    await context.close();
  });

  it('keeps the person from disabling or demoting themselves, and asks for the current password', async () => {
    const { token } = await daemon.user('second-admin', 'ADMIN');
    const { page, context } = await openTab({ place: 'users', token });
    await row(page, 'second-admin you').waitFor();
    await actionsFor(page, 'second-admin').click();
    await menuItem(page, 'Edit').waitFor();
    expect(await menuItem(page, 'Disable').count()).toBe(0);
    await page.keyboard.press('Escape');
    await ask(page, 'second-admin', 'Edit');
    expect(await page.getByLabel('Role').isDisabled()).toBe(true);
    await page.keyboard.press('Escape');
    await ask(page, 'second-admin', 'Password');
    await page.getByLabel('Your current password').fill('wrong');
    await page.getByLabel('New password').fill(fresh);
    await page.getByLabel('Repeat the password').fill(fresh);
    await page.keyboard.press('Enter');
    await dialog(page).getByRole('alert').waitFor();
    await page.getByLabel('Your current password').fill(adminPassword);
    await page.getByLabel('New password').fill(fresh);
    await page.getByLabel('Repeat the password').fill(fresh);
    await page.keyboard.press('Enter');
    await page.getByText('Your session has ended.').waitFor();
    expect(await daemon.login('second-admin', fresh)).toBeTruthy();
    await context.close();
  });

  it('leads to the keys of a person who has lost one, and to what comes next, by keyboard alone', async () => {
    const { id, token } = await daemon.user('lost-1', 'DEALER');
    const browser = new KeyPage(daemon);
    const { passkeyId } = data(await browser.register(new SoftwareKey(), token, 'pocket'));
    const { page, context } = await openTab({ place: 'users' });
    await row(page, 'lost-1').getByText('registered').waitFor();
    await tabTo(page, page.getByRole('link', { name: 'lost-1' }));
    await page.keyboard.press('Enter');
    await page.getByText('The person signs in with another of these keys').waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await tabTo(page, page.getByLabel('Require a key at each sign-in of this account'));
    await page.keyboard.press('Space');
    await expect.poll(async () => (await keysOf(id)).requiredByUser).toBe(true);
    await tabTo(page, button(page, 'Remove the key pocket'));
    await page.keyboard.press('Enter');
    await armed(page);
    await tabTo(page, dialog(page).getByRole('button', { name: 'Remove' }));
    await page.keyboard.press('Enter');
    await page.getByText('This account has no security keys.').waitFor();
    await page.getByText('Set a new password above').waitFor();
    expect((await keysOf(id)).list).toEqual([]);
    expect(passkeyId).toMatch(/^PSK-/);
    await tabTo(page, actionsFor(page, 'lost-1'));
    await ask(page, 'lost-1', 'Log out');
    await tabTo(page, dialog(page).getByRole('button', { name: 'Log out' }));
    await page.keyboard.press('Enter');
    await status(page, 'lost-1 is logged out everywhere.');
    await tabTo(page, actionsFor(page, 'lost-1'));
    await ask(page, 'lost-1', 'Password');
    await page.keyboard.type(fresh);
    await page.keyboard.press('Tab');
    await page.keyboard.type(fresh);
    await page.keyboard.press('Enter');
    await status(page, 'lost-1 has a new password.');
    const login = () =>
      daemon.call('POST', '/api/auth/login', { username: 'lost-1', password: fresh }, { token: null });
    expect(await login()).toMatchObject({ code: 1004, data: { allowRegistration: true } });
    await tabTo(page, button(page, 'Allow for 24 hours'));
    await page.keyboard.press('Enter');
    await page.getByText('Allowed until').waitFor();
    expect(await violationsOn(page)).toEqual([]);
    expect(await login()).toMatchObject({ data: { mustRegisterKey: true } });
    await page.reload();
    await page.getByText('may be registered until').waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await page.goto(page.url().replace(id, 'USR-999'));
    await page.getByText('This record does not exist').waitFor();
    await context.close();
  });

  it.each(['DEALER', 'VIEWER'] as const)(
    'lets a %s change their own password in the account, by keyboard alone',
    async role => {
      const name = `own-${role.toLowerCase()}`;
      const { token } = await daemon.user(name, role);
      const { page, context } = await openTab({ place: 'account', token });
      await tabTo(page, button(page, 'Change password …'));
      await page.keyboard.press('Enter');
      await armed(page);
      expect(await violationsOn(page)).toEqual([]);
      for (const text of [adminPassword, fresh, fresh]) {
        await page.keyboard.type(text);
        await page.keyboard.press('Tab');
      }
      await tabTo(page, dialog(page).getByRole('button', { name: 'Password' }));
      await page.keyboard.press('Enter');
      await page.getByText('Your session has ended.').waitFor();
      expect(await daemon.login(name, fresh)).toBeTruthy();
      await context.close();
    },
  );

  it.each(['DEALER', 'VIEWER'] as const)('does not exist for a %s', async role => {
    const page = { place: 'users', link: 'Accounts', path: '/api/users/list' };
    expect(await withoutPage(tests, role, page)).toEqual({ links: 0, requests: [] });
  });

  it('speaks German', async () => {
    const { page, context } = await openTab({ place: 'users', locale: 'de-DE' });
    await page.getByRole('heading', { name: 'Konten' }).waitFor();
    await page.getByRole('button', { name: 'Konto anlegen …' }).waitFor();
    await context.close();
  });

  it('leads from an account that was given to a person to the person, and back', async () => {
    const { personId } = data(await daemon.call('POST', '/api/people', { userName: 'owner.person' }));
    const { id: accountId } = await daemon.user('owner.account', 'VIEWER');
    data(await daemon.call('POST', '/api/people/match', { matches: [{ accountId, personId }] }));
    const { page, context, complaints } = await openTab({ place: `users/${accountId}` });
    await page.getByRole('link', { name: personId }).click();
    await page.getByRole('heading', { name: 'owner.person' }).waitFor();
    await page.getByRole('link', { name: accountId, exact: true }).click();
    await page.getByRole('heading', { name: 'owner.account' }).waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });
});
