import { expect, it } from 'vitest';
import { data } from '../support/fleet.ts';
import { needs } from '../support/needs.ts';
import { makeRoot } from '../support/test-pki.ts';
import { armed, button, consoleTests, dialog, tabTo, violationsOn, withoutPage } from './browser.ts';

needs('chromium')('the page Trust of the console', () => {
  const tests = consoleTests();
  const { daemon, openTab } = tests;
  const certificates = async () => data(await daemon.call('GET', '/api/trust/list')).certificates;

  it('imports a certificate, judges again and removes it, by keyboard alone', async () => {
    const { der, fingerprint } = makeRoot('Root <b>');
    const { page, context, complaints } = await openTab({ place: 'trust' });
    await page.getByText('Nothing is trusted').waitFor();
    await tabTo(page, button(page, 'Import …'));
    await page.keyboard.press('Enter');
    await armed(page);
    const file = dialog(page).locator('input[type=file]');
    await file.setInputFiles({
      name: 'root.der',
      mimeType: 'application/octet-stream',
      buffer: Buffer.from('no certificate'),
    });
    await tabTo(page, dialog(page).getByRole('button', { name: 'Import' }));
    await page.keyboard.press('Enter');
    await dialog(page).getByRole('alert').waitFor();
    await file.setInputFiles({ name: 'root.der', mimeType: 'application/octet-stream', buffer: der });
    await tabTo(page, page.getByLabel('Name, such as the vendor'));
    await page.keyboard.type('Vendor');
    await armed(page);
    await page.keyboard.press('Enter');
    await dialog(page).getByText(fingerprint).waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await dialog(page).waitFor({ state: 'detached' });
    await page.getByRole('rowheader', { name: /^Vendor: / }).waitFor();
    expect(await certificates()).toMatchObject([{ fingerprint, purpose: 'scp11b', label: 'Vendor' }]);
    await tabTo(page, button(page, 'Check again …'));
    await page.keyboard.press('Enter');
    await armed(page);
    await tabTo(page, dialog(page).getByRole('button', { name: 'Check again' }));
    await page.keyboard.press('Enter');
    await page.getByText('0 devices checked, 0 proofs changed.').waitFor();
    await tabTo(page, button(page, /^Remove Vendor/));
    await page.keyboard.press('Enter');
    await armed(page);
    await tabTo(page, dialog(page).getByRole('button', { name: 'Remove' }));
    await page.keyboard.press('Enter');
    await page.getByText('Nothing is trusted').waitFor();
    // The row and its button have gone, and no other row is there.
    await page.locator('h1:focus').getByText('Trust').waitFor();
    expect(await certificates()).toEqual([]);
    expect(complaints.filter(text => !text.includes('400 (Bad Request)'))).toEqual([]);
    await context.close();
  });

  it('is not there for a DEALER', async () => {
    const place = { place: 'trust', link: 'Trust', path: '/api/trust' };
    expect(await withoutPage(tests, 'DEALER', place)).toEqual({ links: 0, requests: [] });
  });

  it('speaks German', async () => {
    const { page, context } = await openTab({ place: 'trust', locale: 'de-DE' });
    await button(page, 'Erneut prüfen …').waitFor();
    await context.close();
  });
});
