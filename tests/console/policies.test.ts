import { beforeAll, expect, it } from 'vitest';
import { Page as KeyPage } from '../support/browser.ts';
import { data } from '../support/fleet.ts';
import { needs } from '../support/needs.ts';
import { SoftwareKey } from '../support/software-key.ts';
import { armed, button, consoleTests, dialog, tabTo, violationsOn, withoutPage } from './browser.ts';
import { fleet } from './fleet.ts';

const aaguid = '2fc0579f-8113-47ea-b116-bb5a8db9202a';

needs('chromium')('the page Policies of the console', () => {
  const tests = consoleTests();
  const { daemon, openTab } = tests;
  const stored = async () => data(await daemon.call('GET', '/api/policies/proof'));
  beforeAll(async () => {
    await fleet(daemon, 'POLICY', 3);
  });

  it('previews what a policy of proofs would refuse, and sets it, by keyboard alone', async () => {
    const { page, context, complaints } = await openTab({ place: 'policies' });
    await tabTo(page, button(page, 'Change …'));
    await page.keyboard.press('Enter');
    await armed(page);
    await tabTo(page, page.getByLabel('Minimum proof'));
    await page.keyboard.type('the model and');
    await page.keyboard.press('Tab');
    await page.keyboard.type('not an AAGUID');
    await page.getByText('This line is not valid: not an aaguid').waitFor();
    expect(await button(page, 'Preview').isDisabled()).toBe(true);
    await page.keyboard.press('Control+A');
    await page.keyboard.type(aaguid);
    await page.keyboard.press('Tab');
    await page.keyboard.type('YubiKey=5.7.0');
    await tabTo(page, button(page, 'Preview'));
    await page.keyboard.press('Enter');
    const counts = (name: string) =>
      dialog(page)
        .getByRole('row')
        .filter({ has: page.getByRole('rowheader', { name, exact: true }) })
        .getByRole('cell')
        .allTextContents();
    await dialog(page).getByRole('rowheader', { name: 'a weaker proof' }).waitFor();
    expect(await counts('a weaker proof')).toEqual(['3', '3']);
    expect(await counts('a model that is not allowed or not proved')).toEqual(['0', '0']);
    expect(await counts('either of them')).toEqual(['3', '3']);
    await page.getByText('Not counted: the minimum firmware.').waitFor();
    expect(await violationsOn(page)).toEqual([]);
    const link = dialog(page).getByRole('link').first();
    expect(await link.getAttribute('href')).toBe('#/devices?proof=none%2Cclaimed%2Cmodel%2Cfailed');
    await page.keyboard.press('Escape');
    expect(await page.getByLabel('Allowed models').inputValue()).toBe(aaguid);
    expect(await stored()).toMatchObject({ requiredGrade: 'none' });
    await armed(page);
    await tabTo(page, button(page, 'Preview'));
    await page.keyboard.press('Enter');
    await dialog(page).getByRole('rowheader', { name: 'a weaker proof' }).waitFor();
    await armed(page);
    await tabTo(page, button(page, 'Set policy'));
    await page.keyboard.press('Enter');
    await dialog(page).waitFor({ state: 'detached' });
    await page.getByText('The model and the serial number').waitFor();
    const policy = {
      requiredGrade: 'unit',
      allowedAaguids: [aaguid],
      leastFirmware: [{ model: 'YubiKey', version: '5.7.0' }],
      identity: 'where-needed',
    };
    expect(await stored()).toEqual(policy);
    await daemon.call('PUT', '/api/policies/proof', { requiredGrade: 'none', allowedAaguids: [], leastFirmware: [] });
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('counts devices without the allowed AAGUID, also those whose key claims it', async () => {
    const { page, context } = await openTab({ place: 'policies' });
    await button(page, 'Change …').click();
    await armed(page);
    await page.getByLabel('Allowed models').fill(aaguid);
    await button(page, 'Preview').click();
    const row = dialog(page).getByRole('row').filter({ hasText: 'a model that is not allowed or not proved' });
    await expect.poll(() => row.getByRole('cell').allTextContents()).toEqual(['3', '3']);
    await context.close();
  });

  it('names the users who would be without a key, by keyboard alone, and leads to them', async () => {
    const { token } = await daemon.user('with-key', 'DEALER');
    data(await new KeyPage(daemon).register(new SoftwareKey(), token));
    const { id } = await daemon.user('without-key', 'DEALER');
    const gone = await daemon.user('gone', 'DEALER');
    await daemon.call('PUT', `/api/users/${gone.id}`, { disabled: true });
    const { page, context } = await openTab({ place: 'policies' });
    await tabTo(page, page.getByRole('checkbox', { name: 'Dealer' }));
    await page.keyboard.press('Space');
    await dialog(page).getByText('2 enabled accounts with this role. 1 without a key:').waitFor();
    expect(await dialog(page).getByRole('listitem').allTextContents()).toEqual(['without-key']);
    expect(await violationsOn(page)).toEqual([]);
    await tabTo(page, dialog(page).getByRole('link', { name: 'without-key' }));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'without-key' }).waitFor();
    expect(page.url()).toContain(`#/users/${id}`);
    expect(await dialog(page).count()).toBe(0);
    expect(data(await daemon.call('GET', '/api/policies/sign-in'))).toEqual({ requireKey: [] });
    await context.close();
  });

  it('is not there for a DEALER', async () => {
    const place = { place: 'policies', link: 'Policies', path: '/api/policies' };
    expect(await withoutPage(tests, 'DEALER', place)).toEqual({ links: 0, requests: [] });
  });

  it('speaks German', async () => {
    const { page, context } = await openTab({ place: 'policies', locale: 'de-DE' });
    await page.getByRole('heading', { name: 'Was ein Schlüssel nachweisen muss' }).waitFor();
    await context.close();
  });
});
