/** Links that offer a session: the person decides before the tab has it. */
import type { Page, Route } from 'playwright-core';
import { expect, it } from 'vitest';
import { needs } from '../support/needs.ts';
import { newCode } from '../support/sign-in-codes.ts';
import { accountButton, type ConsoleTab, consoleTests, violationsOn } from './browser.ts';

needs('chromium')('a link with a code', () => {
  const { daemon, openTab } = consoleTests();

  /** A person with an account, and the address of a link of that account. */
  async function account(name: string, role: 'ADMIN' | 'VIEWER' = 'VIEWER') {
    const { token } = await daemon.user(name, role);
    return { token, link: async () => `${daemon.url}/console/#code=${await newCode(daemon, 'SESSION', token)}` };
  }
  const host = () => new URL(daemon.url).host;
  const question = (page: Page, name: string) =>
    page.getByRole('dialog', { name: `Continue as ${name} on ${host()}?` });
  const signedInAs = (page: Page, name: string) => accountButton(page, name).waitFor();
  const storedUser = (page: Page) =>
    page.evaluate(() => JSON.parse(sessionStorage.getItem('devmgr.session') ?? 'null')?.user.username ?? null);
  /** Loads a link as another page does: not by a change of the fragment. */
  async function load({ page }: ConsoleTab, link: string) {
    await page.goto('about:blank');
    await page.goto(link);
  }

  it('asks with the name of its account and the host, and one press of Enter continues', async () => {
    const { link } = await account('olga');
    const tab = await openTab({ token: null });
    await load(tab, await link());
    await question(tab.page, 'olga').waitFor();
    expect(await storedUser(tab.page)).toBeNull();
    await tab.page.locator('button.main:focus').waitFor();
    await tab.page.keyboard.press('Enter');
    await signedInAs(tab.page, 'olga');
    expect(await storedUser(tab.page)).toBe('olga');
    expect(tab.complaints).toEqual([]);
    await tab.context.close();
  });

  it('gives nothing to a tab whose person refuses', async () => {
    const { link } = await account('mallory');
    const tab = await openTab({ token: null });
    const authorized: string[] = [];
    tab.page.on('request', request => {
      if (request.headers().authorization) authorized.push(request.url());
    });
    await load(tab, await link());
    await question(tab.page, 'mallory').waitFor();
    await tab.page.keyboard.press('Escape');
    await tab.page.getByLabel('User name').waitFor();
    await tab.page.reload();
    await tab.page.getByLabel('User name').waitFor();
    expect([await storedUser(tab.page), authorized]).toEqual([null, []]);
    await tab.context.close();
  });

  it('does not end the session of another person unless that person agrees', async () => {
    const { link } = await account('trudy');
    const tab = await openTab();
    await signedInAs(tab.page, 'admin');
    await load(tab, await link());
    await question(tab.page, 'trudy').getByText('This tab is signed in as admin.').waitFor();
    expect(await storedUser(tab.page)).toBe('admin');
    await tab.page.getByRole('button', { name: 'Stay signed in as admin' }).click();
    await signedInAs(tab.page, 'admin');
    await tab.page.reload();
    await signedInAs(tab.page, 'admin');
    await load(tab, await link());
    await question(tab.page, 'trudy').getByRole('button', { name: 'Continue as trudy' }).click();
    await signedInAs(tab.page, 'trudy');
    expect(await tab.page.getByRole('link', { name: 'Accounts' }).count()).toBe(0);
    await tab.context.close();
  });

  it('asks in a page that is open, too, and its code leaves the address and the history', async () => {
    const { link } = await account('victor');
    const { page, context } = await openTab({ place: 'devices' });
    await page.getByRole('heading', { name: 'Devices' }).waitFor();
    const address = await link();
    // Only the fragment differs, so the page is not loaded again.
    await page.goto(address);
    await question(page, 'victor').waitFor();
    expect(new URL(page.url()).hash).toBe('#/');
    await page.evaluate(() => Reflect.set(globalThis, 'ofTheFirstPerson', true));
    await page.getByRole('button', { name: 'Continue as victor' }).click();
    await signedInAs(page, 'victor');
    expect(await page.evaluate(() => Reflect.has(globalThis, 'ofTheFirstPerson'))).toBe(false);
    await page.goBack();
    expect(page.url()).not.toContain('code=');
    await context.close();
  });

  it('ends an upload of the other person, and no dialog of the browser can keep that person', async () => {
    const { link } = await account('ursula');
    const { page, context } = await openTab({ place: 'packages' });
    const dialogs: string[] = [];
    page.on('dialog', async dialog => {
      dialogs.push(dialog.type());
      await dialog.dismiss();
    });
    // The upload gets no response.
    await page.route('**/api/app-versions/upload', () => {});
    const exchange = Promise.withResolvers<Route>();
    await page.route('**/api/auth/exchange', route => exchange.resolve(route));
    await page.goto(`${await link()}&page=packages`);
    const asked = await exchange.promise;
    await page.getByRole('button', { name: 'Upload package …' }).click();
    const file = { name: 'held.deb', mimeType: 'application/octet-stream', buffer: Buffer.from('held') };
    await page.getByLabel('Package', { exact: true }).setInputFiles(file);
    await page.getByLabel('Version number').fill('1.0.0');
    await page.getByRole('button', { name: 'Upload package', exact: true }).click();
    await page.getByRole('progressbar').waitFor();
    await asked.continue();
    await page.getByRole('button', { name: 'Continue as ursula' }).click();
    await signedInAs(page, 'ursula');
    expect([dialogs, await storedUser(page)]).toEqual([[], 'ursula']);
    await context.close();
  });

  it('counts instead of one that came before, also if the answer for that one is slower', async () => {
    const [before, after] = [await account('oscar'), await account('penny')];
    const { page, context } = await openTab({ place: 'devices' });
    await signedInAs(page, 'admin');
    const first = Promise.withResolvers<Route>();
    await page.route('**/api/auth/exchange', route => first.resolve(route), { times: 1 });
    await page.goto(await before.link());
    const held = await first.promise;
    await page.goto(await after.link());
    await question(page, 'penny').waitFor();
    const answered = page.waitForResponse('**/api/auth/exchange');
    await held.continue();
    await (await answered).finished();
    await page.getByRole('button', { name: 'Continue as penny' }).click();
    await signedInAs(page, 'penny');
    await context.close();
  });

  it('of the account that the tab has withdraws an earlier question', async () => {
    const [own, other] = [await account('quentin'), await account('rosa')];
    const { page, context } = await openTab({ token: own.token });
    await signedInAs(page, 'quentin');
    await page.goto(await other.link());
    await question(page, 'rosa').waitFor();
    await page.goto(await own.link());
    await question(page, 'rosa').waitFor({ state: 'detached' });
    expect(await storedUser(page)).toBe('quentin');
    await context.close();
  });

  it('that the daemon does not answer is not called used or old', async () => {
    const { link } = await account('silvia');
    const { page, context } = await openTab({ token: null });
    const address = await link();
    await page.goto('about:blank');
    await page.route('**/api/auth/exchange', route => route.abort());
    await page.goto(address);
    const notice = page.getByRole('dialog', { name: 'This link is not valid' });
    await notice.getByText('The daemon does not respond.').waitFor();
    expect(await page.getByText('already used').count()).toBe(0);
    await notice.getByRole('button', { name: 'Close' }).click();
    await page.getByLabel('User name').waitFor();
    await context.close();
  });

  it('that was used before leaves the session of the tab as it is', async () => {
    const { link, token } = await account('walter');
    const tab = await openTab({ token });
    const used = await link();
    // A link of the account that is signed in needs no question.
    await load(tab, used);
    await signedInAs(tab.page, 'walter');
    expect(await tab.page.getByRole('dialog').count()).toBe(0);
    await load(tab, used);
    await tab.page.getByRole('dialog', { name: 'This link is not valid' }).waitFor();
    await tab.page.getByRole('button', { name: 'Close' }).click();
    await signedInAs(tab.page, 'walter');
    expect(await storedUser(tab.page)).toBe('walter');
    await tab.context.close();
  });

  it('takes no answer in the first second, nor in the one after the window was left', async () => {
    const { link } = await account('peggy');
    const { page, context } = await openTab({ token: null });
    const address = await link();
    await page.clock.install();
    await page.goto('about:blank');
    await page.goto(address);
    const accept = page.getByRole('button', { name: 'Continue as peggy' });
    await page.locator('button.main:focus').waitFor();
    await page.clock.pauseAt(Date.now() + 60_000);
    await page.evaluate(() => (globalThis as unknown as EventTarget).dispatchEvent(new Event('focus')));
    await page.locator('button.main[aria-disabled]').waitFor();
    await page.clock.runFor(999);
    expect(await accept.isDisabled()).toBe(true);
    await page.clock.runFor(1);
    await page.locator('button.main:not([aria-disabled])').waitFor();
    await context.close();
  });

  it('takes no answer from a key that was pressed in the page before', async () => {
    const { link } = await account('rupert');
    const { page, context } = await openTab({ token: null });
    const address = await link();
    await page.goto('about:blank');
    await page.keyboard.down('Enter');
    await page.goto(address);
    await page.locator('button.main:focus').waitFor();
    // The browser repeats a key that is held.
    await page.keyboard.down('Enter');
    expect(await storedUser(page)).toBeNull();
    await page.keyboard.up('Enter');
    await page.keyboard.press('Enter');
    await signedInAs(page, 'rupert');
    await context.close();
  });

  it.each(['light', 'dark'] as const)('asks accessibly in %s colors, and in German', async colorScheme => {
    const { link } = await account(`hedwig-${colorScheme}`);
    const tab = await openTab({ token: null, colorScheme, locale: 'de-DE' });
    await load(tab, await link());
    await tab.page.getByRole('dialog', { name: `Auf ${host()} als hedwig-${colorScheme} fortfahren?` }).waitFor();
    await tab.page.locator('button.main:focus').waitFor();
    expect(await violationsOn(tab.page)).toEqual([]);
    await tab.context.close();
  });
});
