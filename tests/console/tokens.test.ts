import { expect, it } from 'vitest';

import { needs } from '../support/needs.ts';
import { actionsFor, armed, choose, consoleTests, dialog, row, status, violationsOn, withoutPage } from './browser.ts';

const hostile = '<img src=x onerror=alert(1)>';

needs('chromium')('the page Tokens of the console', () => {
  const tests = consoleTests({ webhookAllow: ['127.0.0.1'] });
  const { daemon, openTab } = tests;
  const create = async (name: string, more = {}) =>
    (await daemon.call('POST', '/api/tokens', { name, role: 'DEALER', expiresInDays: 5, ...more })).data;

  it('creates a token by keyboard alone, shows it once and copies it', async () => {
    const { page, context, complaints } = await openTab({
      place: 'tokens',
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    await page.getByRole('button', { name: 'Create token …' }).press('Enter');
    await armed(page);
    await page.keyboard.type(hostile);
    await page.keyboard.press('Tab');
    await page.keyboard.type('viewer');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Space');
    for (const _ of ['scim', 'decide', 'ssh', 'record-use', 'days']) await page.keyboard.press('Tab');
    await page.keyboard.type('30');
    await page.keyboard.press('Tab');
    await page.keyboard.type('127.0.0.0/8\n::1/128');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    const shown = page.getByLabel('Token', { exact: true });
    await shown.waitFor();
    const token = await shown.inputValue();
    const me = (await daemon.call('GET', '/api/users/me', undefined, { token })).data;
    expect(me).toMatchObject({ username: `token:${hostile}`, role: 'VIEWER' });
    await page.getByRole('button', { name: 'Copy' }).press('Enter');
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(token);
    await page.keyboard.press('Escape');
    await dialog(page).waitFor({ state: 'detached' });
    await row(page, hostile).getByText('127.0.0.0/8, ::1/128').waitFor();
    await row(page, hostile).getByText('Policies', { exact: true }).waitFor();
    expect((await daemon.call('GET', '/api/policies/proof', undefined, { token })).code).toBe(200);
    expect(await page.locator('img').count()).toBe(0);
    expect(await page.content()).not.toContain(token);
    expect(await page.evaluate(() => JSON.stringify([{ ...sessionStorage }, { ...localStorage }]))).not.toContain(
      token,
    );
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('asks before it closes the dialog with a token that was not copied', async () => {
    const { page, context } = await openTab({ place: 'tokens', permissions: ['clipboard-read', 'clipboard-write'] });
    await page.getByRole('button', { name: 'Create token …' }).press('Enter');
    await armed(page);
    await page.getByLabel('Name').fill('precious');
    await page.keyboard.press('Enter');
    const shown = page.getByLabel('Token', { exact: true });
    await shown.waitFor();
    for (let i = 0; i < 3; i++) await page.keyboard.press('Escape');
    await page.getByRole('alert').getByText('It has not been copied.').waitFor();
    await page.getByRole('button', { name: 'Keep open' }).press('Enter');
    await page.getByRole('alert').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Close', exact: true }).click();
    expect(await violationsOn(page)).toEqual([]);
    await page.getByRole('button', { name: 'Close without copying' }).click();
    await dialog(page).waitFor({ state: 'detached' });
    await context.close();
  });

  it('keeps what was entered when the daemon refuses it', async () => {
    await create('taken');
    const { page, context } = await openTab({ place: 'tokens' });
    await page.getByRole('button', { name: 'Create token …' }).click();
    const submit = dialog(page).getByRole('button', { name: 'Create token' });
    await page.getByLabel('Name').fill('taken');
    await page.getByLabel('Days until it expires').fill('400');
    expect(await submit.isDisabled()).toBe(true);
    await page.getByLabel('Days until it expires').fill('365');
    await page.getByLabel('Accepted only from').fill('10.0.0.0/33');
    await submit.click();
    await dialog(page).getByText('allowedFrom').waitFor();
    await page.getByLabel('Accepted only from').fill('10.0.0.0/24');
    await submit.click();
    await dialog(page).getByText('taken').and(page.locator('.problem p')).waitFor();
    expect(await page.getByLabel('Days until it expires').inputValue()).toBe('365');
    await page.getByLabel('Name').fill('free');
    await page.keyboard.press('Enter');
    await dialog(page).getByText('it is not shown again').waitFor();
    await context.close();
  });

  it('revokes a token after a question, and shows state and last use', async () => {
    const { token } = await create('used');
    await create('idle', { allowedFrom: ['10.1.0.0/16'] });
    expect((await daemon.call('GET', '/api/users/me', undefined, { token })).code).toBe(200);
    const { page, context } = await openTab({ place: 'tokens' });
    await row(page, 'idle').getByText('never').waitFor();
    await row(page, 'idle').getByText('10.1.0.0/16').waitFor();
    await row(page, 'used').getByText('any network').waitFor();
    await choose(page, 'used', 'Revoke');
    await dialog(page).waitFor();
    await page.keyboard.press('Escape');
    expect((await daemon.call('GET', '/api/users/me', undefined, { token })).code).toBe(200);
    await choose(page, 'used', 'Revoke');
    await armed(page);
    await dialog(page).getByRole('button', { name: 'Revoke' }).press('Enter');
    await status(page, 'used is revoked.');
    await row(page, 'used').getByText('revoked', { exact: true }).waitFor();
    await actionsFor(page, 'used').press('Enter');
    await page.locator('.menu:focus').waitFor();
    expect(await page.locator('[role^="menuitem"]').allTextContents()).toEqual(['Show beside the list']);
    expect((await daemon.call('GET', '/api/users/me', undefined, { token })).code).toBe(1004);
    await context.close();
  });

  it.each([true, false])(
    'shows the webhooks that a revoked token has made, and removes them if wanted: %j',
    async wanted => {
      const name = `thief ${wanted}`;
      const { token, tokenId } = await create(name, { role: 'ADMIN', may: ['webhooks'] });
      const url = `https://127.0.0.1/${wanted}`;
      const { webhookId } = (await daemon.call('POST', '/api/webhooks', { url }, { token })).data;
      const { page, context, complaints } = await openTab({ place: 'tokens' });
      await row(page, name).getByText('Webhooks', { exact: true }).waitFor();
      await choose(page, name, 'Revoke');
      await armed(page);
      await dialog(page).getByRole('button', { name: 'Revoke' }).press('Enter');
      const made = page.getByRole('dialog', { name: `Created with ${name}` });
      await made.getByText(url).waitFor();
      await armed(page);
      await made.getByText(`devmgr tokens remove ${tokenId} --remove-made`).waitFor();
      expect(await violationsOn(page)).toEqual([]);
      await armed(page);
      if (wanted) await made.getByRole('button', { name: 'Remove webhooks' }).press('Enter');
      else await page.keyboard.press('Escape');
      await status(page, wanted ? `${name} is revoked, and its webhooks are removed.` : `${name} is revoked.`);
      await made.waitFor({ state: 'detached' });
      const { list } = (await daemon.call('GET', '/api/webhooks/list')).data;
      expect(list.map((one: { webhookId: string }) => one.webhookId)).toEqual(wanted ? [] : [webhookId]);
      expect(complaints).toEqual([]);
      await context.close();
    },
  );

  it.each(['DEALER', 'VIEWER'] as const)('does not exist for a %s', async role => {
    const page = { place: 'tokens', link: 'Tokens', path: '/api/tokens' };
    expect(await withoutPage(tests, role, page)).toEqual({ links: 0, requests: [] });
  });

  it.each(['light', 'dark'] as const)('is accessible in %s colors', async colorScheme => {
    await create(`colors-${colorScheme}`);
    const { page, context, complaints } = await openTab({ place: 'tokens', colorScheme });
    await row(page, `colors-${colorScheme}`).waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await page.getByRole('button', { name: 'Create token …' }).click();
    await page.getByLabel('Name').fill(`shown-${colorScheme}`);
    expect(await violationsOn(page)).toEqual([]);
    await armed(page);
    await page.keyboard.press('Enter');
    await page.getByLabel('Token', { exact: true }).waitFor();
    expect(await violationsOn(page)).toEqual([]);
    expect(complaints).toEqual([]);
    await context.close();
  });
});
