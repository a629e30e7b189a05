import { afterAll, beforeAll, expect, it } from 'vitest';
import { data } from '../support/fleet.ts';
import { findTool, needs } from '../support/needs.ts';
import { reading, type Slapd, startSlapd } from '../support/slapd.ts';
import { armed, button, consoleTests, dialog, tabTo, violationsOn } from './browser.ts';

needs(['slapd', 'openssl', ...(findTool('chromium-headless-shell') ? [] : ['chromium'])], 'slapd openssl chromium')(
  'the directory in the console',
  () => {
    const { daemon, openTab } = consoleTests();
    let slapd: Slapd;
    beforeAll(async () => {
      slapd = await startSlapd(['ada', 'grace']);
    });
    afterAll(() => slapd?.stop());

    it('leads to the providers while none is set up', async () => {
      const { page, context } = await openTab({ place: 'policies' });
      const link = page.getByText('No directory is set up.').getByRole('link');
      expect(await link.getAttribute('href')).toBe('#/providers');
      expect(await button(page, 'Preview a run …').count()).toBe(0);
      await context.close();
    });

    it('previews a run, carries it out, and shows what the last one found', async () => {
      data(await daemon.call('PUT', '/api/directory', { url: slapd.url, ...reading }));
      const { page, context, complaints } = await openTab({ place: 'policies' });
      await tabTo(page, button(page, 'Preview a run …'));
      await page.keyboard.press('Enter');
      await dialog(page).getByText('2 entries read, 2 new').waitFor();
      await dialog(page).getByRole('rowheader', { name: 'grace' }).waitFor();
      expect(await violationsOn(page)).toEqual([]);
      expect(data(await daemon.call('GET', '/api/people/list')).list).toEqual([]);
      await armed(page);
      await tabTo(page, button(page, 'Read now'));
      await page.keyboard.press('Enter');
      await dialog(page).waitFor({ state: 'detached' });
      expect(data(await daemon.call('GET', '/api/people/list')).list).toHaveLength(2);
      await page.getByText('Result', { exact: true }).waitFor();
      await page.getByRole('definition').filter({ hasText: '2 entries read, 2 new' }).waitFor();
      expect(complaints).toEqual([]);
      await context.close();
    });

    it('shows why the last run changed nothing', async () => {
      data(await daemon.call('PUT', '/api/directory', { url: slapd.url, ...reading, base: 'dc=none' }));
      data(await daemon.call('POST', '/api/directory/sync', {}));
      const { page, context } = await openTab({ place: 'policies' });
      await page.getByRole('alert').filter({ hasText: 'the directory has no such base' }).waitFor();
      await context.close();
    });
  },
);
