import type { Page } from 'playwright-core';
import { beforeEach, expect, it } from 'vitest';
import { second } from '../support/clock.ts';
import { adminPassword } from '../support/daemon.ts';
import { clockOfTests } from '../support/daemon-tests.ts';
import { needs } from '../support/needs.ts';
import { accountButton, armed, consoleTests, plugSecurityKey, signOut, violationsOn } from './browser.ts';

const minute = 60 * second;

needs('chromium')('security keys in the console', () => {
  const clock = clockOfTests();
  const { daemon, openTab } = consoleTests();
  let person = '';
  let count = 0;
  beforeEach(async () => {
    person = `person-${++count}`;
    await daemon.call('POST', '/api/users', { username: person, password: adminPassword, role: 'ADMIN' });
  });

  const open = async () => openTab({ token: null, host: 'localhost' });
  const signInWithPassword = async (page: Page) => {
    await page.getByLabel('User name').fill(person);
    await page.getByLabel('Password').fill(adminPassword);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  };
  const register = async (page: Page, name: string) => {
    await page.goto(`${new URL(page.url()).origin}/console/#/account`);
    await page.getByLabel('Name of the key').fill(name);
    await page.getByRole('button', { name: 'Register a key' }).click();
    await page.getByRole('cell', { name, exact: true }).waitFor();
  };
  const isSignedIn = (page: Page) => accountButton(page, person).waitFor();

  /** A tab of a person who has signed in with the password and registered a key. */
  const openWithKey = async () => {
    const tab = await open();
    const key = await plugSecurityKey(tab.page);
    await signInWithPassword(tab.page);
    await isSignedIn(tab.page);
    await register(tab.page, 'desk');
    return { ...tab, key };
  };

  const withKey = (page: Page) => page.getByRole('button', { name: 'Sign in with a security key' });

  it('leads to localhost, where a key works, instead of offering one at 127.0.0.1', async () => {
    const { page, context } = await openTab({ token: null });
    await page.getByLabel('User name').waitFor();
    expect(await withKey(page).count()).toBe(0);
    await page.getByRole('link', { name: 'Use a security key at localhost' }).click();
    await withKey(page).waitFor();
    expect(page.url()).toContain('://localhost:');
    await context.close();
  });

  it('register, and then sign in alone', async () => {
    const { page, context, complaints } = await open();
    const key = await plugSecurityKey(page);
    await signInWithPassword(page);
    await isSignedIn(page);
    await register(page, 'desk <b>');
    expect(await key.credentials()).toBe(1);
    await signOut(page, person);
    await page.getByRole('button', { name: 'Sign in with a security key' }).click();
    await isSignedIn(page);
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('are asked for after the password where the person wants that, and refuse without', async () => {
    const { page, context, key } = await openWithKey();
    await page.getByLabel('Require a key at each sign-in of this account').click();
    await expect.poll(() => page.getByLabel('Require a key at each sign-in of this account').isChecked()).toBe(true);
    await signOut(page, person);
    await signInWithPassword(page);
    await isSignedIn(page);
    await signOut(page, person);
    await key.unplug();
    await plugSecurityKey(page);
    await signInWithPassword(page);
    await page.getByRole('alert').filter({ hasText: 'No security key was used' }).waitFor();
    await context.close();
  });

  it('no longer sign in once they are removed, and a repeated answer never does', async () => {
    const { page, context } = await openWithKey();
    await signOut(page, person);
    const sent = page.waitForRequest(request => request.url().endsWith('/api/auth/webauthn/login'));
    await page.getByRole('button', { name: 'Sign in with a security key' }).click();
    await isSignedIn(page);
    const { origin } = new URL(page.url());
    const repeated = await fetch(`${origin}/api/auth/webauthn/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin },
      body: (await sent).postData(),
    });
    expect([repeated.status, await repeated.json()]).toEqual([401, expect.objectContaining({ code: 1004 })]);
    await page.goto(`${new URL(page.url()).origin}/console/#/account`);
    await page.getByRole('button', { name: 'Remove the key desk' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByText('You have no security keys yet.').waitFor();
    await signOut(page, person);
    await page.getByRole('button', { name: 'Sign in with a security key' }).click();
    await page.getByRole('alert').waitFor();
    await page.getByLabel('User name').waitFor();
    await context.close();
  });

  it('renew a sign-in that is older than ten minutes, as the password does; the change then continues', async () => {
    const { page, context } = await openWithKey();
    clock.forward(11 * minute);
    await page.getByLabel('Require a key at each sign-in of this account').click();
    const dialog = page.getByRole('dialog', { name: 'Sign in again' });
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('alert').waitFor();
    await page.getByLabel('Require a key at each sign-in of this account').click();
    await dialog.getByLabel('Password').fill('wrong');
    await armed(page);
    await page.keyboard.press('Enter');
    await dialog.getByText('The password is wrong.').waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await dialog.getByLabel('Password').fill(adminPassword);
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await expect.poll(() => page.getByLabel('Require a key at each sign-in of this account').isChecked()).toBe(true);
    clock.forward(11 * minute);
    await page.getByLabel('Require a key at each sign-in of this account').click();
    await dialog.getByRole('button', { name: 'Use a security key' }).click();
    await dialog.waitFor({ state: 'detached' });
    await expect.poll(() => page.getByLabel('Require a key at each sign-in of this account').isChecked()).toBe(false);
    await context.close();
  });

  it('are not needed for a change that waited when its session ended: the next person does not make it', async () => {
    const { page, context } = await openWithKey();
    const { id } = (await daemon.call('GET', '/api/users/list?limit=100')).data.list.find(
      (user: { username: string }) => user.username === person,
    );
    const changes: string[] = [];
    page.on('request', request => request.url().endsWith('/require-key') && changes.push(request.url()));
    clock.forward(11 * minute);
    await page.getByLabel('Require a key at each sign-in of this account').click();
    await page.getByRole('dialog', { name: 'Sign in again' }).waitFor();
    expect(changes).toHaveLength(1);
    await daemon.call('POST', `/api/users/${id}/logout`);
    await page.getByLabel('User name').waitFor();
    person = 'admin';
    await signInWithPassword(page);
    await isSignedIn(page);
    await page.getByRole('heading', { name: 'Security keys' }).waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
    expect(changes).toHaveLength(1);
    await context.close();
  });

  it('sign in a terminal that waits, once, after its code was typed', async () => {
    const asked = await daemon.call('POST', '/api/auth/terminal', { name: 'alice@line-3' }, { token: null });
    const { userCode, requestId, secret } = asked.data;
    const { page, context } = await openWithKey();
    await signOut(page, person);
    await page.goto(`${new URL(page.url()).origin}/console/#/terminal`);
    await page.getByRole('button', { name: 'Sign in with a security key' }).click();
    await page.getByLabel('Code shown by the terminal').fill(userCode.toLowerCase().replace('-', ' '));
    await page.keyboard.press('Enter');
    await page.getByText('alice@line-3').waitFor();
    expect(await violationsOn(page)).toEqual([]);
    const take = () => daemon.call('POST', '/api/auth/terminal/token', { requestId, secret }, { token: null });
    expect((await take()).data.state).toBe('PENDING');
    await page.getByRole('button', { name: 'This is my terminal: sign it in' }).click();
    await page.getByText('The terminal is signed in.').waitFor();
    expect((await take()).data.login.user.username).toBe(person);
    await page.reload();
    await page.getByLabel('Code shown by the terminal').fill(userCode);
    await page.keyboard.press('Enter');
    await page.getByText('No terminal is waiting for this code').waitFor();
    await context.close();
  });

  it('is required of a role only after a question, which Esc takes back', async () => {
    person = 'admin';
    const { page, context } = await open();
    await signInWithPassword(page);
    await page.goto(`${new URL(page.url()).origin}/console/#/policies`);
    const box = page.getByRole('checkbox', { name: 'Viewer' });
    const required = async () => (await daemon.call('GET', '/api/policies/sign-in')).data.requireKey;
    await box.click();
    await page.getByRole('dialog', { name: 'Require a security key for each Viewer?' }).waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect([await box.isChecked(), await required()]).toEqual([false, []]);
    await box.click();
    await page.getByRole('button', { name: 'Require keys' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await expect.poll(required).toEqual(['VIEWER']);
    await expect.poll(() => box.isChecked()).toBe(true);
    await box.click();
    await page.getByRole('button', { name: 'Allow passwords alone' }).click();
    await expect.poll(required).toEqual([]);
    await context.close();
  });

  it('must be registered first by a person who needs one and has none', async () => {
    await daemon.call('POST', '/api/users', { username: 'late', password: adminPassword, role: 'VIEWER' });
    await daemon.call('PUT', '/api/policies/sign-in', { requireKey: ['VIEWER'] });
    person = 'late';
    const { page, context } = await open();
    await plugSecurityKey(page);
    await signInWithPassword(page);
    await page.getByText('You must sign in with a security key').waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await page.getByLabel('Name of the key').fill('first');
    await page.getByRole('button', { name: 'Register a key' }).click();
    await page.getByText('The key is registered. Sign in again.').waitFor();
    await page.getByRole('button', { name: 'Sign in with a security key' }).click();
    await isSignedIn(page);
    await page
      .getByRole('heading', { name: 'Overview' })
      .or(page.getByRole('heading', { name: 'late' }))
      .first()
      .waitFor();
    await daemon.call('PUT', '/api/policies/sign-in', { requireKey: [] });
    await context.close();
  });
});
