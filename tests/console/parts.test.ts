import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import type { TestDaemon } from '../support/daemon.ts';
import { needs } from '../support/needs.ts';
import {
  accountButton,
  actionsFor,
  armed,
  choose,
  consoleTests,
  dialog,
  menuItem,
  row,
  violationsOn,
} from './browser.ts';

needs('chromium')('menus of the console', () => {
  const { daemon, openTab } = consoleTests();

  it('are walked through by keyboard alone: arrows, the first letters, Esc', async () => {
    await daemon.user('maria', 'DEALER');
    const { page, context } = await openTab({ place: 'users' });
    const menu = actionsFor(page, 'maria');
    const marked = page.locator('[data-highlighted]');
    await menu.press('ArrowDown');
    await marked.getByText('Edit').waitFor();
    await page.keyboard.press('ArrowUp');
    await marked.getByText('Show beside the list').waitFor();
    await page.keyboard.type('lo');
    await marked.getByText('Log out').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('menu').waitFor({ state: 'detached' });
    expect(await page.locator(':focus').getAttribute('aria-label')).toBe('Actions for maria');
    expect(await menu.getAttribute('aria-expanded')).toBe('false');
    await context.close();
  });

  it('offer the settings of the person with the present one marked, and keep the choice', async () => {
    const { page, context } = await openTab();
    await accountButton(page).click();
    const checked = page.getByRole('menuitemradio', { checked: true });
    await checked.first().waitFor();
    expect(await checked.allTextContents()).toEqual(['English', 'As the system']);
    await menuItem(page, 'Dark').click();
    await page.locator('html[data-theme=dark]').waitFor();
    await accountButton(page).click();
    await checked.getByText('Dark').waitFor();
    await context.close();
  });

  it('stay inside the window at 360 px, and do not move the page', async () => {
    const { page, context } = await openTab({ place: 'users', viewport: { width: 360, height: 740 } });
    await row(page, 'admin you').waitFor();
    for (const button of [accountButton(page), actionsFor(page, 'admin')]) {
      await button.click();
      const box = (await page.getByRole('menu').boundingBox())!;
      expect(box.x).toBeGreaterThanOrEqual(0);
      expect(box.x + box.width).toBeLessThanOrEqual(360);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
      await page.keyboard.press('Escape');
    }
    await context.close();
  });

  it.each(['light', 'dark'] as const)('are accessible in %s colors', async colorScheme => {
    const { page, context } = await openTab({ place: 'users', colorScheme });
    await actionsFor(page, 'admin').press('Enter');
    await page.getByRole('menu').waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await context.close();
  });
});

needs('chromium')('toasts of the console', () => {
  const { daemon, openTab } = consoleTests();
  const disable = async (page: Page, name: string) => {
    await choose(page, name, 'Disable');
    await armed(page);
    await dialog(page).getByRole('button', { name: 'Disable' }).press('Enter');
    const toast = page.locator('.toast').filter({ hasText: `${name} is disabled.` });
    await toast.waitFor();
    return toast;
  };
  const isDisabled = async (id: string) => (await userOf(daemon, id)).disabled;

  it('report what was done and undo it, by keyboard alone', async () => {
    const { id } = await daemon.user('undone', 'DEALER');
    const { page, context } = await openTab({ place: 'users' });
    await disable(page, 'undone');
    expect(await isDisabled(id)).toBe(true);
    expect(await page.getByRole('region', { name: 'Notifications' }).getAttribute('aria-live')).toBe('polite');
    await page.keyboard.press('Alt+KeyT');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.locator('button:focus').getByText('Undo').waitFor();
    await page.keyboard.press('Enter');
    await page.locator('.toast').getByText('undone is enabled.').waitFor();
    await row(page, 'undone').getByText('enabled', { exact: true }).waitFor();
    expect(await isDisabled(id)).toBe(false);
    await context.close();
  });

  it('leave after a while, not while they are under the pointer or have the focus', async () => {
    await daemon.user('timed', 'DEALER');
    const { page, context } = await openTab({ place: 'users' });
    await page.clock.install();
    const disabling = disable(page, 'timed');
    await page.clock.runFor(3000);
    const toast = await disabling;
    await toast.hover();
    await page.clock.runFor(60_000);
    expect(await toast.isVisible()).toBe(true);
    await page.mouse.move(10, 10);
    await page.keyboard.press('Alt+KeyT');
    await page.clock.runFor(60_000);
    expect(await toast.isVisible()).toBe(true);
    await accountButton(page).focus();
    await page.clock.runFor(12_000);
    await toast.waitFor({ state: 'detached' });
    await context.close();
  });

  it('report why something cannot be undone', async () => {
    await daemon.user('stuck', 'DEALER');
    const { page, context } = await openTab({ place: 'users' });
    const toast = await disable(page, 'stuck');
    await page.route('**/api/users/*', route => route.abort());
    await toast.getByRole('button', { name: 'Undo' }).click();
    await page.locator('.toast').getByText('The daemon does not respond.').waitFor();
    await context.close();
  });

  it.each(['light', 'dark'] as const)('are accessible in %s colors', async colorScheme => {
    await daemon.user(`shown-${colorScheme}`, 'DEALER');
    const { page, context } = await openTab({ place: 'users', colorScheme, viewport: { width: 360, height: 740 } });
    const toast = await disable(page, `shown-${colorScheme}`);
    expect(await violationsOn(page)).toEqual([]);
    const box = (await toast.boundingBox())!;
    expect(box.x).toBeGreaterThanOrEqual(0);
    expect(box.x + box.width).toBeLessThanOrEqual(360);
    await context.close();
  });
});

async function userOf(daemon: TestDaemon, id: string): Promise<{ readonly disabled: boolean }> {
  const { data } = await daemon.call('GET', '/api/users/list?size=100');
  return data.list.find((user: { readonly id: string }) => user.id === id);
}
