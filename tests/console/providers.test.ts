import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { activation, data, register } from '../support/fleet.ts';
import { answerOf, startEntra } from '../support/issuing-providers.ts';
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
} from './browser.ts';

/** The findings of axe in both themes. */
async function violationsInBoth(page: Page): Promise<string[]> {
  const found = await violationsOn(page);
  await page.emulateMedia({ colorScheme: 'dark' });
  const dark = await violationsOn(page, { rules: ['color-contrast', 'link-in-text-block'] });
  await page.emulateMedia({ colorScheme: 'light' });
  return [...found, ...dark];
}

needs('chromium')('providers in the console', () => {
  const { daemon, openTab } = consoleTests({ webhookAllow: ['127.0.0.1'] });
  let made = 0;
  /** A provider, and a device whose key signs a person of its own in there. */
  async function issued() {
    const { state, settings } = await startEntra();
    const name = `entra-${++made}`;
    const person = `person-${made}`;
    const { providerId } = data(await daemon.call('POST', '/api/providers', { name, ...settings }));
    await daemon.call('POST', '/api/people', { userName: person });
    const device = await register(daemon);
    const { deviceId } = data(await daemon.call('POST', '/api/devices/activate', activation(device, person)));
    const credentials = `/api/devices/${deviceId}/credentials`;
    const begun = data(await daemon.call('POST', credentials, { providerId }));
    const answer = { response: answerOf(begun) };
    data(await daemon.call('POST', `${credentials}/${begun.credentialId}`, answer));
    return { state, name, person, providerId, deviceId, credentialId: begun.credentialId as string };
  }

  it('are added by keyboard alone, tested, given a new secret, and removed; a secret is not shown again', async () => {
    const { settings } = await startEntra();
    const { page, context, complaints } = await openTab({ place: 'providers' });
    await page.getByText('No provider has been added yet.').waitFor();
    await button(page, 'Add provider …').press('Enter');
    await armed(page);
    expect(await dialog(page).getByLabel('Client secret').getAttribute('type')).toBe('password');
    for (const [label, value] of [
      ['Name', 'company'],
      ['Tenant: id or domain', settings.tenant],
      ['Application (client) id', settings.clientId],
      ['Sign-in of a national cloud (optional)', settings.loginAddress],
      ['Microsoft Graph of a national cloud (optional)', settings.address],
      ['Client secret', 'wrong'],
    ] as const) {
      await tabTo(page, dialog(page).getByLabel(label, { exact: true }));
      await page.keyboard.type(value);
    }
    expect(await violationsInBoth(page)).toEqual([]);
    await armed(page);
    await page.keyboard.press('Enter');
    await row(page, 'company').getByText('not tested').waitFor();
    await choose(page, 'company', 'Test');
    await status(page, 'company does not work: ');
    await page.keyboard.press('Escape');
    await row(page, 'company').getByText('Invalid client secret provided').first().waitFor();
    await choose(page, 'company', 'Replace secret');
    await armed(page);
    const secret = dialog(page).getByLabel('Client secret', { exact: true });
    expect(await secret.getAttribute('type')).toBe('password');
    await secret.fill(settings.secret);
    expect(await violationsInBoth(page)).toEqual([]);
    await secret.press('Enter');
    await status(page, 'The secret of company was replaced.');
    await choose(page, 'company', 'Test');
    await status(page, 'company accepts requests of this registry.');
    await page.keyboard.press('Escape');
    await row(page, 'company').getByText('works').waitFor();
    await row(page, 'company').getByRole('link').press('Enter');
    await page.getByRole('heading', { name: 'company' }).waitFor();
    const line = (words: string) => page.locator('.events li').filter({ hasText: words });
    await line('Keys: last check').getByText('works', { exact: true }).waitFor();
    await line('secret of the provider replaced').waitFor();
    await line('provider added').waitFor();
    expect(await violationsInBoth(page)).toEqual([]);
    await button(page, 'Test …').waitFor();
    await choose(page, 'company', 'Remove');
    await armed(page);
    await tabTo(page, dialog(page).getByRole('button', { name: 'Remove' }));
    await page.keyboard.press('Enter');
    await page.getByText('This record does not exist').waitFor();
    expect(data(await daemon.call('GET', '/api/providers/list')).list).toEqual([]);
    expect(complaints).toEqual([]);
    await context.close();
  });

  it.each([
    ['en-US', 'works', 'not tested', 'Its token was never used.', ['Sign-in', 'People', 'Keys']],
    [
      'de-DE',
      'in Ordnung',
      'nicht geprüft',
      'Sein Token wurde noch nie benutzt.',
      ['Anmeldung', 'Personen', 'Schlüssel'],
    ],
  ])(
    'have a column with the state of sign-in, people and keys, and one row for a name: %s',
    async (locale, ok, untested, unused, heads) => {
      const { name } = await issued();
      data(await daemon.call('POST', '/api/tokens', { name, role: 'VIEWER', may: ['scim'], expiresInDays: 90 }));
      const sso = { issuer: 'http://127.0.0.1:9', clientId: 'x', name: 'staff', clientSecret: 'y' };
      data(await daemon.call('PUT', '/api/sso', sso));
      const { page, context, complaints } = await openTab({ place: 'providers', locale });
      await row(page, name).getByText(unused).waitFor();
      const cells = (of: string, head: string) => row(page, of).locator(`td[data-head="${head}"]`).textContent();
      const shown = async (of: string) => [
        await cells(of, heads[0]!),
        await cells(of, heads[1]!),
        await cells(of, heads[2]!),
      ];
      const fails = locale === 'en-US' ? 'fails' : 'schlägt fehl';
      expect(await shown(name)).toEqual(['', fails, ok]);
      expect(await shown('staff')).toEqual([untested, '', '']);
      expect(await violationsInBoth(page)).toEqual([]);
      if (locale === 'en-US') {
        await choose(page, 'staff', 'Test');
        await status(page, 'staff does not work: discovery');
        await page.keyboard.press('Escape');
        await choose(page, name, 'Test');
        await status(page, `Keys: ${name} accepts requests of this registry.`);
        await page.keyboard.press('Escape');
      }
      expect(complaints).toEqual([]);
      data(await daemon.call('PUT', '/api/sso', { enabled: false }));
      await context.close();
    },
  );

  it('show a DEALER the credentials of a device, and remove one after a question', async () => {
    const { state, name, person, deviceId, credentialId } = await issued();
    const { token } = await daemon.user('carla', 'DEALER');
    const { page, context, complaints } = await openTab({ place: `devices/${deviceId}`, token });
    await page
      .locator('.events li')
      .filter({ hasText: `issued at${name}` })
      .waitFor();
    expect(await page.getByRole('link', { name: 'Providers' }).count()).toBe(0);
    await page.getByText('Sign-in at providers', { exact: true }).click();
    const shown = row(page, credentialId);
    await shown.getByText('valid').waitFor();
    expect(await shown.textContent()).toContain(name);
    expect(await shown.textContent()).toContain(person);
    await button(page, `Remove ${credentialId}`).press('Enter');
    await armed(page);
    expect(state.accepted).toHaveLength(1);
    expect(await violationsInBoth(page)).toEqual([]);
    await dialog(page).getByRole('button', { name: 'Remove', exact: true }).press('Enter');
    await shown.getByText('removed').waitFor();
    expect(state.accepted).toEqual([]);
    expect(await button(page, `Remove ${credentialId}`).count()).toBe(0);
    expect(await violationsInBoth(page)).toEqual([]);
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('are compared with the registry, and repaired after a look at what would change', async () => {
    const { state, name, person } = await issued();
    const strange = (remoteId: string, its: string) =>
      state.accepted.push({ remoteId, credentialId: remoteId, person, label: its });
    strange('left-behind', state.accepted[0]!.label.replace(/.{10}$/, '0123456789'));
    strange('own-passkey', 'my phone');
    const { page, context, complaints } = await openTab({ place: 'providers' });
    await choose(page, name, 'Compare');
    const line = (id: string) => dialog(page).getByRole('row').filter({ hasText: id });
    await line('own-passkey').getByText('stays').waitFor();
    await line('left-behind').getByText('removed there').waitFor();
    await dialog(page).getByText('Fix changes 1 credential.').waitFor();
    expect(state.accepted).toHaveLength(3);
    expect(await violationsInBoth(page)).toEqual([]);
    await armed(page);
    await tabTo(page, button(page, 'Fix'));
    await page.keyboard.press('Enter');
    await status(page, `1 credential fixed at ${name}.`);
    expect(state.accepted.map(({ remoteId }) => remoteId)).not.toContain('left-behind');
    expect(state.accepted).toHaveLength(2);
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('that still accept a lost key need attention until they have removed it', async () => {
    const { state, name, deviceId, credentialId } = await issued();
    state.trouble('list', ...Array<'away'>(1000).fill('away'));
    state.trouble('remove', ...Array<'away'>(1000).fill('away'));
    data(await daemon.call('POST', `/api/devices/${deviceId}/lock`, { reason: 'lost' }));
    const { page, context, show } = await openTab();
    const waiting = page.getByRole('link', { name: '1 credential still accepted by providers' });
    await waiting.waitFor();
    await show('health');
    await page.getByRole('listitem').filter({ hasText: '1 credential is still to be removed.' }).waitFor();
    await show('');
    await waiting.click();
    await actionsFor(page, name).waitFor();
    await page.getByRole('link', { name, exact: true }).waitFor();
    await row(page, name).getByText('fails', { exact: true }).waitFor();
    expect(await violationsInBoth(page)).toEqual([]);
    await show(`devices/${deviceId}`);
    await page.getByText('Sign-in at providers', { exact: true }).click();
    await row(page, credentialId).getByText('still to be removed').waitFor();
    expect(await violationsInBoth(page)).toEqual([]);
    state.trouble('list');
    state.trouble('remove');
    await row(page, credentialId).getByText('still to be removed').waitFor({ state: 'detached' });
    await row(page, credentialId).getByText('removed').waitFor();
    await show('');
    await page
      .getByRole('link', { name: /devices$/ })
      .first()
      .waitFor();
    expect(await waiting.count()).toBe(0);
    await show(`devices/${deviceId}`);
    await page.getByText('Sign-in at providers', { exact: true }).click();
    await row(page, credentialId).getByRole('link', { name, exact: true }).click();
    await page.getByRole('heading', { name }).waitFor();
    await context.close();
  });
});
