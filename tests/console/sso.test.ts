/** The console's sign-in at a provider, in a real browser with a real provider. */
import { createServer } from 'node:http';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { second } from '../support/clock.ts';
import { clockOfTests } from '../support/daemon-tests.ts';
import { register } from '../support/fleet.ts';
import { listening } from '../support/http-servers.ts';
import { needs } from '../support/needs.ts';
import { type SsoProvider, setUp, startSsoProvider } from '../support/sso-provider.ts';
import { accountButton, armed, choose, consoleTests, violationsOn } from './browser.ts';

needs('chromium')('single sign-on in the console', () => {
  const clock = clockOfTests();
  const { daemon, openTab } = consoleTests();
  let provider: SsoProvider;
  beforeAll(async () => {
    provider = await startSsoProvider({ daemons: [daemon.url] });
    provider.people.set('s-ana', { name: 'ana', groups: ['keys-admins'] });
    provider.people.set('s-eve', { name: 'eve', groups: ['staff'] });
    await setUp(daemon, provider, { name: 'Example' });
  });
  afterAll(() => provider?.stop());

  const atProvider = async (page: Page, sub: string) => {
    await page.locator('input[name=login]').fill(sub);
    await page.locator('input[name=password]').fill('any');
    await page.getByRole('button', { name: 'Sign-in' }).click();
  };
  const signInAs = async (page: Page, sub: string) => {
    await page.getByRole('button', { name: 'Sign in with Example' }).click();
    await atProvider(page, sub);
  };
  const isSignedIn = (page: Page) => accountButton(page, 'ana').waitFor();

  it('leads to the provider and back to the place, without a question and without a code in the address', async () => {
    const { page, context, complaints } = await openTab({ token: null, place: 'devices?status=LOCKED' });
    await signInAs(page, 's-ana');
    await isSignedIn(page);
    expect(page.url()).toBe(`${daemon.url}/console/#/devices?status=LOCKED`);
    // The page of the provider asks for a font elsewhere.
    expect(complaints.filter(text => !text.includes('ERR_NAME_NOT_RESOLVED'))).toEqual([]);
    await context.close();
  });

  it('shows why no one is signed in', async () => {
    const { page, context } = await openTab({ token: null });
    await signInAs(page, 's-eve');
    await page.getByRole('alert').filter({ hasText: 'None of your groups' }).waitFor();
    await context.close();
  });

  it('asks before it takes a code that this tab has not asked for', async () => {
    const { page, context } = await openTab({ token: null });
    const { data } = await daemon.call('POST', '/api/auth/codes', { purpose: 'SESSION' });
    await page.goto(`${daemon.url}/console/#code=${data.code}&sso=AAAA`);
    await page.getByRole('button', { name: 'Continue as admin' }).waitFor();
    await context.close();
  });

  it.each(['en-US', 'de-DE'])('leads to a terminal only by a press that is meant for it: %s', async locale => {
    const led: string[] = [];
    const { url } = await listening(
      createServer((request, response) => {
        led.push(request.url ?? '');
        response.end('led');
      }),
    );
    const loopbackPort = Number(new URL(url).port);
    const body = { loopbackPort, name: 'mallory@elsewhere' };
    const started = (await daemon.call('POST', '/api/auth/sso/start', body, { token: null })).data;
    const { page, context } = await openTab({ token: null, locale, viewport: { width: 360, height: 740 } });
    await page.goto(started.url);
    await atProvider(page, 's-ana');
    const button = page.locator('main button.main');
    const ready = button.and(page.locator(':not([aria-disabled])'));
    await button.waitFor();
    for (const text of ['ana (ADMIN)', started.userCode, 'mallory@elsewhere', '127.0.0.1'])
      await page.getByText(text, { exact: true }).waitFor();
    expect(page.url()).toBe(`${daemon.url}/console/#/`);
    expect(await violationsOn(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
    // The page is in front and was read; a script and a press that began beside the button still lead nowhere.
    await ready.waitFor();
    await button.evaluate(element => (element as unknown as { click(): void }).click());
    await page.evaluate(() => (globalThis as unknown as EventTarget).dispatchEvent(new Event('blur')));
    await page.locator('button[aria-disabled]').waitFor();
    await button.click({ force: true });
    await page.evaluate(() => (globalThis as unknown as EventTarget).dispatchEvent(new Event('focus')));
    expect(led).toEqual([]);
    await ready.waitFor();
    await button.click();
    await page.getByText('led').waitFor();
    expect(led[0]).toMatch(/^\/\?code=[\w-]{43}&state=/);
    // The code of the page is used up.
    await page.goBack();
    await page.getByRole('heading', { name: 'devmgr' }).waitFor();
    await context.close();
  });

  it('retires a device without a password, which an administrator of the provider does not have', async () => {
    const { deviceId } = await register(daemon);
    const { page, context } = await openTab({ token: null, place: `devices/${deviceId}` });
    await signInAs(page, 's-ana');
    await choose(page, deviceId, 'Retire …');
    await armed(page);
    const dialog = page.getByRole('dialog', { name: `Retire: ${deviceId}` });
    await dialog.getByText('your sign-in at the provider confirms').waitFor();
    expect(await dialog.locator('input[type=password]').count()).toBe(0);
    await dialog.getByLabel('Reason').fill('worn out');
    await dialog.getByLabel(deviceId).fill(deviceId);
    await dialog.getByRole('button', { name: 'Retire' }).click();
    await page.getByText('retired', { exact: true }).first().waitFor();
    await context.close();
  });

  it('signs in again at the provider for a change that needs a recent sign-in', async () => {
    const { page, context } = await openTab({ token: null });
    await signInAs(page, 's-ana');
    await isSignedIn(page);
    clock.forward(11 * 60 * second);
    const call = () =>
      page.evaluate(async () => {
        const { token } = JSON.parse(sessionStorage.getItem('devmgr.session')!) as { token: string };
        const init = {
          method: 'PUT',
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          body: '{}',
        };
        return ((await (await fetch('/api/sso', init)).json()) as { code: number }).code;
      });
    expect(await call()).toBe(2007);
    await page.goto(`${daemon.url}/console/#/webhooks`);
    await page.getByRole('button', { name: 'Create webhook …' }).click();
    await armed(page);
    await page.keyboard.type('https://hooks.example.com/');
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Sign in again' });
    await armed(page);
    expect(await dialog.locator('input[type=password]').count()).toBe(0);
    await dialog.getByRole('button', { name: 'Sign in with Example' }).click();
    await atProvider(page, 's-ana');
    await isSignedIn(page);
    expect(page.url()).toBe(`${daemon.url}/console/#/webhooks`);
    // Its fields are missing, not the sign-in.
    expect(await call()).toBe(1001);
    await context.close();
  });

  it('shows no button, and is there at once, if single sign-on is off', async () => {
    await daemon.call('PUT', '/api/sso', { enabled: false });
    const { page, context, requested } = await openTab({ token: null });
    await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor();
    await expect.poll(() => requested.some(url => url.endsWith('/api/sso'))).toBe(true);
    expect(await page.getByRole('button', { name: /^Sign in with Example/ }).count()).toBe(0);
    await context.close();
  });
});
