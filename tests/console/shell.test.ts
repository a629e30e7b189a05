import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { register } from '../support/fleet.ts';
import { needs } from '../support/needs.ts';
import { actionsFor, consoleTests, row, settled, violationsOn } from './browser.ts';
import { fleet } from './fleet.ts';
import { pageNames } from './pages.ts';

const phone = { width: 360, height: 740 };

needs('chromium')('the shell of the console', () => {
  const { daemon, openTab } = consoleTests({ simulateKeys: 1 });
  const list = (page: Page, name: string) => page.getByRole('list', { name, exact: true }).getByRole('link');

  it('groups the pages in a sidebar, and shows no group that the role has no page of', async () => {
    const { page, context } = await openTab({ place: 'users' });
    await page.getByRole('heading', { name: 'Accounts' }).waitFor();
    expect((await list(page, 'Devices').allTextContents()).slice(0, 4)).toEqual([
      'Overview',
      'Devices',
      'Station',
      'Activity',
    ]);
    expect(await list(page, 'Line').allTextContents()).toContain('Packages');
    expect(await list(page, 'Administration').allTextContents()).toEqual(
      expect.arrayContaining(['Accounts', 'Tokens', 'Webhooks']),
    );
    expect(await page.locator('[aria-current="page"]').allTextContents()).toEqual(['Accounts']);
    await context.close();
    const { token } = await daemon.user('reader', 'VIEWER');
    const other = await openTab({ token });
    await other.page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(await list(other.page, 'Devices').count()).toBeGreaterThan(3);
    expect(await other.page.getByText('Administration', { exact: true }).count()).toBe(0);
    await other.context.close();
  });

  it('has a logo of its own, in the page and in the tab of the browser', async () => {
    const { page, context, complaints } = await openTab();
    await page.locator('.brand').waitFor();
    const shown = await page.evaluate("getComputedStyle(document.querySelector('.logo')).backgroundImage");
    const icon = await page.locator('link[rel=icon]').getAttribute('href');
    expect(icon).toContain('data:image/svg+xml,');
    expect(shown).toBe(`url("${icon}")`);
    expect(
      await page.evaluate(
        `(async () => { const i = new Image(); i.src = ${JSON.stringify(icon)}; await i.decode(); return i.naturalWidth; })()`,
      ),
    ).toBeGreaterThan(0);
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('has a small header on phones, with the pages in a drawer that the keyboard opens, closes and leaves', async () => {
    const { page, context } = await openTab({ viewport: phone });
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    const { height } = (await page.locator('header').boundingBox())!;
    expect(height).toBeLessThanOrEqual(56);
    const opener = page.getByRole('button', { name: 'Pages' });
    const devices = list(page, 'Devices').filter({ hasText: 'Devices' });
    await devices.waitFor({ state: 'hidden' });
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await devices.waitFor();
    await page.keyboard.press('Escape');
    await devices.waitFor({ state: 'hidden' });
    await page.locator('button:focus[popovertarget]').waitFor();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Devices' }).waitFor();
    await devices.waitFor({ state: 'hidden' });
    await opener.click();
    await devices.waitFor();
    await page.mouse.click(350, 500);
    await devices.waitFor({ state: 'hidden' });
    await context.close();
  });

  it.each(['light', 'dark'] as const)('is accessible with an open drawer in %s colors', async colorScheme => {
    const { page, context } = await openTab({ viewport: phone, colorScheme });
    await page.getByText('live', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Pages' }).click();
    await list(page, 'Devices').first().waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await context.close();
  });

  it('shows rows as cards, with the state of a device and the name of each value', async () => {
    const [device] = await fleet(daemon, 'Cards', 1, 1);
    const { page, context, show } = await openTab({ viewport: phone, place: 'devices' });
    const card = row(page, device!.deviceId);
    await card.waitFor();
    const pill = (await card.getByText('active', { exact: true }).boundingBox())!;
    expect(pill.x + pill.width).toBeLessThanOrEqual(360);
    expect(pill.y + pill.height).toBeLessThanOrEqual(740);
    const shownNames = (name: string) =>
      page.evaluate<string[]>(
        `[...[...document.querySelectorAll('tbody tr')].find(row => row.querySelector('th').textContent.startsWith('${name}')).querySelectorAll('td')]
          .filter(cell => cell.offsetParent).map(cell => getComputedStyle(cell, '::before').content)`,
      );
    expect(await shownNames(device!.deviceId)).toEqual(
      expect.arrayContaining(['"Serial number"', '"State"', '"Person"']),
    );
    await show('users');
    await row(page, 'admin you').getByText('administrator').waitFor();
    expect(await shownNames('admin')).toEqual(expect.arrayContaining(['"Role"', '"State"']));
    const menu = (await actionsFor(page, 'admin').boundingBox())!;
    expect(menu.x + menu.width).toBeLessThanOrEqual(360);
    await context.close();
  });

  it('has no page that is wider than a phone, in either language', async () => {
    await fleet(daemon, 'W'.repeat(60), 2, 1);
    const { id } = await daemon.user('u'.repeat(64), 'DEALER');
    const { personId } = (await daemon.call('POST', '/api/people', { userName: 'p', name: 'P'.repeat(200) })).data;
    const lot = 'L'.repeat(128);
    await register(daemon, { tags: { lot } });
    const provider = { type: 'okta', address: 'https://example.okta.com', secret: 'a token' };
    expect(await daemon.call('POST', '/api/providers', { name: 'o'.repeat(64), ...provider })).toMatchObject({
      code: 200,
    });
    const { tokenId } = (
      await daemon.call('POST', '/api/tokens', { name: 'n'.repeat(64), role: 'VIEWER', expiresInDays: 1 })
    ).data;
    expect(tokenId).toMatch(/^TOK-/);
    await daemon.call('POST', '/api/webhooks', { url: `https://example.org/${'w'.repeat(200)}` });
    for (const locale of ['en-US', 'de-DE']) {
      const { page, context, show } = await openTab({ viewport: phone, locale });
      for (const place of [...pageNames, 'devices/DEV-2', `users/${id}`, `people/${personId}`, `lots/${lot}`]) {
        await show(place);
        await page.locator('main h1').waitFor();
        await settled(page);
        expect([locale, place, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([
          locale,
          place,
          360,
        ]);
      }
      await context.close();
    }
  });

  it.each([
    ['no-preference', 150],
    ['reduce', 0],
  ] as const)('moves for at most 150 ms, and not at all if a person asks for that: %s', async (reducedMotion, most) => {
    const { page, context } = await openTab({ viewport: phone, reducedMotion });
    await page.getByText('live', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Pages' }).click();
    const longest = await page.evaluate(`Math.max(
      ...[...document.querySelectorAll('*')].flatMap(element => {
        const { transitionDuration, animationDuration } = getComputedStyle(element);
        return [transitionDuration, animationDuration].flatMap(list => list.split(',').map(Number.parseFloat));
      }),
    )`);
    expect(Number(longest) * 1000).toBe(most);
    await context.close();
  });

  it('tells states apart by the shape of their pill, not by its color alone', async () => {
    const { page, context } = await openTab();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    const shapes = await page.evaluate<string[]>(`
      ['INACTIVE', 'ACTIVE', 'LOCKED', 'DEACTIVATED'].map(status => {
        const pill = document.createElement('span');
        pill.className = 'badge ' + status;
        document.querySelector('main').append(pill);
        const { borderRadius, clipPath, backgroundColor } = getComputedStyle(pill, '::before');
        return borderRadius + clipPath + (backgroundColor === 'rgba(0, 0, 0, 0)' ? 'hollow' : 'filled');
      })`);
    expect(new Set(shapes).size).toBe(4);
    await context.close();
  });
});
