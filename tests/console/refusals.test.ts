import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { holdClock } from '../support/clock.ts';
import { adminPassword, startTestDaemon } from '../support/daemon.ts';
import { data } from '../support/fleet.ts';
import { needs } from '../support/needs.ts';
import { armed, button, consoleTests, dialog, menuItem, row, status } from './browser.ts';
import { fleet } from './fleet.ts';

const refused = (page: Page, words: string | RegExp) => page.getByRole('alert').getByText(words).waitFor();

/** Texts outside of links that are underlined, or have a line below them alone. Runs in the page. */
function underlined(): string[] {
  const { document, getComputedStyle } = globalThis as unknown as {
    document: {
      querySelectorAll(
        selector: string,
      ): Iterable<{ tagName: string; textContent: string; closest(selector: string): unknown }>;
    };
    getComputedStyle(element: unknown): Record<string, string>;
  };
  return [...document.querySelectorAll('body *')]
    .filter(element => {
      const style = getComputedStyle(element);
      const isInline = ['A', 'BUTTON', 'SUMMARY', 'SPAN', 'LABEL', 'TIME', 'SMALL'].includes(element.tagName);
      const hasLine = isInline && style.borderBottomStyle !== 'none' && style.borderTopStyle === 'none';
      const isLine = hasLine && style.borderBottomWidth !== '0px' && style.borderBottomColor !== style.backgroundColor;
      return (style.textDecorationLine?.includes('underline') || isLine) && !element.closest('a[href]');
    })
    .map(({ tagName, textContent }) => `${tagName} ${textContent}`);
}

needs('chromium')('refusals in the console', () => {
  const { daemon, openTab } = consoleTests();

  it('are in German by their codes: 1001 with the field, and the words of the daemon on demand', async () => {
    const { page, context } = await openTab({ locale: 'de-DE', place: 'devices?createdTo=yesterday' });
    await refused(page, /^Der Dienst nimmt eine Angabe nicht an, oder der Zustand erlaubt das nicht: createdTo$/);
    const original = page.getByText(/^createdTo must be/);
    expect(await original.isVisible()).toBe(false);
    await page.getByText('Meldung des Dienstes (englisch)').press('Enter');
    await original.waitFor();
    expect(await original.getAttribute('lang')).toBe('en');
    await context.close();
  });

  it('are in German for a role that may not do something, and for what is gone: 2007 and 404', async () => {
    await fleet(daemon, 'Refused', 1, 1);
    const dealer = await daemon.user('demoted', 'DEALER');
    const first = await openTab({ locale: 'de-DE', token: dealer.token, place: 'devices?manufacturer=Refused' });
    await first.page.getByLabel('Alle auf dieser Seite auswählen').check();
    await button(first.page, /^Sperren …/).click();
    await armed(first.page);
    await first.page.getByLabel('Grund').fill('weg');
    data(await daemon.call('PUT', `/api/users/${dealer.id}`, { role: 'VIEWER' }));
    await button(first.page, /^1 Gerät sperren$/).click();
    await refused(first.page, /^Ihre Rolle oder Ihr Konto erlaubt das nicht\.$/);
    await first.context.close();

    const { webhookId } = data(
      await daemon.call('POST', '/api/webhooks', { url: 'https://hooks.example/gone', types: ['DEVICE_LOCKED'] }),
    );
    const { page, context } = await openTab({ locale: 'de-DE', place: 'webhooks' });
    await row(page, 'https://hooks.example/gone')
      .getByRole('button', { name: /^Aktionen für/ })
      .click();
    await menuItem(page, 'Entfernen').click();
    await armed(page);
    data(await daemon.call('POST', `/api/webhooks/${webhookId}/remove`));
    await dialog(page).getByRole('button', { name: 'Entfernen' }).click();
    await refused(page, 'Der Eintrag existiert nicht oder wurde inzwischen entfernt.');
    await context.close();
  });

  it('a wait for the limit is announced once, and its countdown is seen alone', async () => {
    const limits = { login: null, query: { count: 4, seconds: 60 }, modify: null, upload: null };
    const limited = await startTestDaemon({ limits });
    const { page, context } = await openTab({ daemon: limited, place: 'devices' });
    await page.getByText('This registry has no devices yet.').waitFor();
    await page.clock.install();
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      await page.getByLabel('Search').fill(name);
      await page.clock.runFor(300);
    }
    const spoken = page.locator('.notice [role="status"]');
    const seen = page.locator('.notice [aria-hidden="true"]');
    const first = await spoken.textContent();
    const before = await seen.textContent();
    await page.clock.runFor(5000);
    await expect.poll(() => seen.textContent()).not.toBe(before);
    expect(await spoken.textContent()).toBe(first);
    await context.close();
    await limited.stop();
  });

  it.each(['devices?manufacturer=Refused', 'users', ''])(
    'in forced colors only links are underlined: /%s',
    async place => {
      const { page, context } = await openTab({ forcedColors: 'active', place });
      await page.locator('main h1').waitFor();
      await status(page, 'live');
      expect(await page.evaluate(underlined)).toEqual([]);
      await context.close();
    },
  );

  it('a token is expired by the clock of the daemon, not by that of the browser', async () => {
    data(await daemon.call('POST', '/api/tokens', { name: 'line-1', role: 'DEALER', expiresInDays: 1 }));
    const { page, context } = await openTab({ place: 'devices' });
    await page.clock.setFixedTime(Date.now() + 3 * 86_400_000);
    await page.goto(`${daemon.url}/console/#/tokens`);
    await row(page, 'line-1').getByText('valid', { exact: true }).waitFor();
    await context.close();
  });
});

needs('chromium')('a token whose time is over', () => {
  // The header Date, by which the console knows the clock of the daemon, cannot be held: the token is made in the past.
  let held: ReturnType<typeof holdClock>;
  beforeAll(() => {
    held = holdClock(Date.now() - 3 * 86_400_000);
  });
  afterAll(() => held?.release());
  const { daemon, openTab } = consoleTests();

  it('is expired by the clock of the daemon', async () => {
    data(await daemon.call('POST', '/api/tokens', { name: 'line-1', role: 'DEALER', expiresInDays: 1 }));
    held.release();
    const login = { username: 'admin', password: adminPassword };
    const { token } = data(await daemon.call('POST', '/api/auth/login', login));
    const { page, context } = await openTab({ place: 'tokens', token });
    await row(page, 'line-1').getByText('expired', { exact: true }).waitFor();
    await context.close();
  });
});
