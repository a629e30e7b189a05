/** What is set up at other systems, by the console alone: single sign-on, the directory and SCIM, each with a test of its steps. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { data } from '../support/fleet.ts';
import { findTool, needs } from '../support/needs.ts';
import { reading, type Slapd, startSlapd } from '../support/slapd.ts';
import { clientId, clientSecret, type SsoProvider, startSsoProvider } from '../support/sso-provider.ts';
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
} from './browser.ts';

/** The findings of axe in both themes, and the widths at which the dialog or the page is cut. */
async function faultsOf(page: Page): Promise<string[]> {
  const found: string[] = [];
  for (const width of [360, 1440]) {
    await page.setViewportSize({ width, height: 900 });
    const measured = await page.evaluate(
      `Math.max(document.documentElement.scrollWidth, (dialog => dialog ? innerWidth + dialog.scrollWidth - dialog.clientWidth : 0)(document.querySelector('dialog[open]')))`,
    );
    if (Number(measured) > width) found.push(`${width}: ${measured} pixels`);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      found.push(...(await violationsOn(page)));
    }
  }
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  return found;
}

const field = (page: Page, label: string) => dialog(page).getByLabel(label, { exact: true });

/** Types into fields that Tab reaches. */
async function enter(page: Page, entries: Readonly<Record<string, string>>): Promise<void> {
  for (const [label, value] of Object.entries(entries)) {
    await tabTo(page, field(page, label));
    await page.keyboard.press('Control+A');
    await page.keyboard.type(value);
  }
}

/** Chooses a type of provider in the dialog that adds one. */
async function begin(page: Page, type: string): Promise<void> {
  await button(page, 'Add provider …').press('Enter');
  await armed(page);
  await field(page, 'Type').getByRole('option', { name: type }).waitFor({ state: 'attached' });
  await tabTo(page, field(page, 'Type'));
  await page.keyboard.type(type);
}

/** The result of a step of the test that is shown. */
const step = (page: Page, name: string) =>
  dialog(page)
    .locator('dl > div')
    .filter({ has: page.getByText(name, { exact: true }) })
    .locator('.badge');

async function submit(page: Page, name: string): Promise<void> {
  await armed(page);
  await tabTo(page, dialog(page).getByRole('button', { name, exact: true }));
  await page.keyboard.press('Enter');
}

needs('chromium')('single sign-on', () => {
  const { daemon, openTab } = consoleTests();
  let provider: SsoProvider;
  beforeAll(async () => {
    provider = await startSsoProvider({ daemons: [daemon.url] });
  });
  afterAll(() => provider?.stop());
  const stored = async () => data(await daemon.call('GET', '/api/sso/settings'));

  it('is added by keyboard alone, tested step by step, changed and removed', async () => {
    const { page, context, complaints, requested } = await openTab({ place: 'providers' });
    await begin(page, 'OpenID Connect');
    await enter(page, { Name: 'staff', 'Issuer, https://…': 'http://elsewhere.example.com', 'Client id': clientId });
    expect(await field(page, 'Client secret').getAttribute('type')).toBe('password');
    await enter(page, {
      'Client secret': 'wrong',
      'Groups of administrators (optional)': 'keys-admins\nadmins',
      'Groups of dealers (optional)': 'keys-desk',
    });
    await submit(page, 'Add provider');
    // The daemon refuses the address: the field shows why, and nothing is lost.
    await dialog(page).getByText('Refused: must start with https://').waitFor();
    expect(await field(page, 'Issuer, https://…').getAttribute('aria-invalid')).toBe('true');
    expect(await faultsOf(page)).toEqual([]);
    await enter(page, { 'Issuer, https://…': provider.issuer });
    await tabTo(page, dialog(page).getByText('Further settings'));
    await page.keyboard.press('Enter');
    expect(await faultsOf(page)).toEqual([]);
    await enter(page, { 'acr of sign-ins with a security key (optional)': 'phr' });
    await submit(page, 'Add provider');
    await status(page, 'staff does not work: client secret');
    expect(await step(page, 'Discovery').textContent()).toBe('works');
    expect(await step(page, 'Client secret').textContent()).toBe('refused');
    expect(await field(page, 'Redirect address').inputValue()).toBe(`${daemon.url}/api/auth/sso/callback`);
    expect(await faultsOf(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await row(page, 'staff').getByText('fails').waitFor();
    expect(await stored()).toMatchObject({
      name: 'staff',
      issuer: provider.issuer,
      roles: { ADMIN: ['keys-admins', 'admins'], DEALER: ['keys-desk'], VIEWER: [] },
      holders: false,
      groupsClaim: 'groups',
      scopes: null,
      strong: { acr: ['phr'], amr: [] },
      localAccounts: { from: 'ANYWHERE', names: null },
    });

    // A second one is not offered. The secret is replaced and not shown; the other settings stay.
    await button(page, 'Add provider …').press('Enter');
    await armed(page);
    expect(await field(page, 'Type').getByRole('option').allTextContents()).not.toContain('OpenID Connect');
    await page.keyboard.press('Escape');
    await choose(page, 'staff', 'Change sign-in');
    await armed(page);
    expect(await field(page, 'Client secret (optional)').inputValue()).toBe('');
    expect(await field(page, 'Groups of administrators (optional)').inputValue()).toBe('keys-admins\nadmins');
    const before = await stored();
    await enter(page, { 'Client secret (optional)': clientSecret });
    await submit(page, 'Change the sign-in at staff');
    await status(page, 'staff accepts requests of this registry.');
    expect(await step(page, 'Client secret').textContent()).toBe('works');
    expect(await stored()).toEqual(before);
    await page.keyboard.press('Escape');
    await row(page, 'staff').getByText('works').waitFor();
    expect(requested.filter(url => url.includes(encodeURIComponent(clientSecret)))).toEqual([]);

    await choose(page, 'staff', 'Remove');
    await dialog(page).getByText('all sessions that began there end').waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await submit(page, 'Remove');
    await row(page, 'staff').waitFor({ state: 'detached' });
    expect((await stored()).enabled).toBe(false);
    expect(complaints.filter(text => !text.includes('400'))).toEqual([]);
    await context.close();
  });

  it('is removed alone from a provider that also sends persons; its token is shown once', async () => {
    const { page, context } = await openTab({ place: 'providers', viewport: { width: 1440, height: 900 } });
    await begin(page, 'SCIM');
    await enter(page, { Name: 'company', 'Accept the token only from these networks (optional)': 'here' });
    await submit(page, 'Add provider');
    await dialog(page)
      .getByText(/^Refused: /)
      .waitFor();
    await enter(page, { 'Accept the token only from these networks (optional)': '10.0.0.0/8' });
    await submit(page, 'Add provider');
    await field(page, 'Token').waitFor();
    expect(await field(page, 'Token').inputValue()).toMatch(/^devmgr_/);
    expect(await field(page, 'Address').inputValue()).toBe(`${daemon.url}/scim/v2`);
    expect(await faultsOf(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await button(page, 'Close without copying').press('Enter');
    const sso = { issuer: provider.issuer, clientId, clientSecret, name: 'company' };
    data(await daemon.call('PUT', '/api/sso', sso));
    await page.reload();
    await row(page, 'company').waitFor();
    await choose(page, 'company', 'Test');
    await status(page, 'Sign-in: company accepts requests of this registry.');
    await status(page, 'People: company does not work: Its token was never used.');
    expect(await faultsOf(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await choose(page, 'company', 'Remove');
    await armed(page);
    await dialog(page).getByLabel('People').uncheck();
    await submit(page, 'Remove');
    await expect.poll(async () => (await stored()).enabled).toBe(false);
    const { list } = data(await daemon.call('GET', '/api/tokens/list'));
    expect(list).toMatchObject([
      { name: 'company', role: 'VIEWER', may: ['scim'], revokedAt: null, allowedFrom: ['10.0.0.0/8'] },
    ]);
    await actionsFor(page, 'company').waitFor();
    await choose(page, 'company', 'Remove');
    await submit(page, 'Remove');
    await row(page, 'company').waitFor({ state: 'detached' });
    await context.close();
  });

  it('is set up and refused in German', async () => {
    const { page, context } = await openTab({ place: 'providers', locale: 'de-DE' });
    const sso = { issuer: provider.issuer, clientId, clientSecret: 'wrong', name: 'staff' };
    data(await daemon.call('PUT', '/api/sso', sso));
    await page.reload();
    await button(page, /staff/).press('Enter');
    await page.locator('.menu:focus').waitFor();
    await page.getByRole('menuitem', { name: 'Anmeldung ändern' }).click();
    await armed(page);
    await page.getByText('Weitere Einstellungen').click();
    expect(await faultsOf(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await button(page, /staff/).press('Enter');
    await page.getByRole('menuitem', { name: 'Test', exact: false }).first().click();
    await status(page, 'staff funktioniert nicht: ');
    expect(await step(page, 'Client-Geheimnis').textContent()).toBe('abgelehnt');
    expect(await faultsOf(page)).toEqual([]);
    data(await daemon.call('PUT', '/api/sso', { enabled: false }));
    await context.close();
  });
});

needs('chromium')('the recipients of PINs', () => {
  const { daemon, openTab } = consoleTests();

  it('are set by keyboard alone; a line that is none is refused at its field', async () => {
    const { page, context } = await openTab({ place: 'policies' });
    await page.getByText('No recipient: stations cannot create PINs.').waitFor();
    await tabTo(page, button(page, 'Change recipients …'));
    await page.keyboard.press('Enter');
    await armed(page);
    await enter(page, { 'Recipients, age1… (optional)': 'age1nobody' });
    await submit(page, 'Change recipients');
    await dialog(page)
      .getByText(/^Refused: /)
      .waitFor();
    expect(await faultsOf(page)).toEqual([]);
    const recipient = 'age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p';
    await enter(page, { 'Recipients, age1… (optional)': recipient });
    await submit(page, 'Change recipients');
    await dialog(page).waitFor({ state: 'detached' });
    await page.getByText(recipient).waitFor();
    expect(await faultsOf(page)).toEqual([]);
    expect(data(await daemon.call('GET', '/api/policies/pin'))).toEqual({ recipients: [recipient] });
    await context.close();
  });
});

needs(['slapd', 'openssl', ...(findTool('chromium-headless-shell') ? [] : ['chromium'])], 'slapd openssl chromium')(
  'the directory',
  () => {
    const { daemon, openTab } = consoleTests();
    let slapd: Slapd;
    beforeAll(async () => {
      slapd = await startSlapd(['ada', 'grace']);
    });
    afterAll(() => slapd?.stop());
    const stored = async () => data(await daemon.call('GET', '/api/directory'));

    it('is added by keyboard alone, tested step by step, changed and removed', async () => {
      const { page, context, complaints } = await openTab({ place: 'policies' });
      await tabTo(page, page.getByRole('link', { name: 'Add one under Providers' }));
      await page.keyboard.press('Enter');
      await begin(page, 'LDAP directory');
      const account = 'Account (DN) that reads the directory (optional)';
      await enter(page, {
        Name: 'company',
        'Address, ldaps://HOST': slapd.tlsUrl,
        'Base (DN) of the search for persons': reading.base,
        [account]: reading.bindDn,
        'Password of this account (optional)': 'wrong',
        'Groups to read (optional)': `staff=cn=all,${reading.base}`,
      });
      expect(await field(page, 'Password of this account (optional)').getAttribute('type')).toBe('password');
      await tabTo(page, dialog(page).getByText('Further settings'));
      await page.keyboard.press('Enter');
      await enter(page, { 'Filter for persons (optional)': '(uid=*', 'Minutes between two runs': '5' });
      expect(await faultsOf(page)).toEqual([]);
      await submit(page, 'Add provider');
      await dialog(page)
        .getByText(/^Refused: /)
        .waitFor();
      expect(await field(page, 'Filter for persons (optional)').getAttribute('aria-invalid')).toBe('true');
      await enter(page, { 'Filter for persons (optional)': '(uid=*)' });
      await submit(page, 'Add provider');
      await status(page, 'company does not work: connection: the directory ');
      expect(await step(page, 'Connection').textContent()).toBe('refused');
      await page.keyboard.press('Escape');
      await row(page, 'company').getByText('fails').waitFor();

      // With the certificate, then with the password.
      await choose(page, 'company', 'Change directory');
      await armed(page);
      expect(await field(page, 'Password of this account (optional)').inputValue()).toBe('');
      await field(page, 'Certificates of the server (PEM) (optional)').fill(slapd.ca);
      await submit(page, 'Change the directory company');
      await status(page, 'company does not work: connection: the directory refuses');
      await page.keyboard.press('Escape');
      await choose(page, 'company', 'Change directory');
      await armed(page);
      await enter(page, { 'Password of this account (optional)': reading.bindPassword });
      await submit(page, 'Change the directory company');
      await status(page, 'company accepts requests of this registry.');
      for (const name of ['Connection', 'Sign-in', 'Entries', 'Attributes'])
        expect(await step(page, name).textContent()).toBe('works');
      expect(await faultsOf(page)).toEqual([]);
      const { lastRun: _, ...settings } = await stored();
      expect(settings).toEqual({
        enabled: true,
        name: 'company',
        url: slapd.tlsUrl,
        base: reading.base,
        bindDn: reading.bindDn,
        ca: slapd.ca.trim(),
        groups: [{ name: 'staff', dn: `cn=all,${reading.base}` }],
        filter: '(uid=*)',
        everyMinutes: 5,
        fullEveryMinutes: 60,
        attributes: { userName: null, name: null, email: null, id: null, disabled: null, groups: null },
      });
      await tabTo(page, dialog(page).getByRole('link', { name: 'Preview what the first run would change' }));
      await page.keyboard.press('Enter');
      await button(page, 'Preview a run …').waitFor();

      await page.goBack();
      await choose(page, 'company', 'Remove');
      await submit(page, 'Remove');
      await row(page, 'company').waitFor({ state: 'detached' });
      expect((await stored()).enabled).toBe(false);
      expect(complaints.filter(text => !text.includes('400'))).toEqual([]);
      await context.close();
    });
  },
);
