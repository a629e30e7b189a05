/** The page Activity as the audit of administration. */
import { readFile } from 'node:fs/promises';
import { beforeAll, expect, it } from 'vitest';
import { adminPassword } from '../support/daemon.ts';
import { register } from '../support/fleet.ts';
import { needs } from '../support/needs.ts';
import { consoleTests, violationsOn } from './browser.ts';

needs('chromium')('the page Activity, for administration', () => {
  const { daemon, openTab } = consoleTests();
  const webhookSecret = 'whsec_cGxhbnRlZC1zZWNyZXQtb2YtYS13ZWJob29rLTEyMzQ=';
  beforeAll(async () => {
    await register(daemon);
    const made = await daemon.call('POST', '/api/users', { username: 'olga', password: adminPassword, role: 'VIEWER' });
    await daemon.call('PUT', `/api/users/${made.data.id}`, { role: 'DEALER' });
    await daemon.call('POST', '/api/webhooks', { url: 'https://hooks.invalid/secret-path', secret: webhookSecret });
    const policy = { personsRequired: false, leavers: 'retire', leaverDelayHours: 0 };
    await daemon.call('PUT', '/api/policies/people', policy);
  });

  it('shows who has changed what, before and after, and leads to the account', async () => {
    const { page, context } = await openTab({ place: 'activity' });
    const update = page.locator('.events li').filter({ hasText: 'account changed' });
    await update.getByText('by admin').waitFor();
    expect(await update.getByRole('definition').allTextContents()).toEqual(['viewer → dealer']);
    expect(await update.locator('svg').count()).toBe(1);
    const policy = page.locator('.events li').filter({ hasText: 'policy set' });
    expect(await policy.textContent()).toContain('persons');
    expect(await policy.getByRole('definition').allTextContents()).toEqual(['locked → retired permanently']);
    expect(await page.locator('main').textContent()).not.toContain('secret-path');
    expect(await page.getByRole('heading', { level: 2 }).count()).toBe(1);
    expect(await violationsOn(page)).toEqual([]);
    await update.getByRole('link', { name: 'olga' }).click();
    await page.getByRole('heading', { level: 1, name: /olga/ }).waitFor();
    await context.close();
  });

  it('shows administration alone, also as it happens, and saves it as a file without secrets', async () => {
    const { page, context } = await openTab({ place: 'activity' });
    await page.getByText('live', { exact: true }).waitFor();
    await page.getByText('registered', { exact: true }).waitFor();
    await page.getByRole('combobox', { name: 'Show' }).selectOption('Administration');
    await page.getByText('registered', { exact: true }).waitFor({ state: 'detached' });
    await daemon.call('POST', '/api/tokens', { name: 'door-7', role: 'VIEWER', expiresInDays: 1 });
    await page.locator('.events li').filter({ hasText: 'door-7' }).getByText('service token created').waitFor();
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export as CSV' }).click();
    const file = await saved;
    expect(file.suggestedFilename()).toMatch(/^devmgr-events-\d{4}-\d\d-\d\d\.csv$/);
    const text = await readFile(await file.path(), 'utf8');
    expect(text).toMatch(/^id,time,type,subject,actor,changes,data\r\n\d+,\S+,TOKEN_CREATED,TOK-1,admin,/);
    expect(text).not.toMatch(/DEVICE_REGISTERED|whsec_|secret-path/);
    await page.getByText(/events saved\./).waitFor();
    await context.close();
  });

  it('is in German', async () => {
    const { page, context } = await openTab({ place: 'activity', locale: 'de-DE' });
    const update = page.locator('.events li').filter({ hasText: 'Konto geändert' });
    await update.getByText('Rolle').waitFor();
    await page.getByRole('combobox', { name: 'Anzeigen' }).waitFor();
    await context.close();
  });

  it('shows a DEALER nothing of it', async () => {
    const { token } = await daemon.user('dora', 'DEALER');
    const { page, context } = await openTab({ place: 'activity', token });
    await page.getByText('registered', { exact: true }).waitFor();
    expect(await page.locator('.events li').count()).toBe(1);
    expect(await page.getByRole('combobox', { name: 'Show' }).count()).toBe(0);
    await page.getByText('Filters', { exact: true }).click();
    expect(await page.getByRole('group').filter({ hasText: 'Account created' }).count()).toBe(0);
    await context.close();
  });
});
