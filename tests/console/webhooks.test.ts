import type { Locator } from 'playwright-core';
import { expect, it } from 'vitest';
import { data, register } from '../support/fleet.ts';
import { needs } from '../support/needs.ts';
import { startReceiver, taken } from '../support/webhook-receiver.ts';
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
  withoutPage,
} from './browser.ts';

needs('chromium')('the page Webhooks of the console', () => {
  const tests = consoleTests({ webhookAllow: ['127.0.0.1'] });
  const { daemon, openTab } = tests;
  const create = async (url: string) => data(await daemon.call('POST', '/api/webhooks', { url }));

  it('creates a webhook by keyboard alone, shows its secret once, and has its deliveries on its page', async () => {
    const receiver = await startReceiver();
    const { page, context, complaints } = await openTab({ place: 'webhooks' });
    await page.getByText('No webhook has been created yet.').waitFor();
    await button(page, 'Create webhook …').press('Enter');
    await armed(page);
    await page.keyboard.type(receiver.url);
    await page.keyboard.press('Enter');
    const shown = page.getByLabel('Secret', { exact: true });
    await shown.waitFor();
    const secret = await shown.inputValue();
    // It is the only copy: Esc asks first.
    await page.keyboard.press('Escape');
    await page.getByRole('alert').getByText('It has not been copied.').waitFor();
    expect(await shown.inputValue()).toBe(secret);
    await tabTo(page, 'Close without copying');
    await page.keyboard.press('Enter');
    await dialog(page).waitFor({ state: 'detached' });
    await row(page, receiver.url).getByText('active').waitFor();
    expect(await page.content()).not.toContain(secret);
    await register(daemon);
    await receiver.arrived(1);
    expect(receiver.verified(secret)).toHaveLength(1);
    await tabTo(page, receiver.url);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: receiver.url }).getByText('active').waitFor();
    await expect.poll(() => page.title()).toBe(`${receiver.url} · devmgr`);
    await page.locator('.events li').filter({ hasText: 'webhook created' }).waitFor();
    await page.getByText('delivered', { exact: true }).waitFor();
    await tabTo(page, button(page, /^Post again: event \d+$/));
    await page.keyboard.press('Enter');
    await status(page, `${receiver.url} accepted the message`);
    const [first, again] = receiver.verified(secret);
    expect([again?.id, again?.body]).toEqual([first?.id, first?.body]);
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('shows the end of a long address, and the whole reason of a failed delivery', async () => {
    const receiver = await startReceiver({ status: 500 });
    const { webhookId } = await create(`${receiver.url}/the/registry/of/all/keys/of/the/company/incoming-1`);
    await register(daemon);
    await receiver.arrived(1);
    const { page, context } = await openTab({ place: 'webhooks' });
    const head = page.getByRole('rowheader').filter({ hasText: /…\S*incoming-1$/ });
    await head.waitFor();
    const isCut = (each: Locator) => each.evaluate(cell => cell.scrollWidth > cell.clientWidth);
    expect(await isCut(head)).toBe(false);
    await head.getByRole('link').press('Enter');
    const result = page.locator('.events li').filter({ hasText: 'failed 500' });
    await result.getByText(/delivery of event \d+: /).waitFor();
    expect(await isCut(result)).toBe(false);
    data(await daemon.call('POST', `/api/webhooks/${webhookId}/remove`));
    await context.close();
  });

  it('shows why an endpoint fails, and tests, disables, enables and removes it', async () => {
    const receiver = await startReceiver({ status: 500 });
    const other = await create(`${receiver.url}/other`);
    const { url } = await create(receiver.url);
    const { page, context } = await openTab({ place: 'webhooks' });
    const change = async (name: string) => {
      await choose(page, url, name);
      await armed(page);
      await dialog(page).getByRole('button', { name, exact: true }).click();
      await dialog(page).waitFor({ state: 'detached' });
    };
    await change('Test');
    await status(page, `${url} did not accept the message`);
    await register(daemon);
    await row(page, url).getByText('retrying').waitFor();
    await change('Disable');
    await row(page, url).getByText('disabled', { exact: true }).waitFor();
    receiver.answer(taken);
    await change('Enable');
    await row(page, url).getByText('active', { exact: true }).waitFor();
    await change('Test');
    await status(page, `${url} accepted the message`);
    await choose(page, url, 'Remove');
    await armed(page);
    await tabTo(page, dialog(page).getByRole('button', { name: 'Remove' }));
    await page.keyboard.press('Enter');
    await row(page, url).waitFor({ state: 'detached' });
    // The focus goes to the next row.
    await actionsFor(page, other.url).and(page.locator(':focus')).waitFor();
    expect(data(await daemon.call('GET', '/api/webhooks/list')).list).not.toContainEqual(
      expect.objectContaining({ url }),
    );
    await context.close();
  });

  it('has a page whose next action enables it, and which keeps its history after its removal', async () => {
    const { url, webhookId } = await create('https://hooks.example.com/removed');
    data(await daemon.call('POST', `/api/webhooks/${webhookId}/disable`));
    const { page, context, complaints } = await openTab({ place: `webhooks/${webhookId}` });
    const title = page.getByRole('heading', { name: url });
    await title.getByText('disabled', { exact: true }).waitFor();
    const change = async (name: string) => {
      await armed(page);
      await tabTo(page, dialog(page).getByRole('button', { name, exact: true }));
      await page.keyboard.press('Enter');
      await dialog(page).waitFor({ state: 'detached' });
    };
    await tabTo(page, button(page, 'Enable …'));
    await page.keyboard.press('Enter');
    await change('Enable');
    await title.getByText('active', { exact: true }).waitFor();
    await button(page, 'Test …').waitFor();
    await choose(page, url, 'Remove');
    await change('Remove');
    await page.getByText('This record does not exist').waitFor();
    const lines = page.locator('.events li');
    for (const event of ['removed', 'enabled', 'disabled', 'created'])
      await lines.filter({ hasText: `webhook ${event}` }).waitFor();
    expect(await lines.count()).toBe(4);
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('is not there for a DEALER', async () => {
    const place = { place: 'webhooks', link: 'Webhooks', path: '/api/webhooks' };
    expect(await withoutPage(tests, 'DEALER', place)).toEqual({ links: 0, requests: [] });
  });

  it.each(['light', 'dark'] as const)('is accessible in %s colors', async colorScheme => {
    const receiver = await startReceiver();
    await create(`${receiver.url}/${colorScheme}`);
    await register(daemon);
    await receiver.arrived(1);
    const { page, context } = await openTab({ place: 'webhooks', colorScheme });
    await actionsFor(page, `${receiver.url}/${colorScheme}`).waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await page.getByRole('link', { name: `${receiver.url}/${colorScheme}` }).click();
    await page.getByText('delivered', { exact: true }).first().waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await page.goBack();
    await button(page, 'Create webhook …').click();
    await armed(page);
    expect(await violationsOn(page)).toEqual([]);
    await context.close();
  });
});
