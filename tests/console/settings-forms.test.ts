/** Settings are stored as a whole: a form changes nothing that its person did not change. */
import { expect, it } from 'vitest';
import { data } from '../support/fleet.ts';
import { needs } from '../support/needs.ts';
import { armed, button, choose, consoleTests, dialog, tabTo, violationsOn } from './browser.ts';

const CHANGED = 'These settings were changed';

needs('chromium')('a form of settings', () => {
  const { daemon, openTab } = consoleTests();

  it('does not give a group its role back that someone else has taken since it was opened', async () => {
    const sso = { issuer: 'http://127.0.0.1:9', clientId: 'x', clientSecret: 'y', name: 'staff', holders: true };
    const set = async (more: object) => data(await daemon.call('PUT', '/api/sso', { ...sso, ...more }));
    const stored = async () => data(await daemon.call('GET', '/api/sso/settings'));
    await set({ roles: { ADMIN: ['admins', 'left'], DEALER: [], VIEWER: [] } });
    const { page, context } = await openTab({ place: 'providers' });
    const dealers = dialog(page).getByLabel('Groups of dealers (optional)');
    const change = async () => {
      await choose(page, 'staff', 'Change sign-in');
      await armed(page);
      await dealers.fill('desk');
    };
    const submit = () => dialog(page).getByRole('button', { name: 'Change the sign-in at staff' }).press('Enter');
    await change();
    const after = await set({ roles: { ADMIN: ['admins'], DEALER: [], VIEWER: [] } });
    await submit();
    await dialog(page).getByText(CHANGED).waitFor();
    expect(await violationsOn(page)).toEqual([]);
    expect(await stored()).toEqual(after);
    await page.reload();
    await change();
    await submit();
    await expect.poll(stored).toEqual({ ...after, roles: { ...after.roles, DEALER: ['desk'] } });
    await context.close();
  });

  it('keeps groups of a directory whose names have characters of a DN', async () => {
    const groups = [{ name: 'a=b', dn: 'cn=x,dc=example' }];
    const set = { name: 'company', url: 'ldaps://127.0.0.1:9', base: 'dc=example', groups };
    const { lastRun: _, ...before } = data(await daemon.call('PUT', '/api/directory', set));
    const { page, context } = await openTab({ place: 'providers' });
    await choose(page, 'company', 'Change directory');
    await armed(page);
    await dialog(page).getByLabel('Base (DN) of the search for persons').fill('dc=other');
    await dialog(page).getByRole('button', { name: 'Change the directory company' }).press('Enter');
    const stored = async () => data(await daemon.call('GET', '/api/directory'));
    await expect.poll(stored).toMatchObject({ ...before, base: 'dc=other' });
    await context.close();
  });

  it('does not bring a recipient of PINs back that someone else has removed since it was opened', async () => {
    const recipient = 'age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p';
    const set = async (...recipients: string[]) => data(await daemon.call('PUT', '/api/policies/pin', { recipients }));
    await set(recipient);
    const { page, context } = await openTab({ place: 'policies' });
    await button(page, 'Change recipients …').press('Enter');
    await armed(page);
    await set();
    await dialog(page).getByRole('button', { name: 'Change recipients' }).press('Enter');
    await dialog(page).getByText(CHANGED).waitFor();
    expect(data(await daemon.call('GET', '/api/policies/pin'))).toEqual({ recipients: [] });
    await context.close();
  });

  it('changes one rule for persons by keyboard alone, and leaves the others as they were', async () => {
    const path = '/api/policies/people';
    const { page, context, complaints } = await openTab({ place: 'policies' });
    const fact = (name: string) => page.locator('dl > div').filter({ has: page.getByText(name, { exact: true }) });
    await fact('Days until the arrival of a sent key is overdue; empty: never').getByText('14').waitFor();
    await tabTo(page, 'Change rules for persons …');
    await page.keyboard.press('Enter');
    await armed(page);
    expect(await violationsOn(page)).toEqual([]);
    await tabTo(page, dialog(page).getByLabel('Hours until then; 0: at once'));
    await page.keyboard.press('Control+A');
    await page.keyboard.type('24');
    await page.keyboard.press('Enter');
    await dialog(page).waitFor({ state: 'detached' });
    await fact('Hours until then; 0: at once').getByText('24').waitFor();
    const rules = { personsRequired: false, leavers: 'lock', arrivalDays: 14, retentionDays: null, copiesDays: null };
    expect(data(await daemon.call('GET', path))).toEqual({ ...rules, leaverDelayHours: 24 });
    data(await daemon.call('PUT', path, { ...rules, leaverDelayHours: 0 }));
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('does not take the requirement of a key from a role that someone else has given it since the page was opened', async () => {
    const path = '/api/policies/sign-in';
    const { page, context } = await openTab({ place: 'policies' });
    await page.getByRole('checkbox', { name: 'Viewer' }).press('Space');
    await armed(page);
    const requireKey = async (...of: string[]) => data(await daemon.call('PUT', path, { requireKey: of }));
    await requireKey('DEALER');
    await dialog(page).getByRole('button', { name: 'Require keys' }).press('Enter');
    await dialog(page).getByText(CHANGED).waitFor();
    expect(data(await daemon.call('GET', path))).toEqual({ requireKey: ['DEALER'] });
    await page.reload();
    await page.getByRole('checkbox', { name: 'Viewer' }).press('Space');
    await armed(page);
    await dialog(page).getByRole('button', { name: 'Require keys' }).press('Enter');
    await expect
      .poll(async () => data(await daemon.call('GET', path)))
      .toEqual({ requireKey: expect.arrayContaining(['DEALER', 'VIEWER']) });
    await requireKey();
    await context.close();
  });

  it('does not lower what a key must prove if someone else has raised it since the page was opened', async () => {
    const path = '/api/policies/proof';
    const { page, context } = await openTab({ place: 'policies' });
    await button(page, 'Change …').press('Enter');
    await armed(page);
    await page.getByLabel('Minimum firmware').fill('YubiKey=5.7.0');
    await dialog(page).getByRole('button', { name: 'Preview' }).press('Enter');
    await armed(page);
    const raised = { requiredGrade: 'unit', allowedAaguids: [], leastFirmware: [] };
    data(await daemon.call('PUT', path, raised));
    await button(page, 'Set policy').press('Enter');
    await dialog(page).getByText(CHANGED).waitFor();
    expect(data(await daemon.call('GET', path))).toMatchObject(raised);
    data(await daemon.call('PUT', path, { ...raised, requiredGrade: 'none' }));
    await context.close();
  });
});
