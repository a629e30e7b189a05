/** Keys that are issued at the page Station, with a station whose keys are authenticators. The providers are stand-ins: see their file. */
import type { Page } from 'playwright-core';
import { expect, it, vi } from 'vitest';
import type { FakeHid } from '../support/fake-hid.ts';
import { FidoKey } from '../support/fido-key.ts';
import { data } from '../support/fleet.ts';
import { IssuableAuthenticator } from '../support/issuable-authenticator.ts';
import { startEntra, startOkta } from '../support/issuing-providers.ts';
import { needs } from '../support/needs.ts';
import { authenticatorRoot } from '../support/test-authenticator.ts';
import { consoleTests, dialog, violationsOn } from './browser.ts';

const system = (await vi.hoisted(async () => {
  const { FakeHid } = await import('../support/fake-hid.ts');
  return new FakeHid();
})) as FakeHid;
vi.mock('../../daemon/hardware/drivers.ts', async () => {
  const { createHidDriver } = await import('../../drivers/hid/index.ts');
  return { createDrivers: () => [createHidDriver({ system })] };
});

/** A key of its own. */
function key(serial: string) {
  const aaguid = 'ee882879-721c-4913-9775-3dfcce97072a';
  const authenticator = new IssuableAuthenticator({ root: authenticatorRoot(), aaguid });
  const fido = new FidoKey({ authenticator, touched: true, issued: true });
  let address = 0;
  const plug = () => {
    authenticator.replug();
    address = system.plug({ serial, interfaces: { fido } });
  };
  return { authenticator, plug, unplug: () => system.unplug(address) };
}

const PIN = '271828';

/** A badge as a scanner types it: 5 ms between two keys, by the time that the system reports. */
async function scan(page: Page, badge: string): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const from = Date.now() / 1000 + 60;
  const sent = [...badge, '\r'].map((text, at) =>
    session.send('Input.dispatchKeyEvent', {
      ...{ type: 'keyDown', text, key: text === '\r' ? 'Enter' : text, timestamp: from + at / 200 },
      windowsVirtualKeyCode: text === '\r' ? 13 : 0,
    }),
  );
  await Promise.all(sent);
  await session.detach();
}

needs('chromium')('issuing at the station', () => {
  const { daemon, openTab } = consoleTests({ hardware: true, webhookAllow: ['127.0.0.1', 'localhost'] });

  it('gives each person of a roster a key that signs in, and the page keeps no PIN', async () => {
    const [company, okta] = [await startEntra(), await startOkta()];
    for (const [name, { settings }] of [
      ['company', company],
      ['okta', okta],
    ] as const)
      data(await daemon.call('POST', '/api/providers', { name, ...settings }));
    const { page, context, complaints } = await openTab({ place: 'station' });
    await page.locator('.stream.live').waitFor();
    const stage = page.locator('.stage');
    const decided = (word: string) => page.locator('.verdict').getByText(word, { exact: true }).waitFor();
    const said = (text: string | RegExp) => stage.getByText(text).first().waitFor();
    const held = async () =>
      (await page.content()) + (await page.evaluate('JSON.stringify([{ ...sessionStorage }, { ...localStorage }])'));
    const boxes = page.getByRole('group', { name: 'Providers' });
    for (const name of ['company', 'okta']) {
      await boxes.getByLabel(name).click();
      await page.getByLabel('PIN', { exact: true }).waitFor();
    }
    await page.getByLabel(/^List of people/).setInputFiles({
      name: 'people.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from('userId\nann.station\nben.station\n'),
    });
    await said('Plug in a key for ann.station.');

    const first = key('STATION-1');
    first.plug();
    await decided('PASS');
    await said(/^Press Enter: the key will be bound to ann\.station and issued/);
    await page.keyboard.press('Enter');
    await dialog(page).getByText('First PIN of STATION-1').waitFor();
    expect(await violationsOn(page)).toEqual([]);
    const field = dialog(page).getByLabel('PIN', { exact: true });
    const again = dialog(page).getByLabel('Repeat the PIN');
    await field.fill('12');
    await again.fill('12');
    await page.keyboard.press('Enter');
    await dialog(page).getByText('at least 4 characters').waitFor();
    await field.fill(PIN);
    await again.fill(PIN);
    okta.state.trouble('options', 'refused');
    await page.keyboard.press('Enter');
    await decided('FAIL');
    await said(/^The key is bound, but is not issued at every provider yet\. Plug it in again\./);
    expect([first.authenticator.isPin(PIN), company.state.accepted.length]).toEqual([true, 1]);

    // It continues for the same person, a wrong PIN is entered once only, and a scan is not a PIN.
    for (const typed of ['314159', PIN]) {
      first.unplug();
      await stage.locator('.events li').waitFor({ state: 'detached' });
      first.plug();
      await decided('PASS');
      await page.keyboard.press('Enter');
      await dialog(page).getByText('PIN of STATION-1').waitFor();
      await dialog(page)
        .getByText(`Attempts left: ${typed === PIN ? 7 : 8}`)
        .waitFor();
      await scan(page, '999999');
      expect(await field.inputValue()).toBe('');
      await field.fill(typed);
      await page.keyboard.press('Enter');
      await dialog(page).waitFor({ state: 'detached' });
      await decided(typed === PIN ? 'BOUND' : 'FAIL');
    }
    await said('Signs in at: company, okta.');
    expect(await held()).not.toContain(PIN);
    expect(await held()).not.toMatch(/314159|999999/);

    first.unplug();
    await page.reload();
    await said('Plug in a key for ben.station.');
    // A key that is plugged in before the stream is there has no person.
    await page.locator('.stream.live').waitFor();
    const second = key('STATION-2');
    second.plug();
    await decided('PASS');
    await page.keyboard.press('Enter');
    await field.fill(PIN);
    await again.fill(PIN);
    await page.keyboard.press('Enter');
    await decided('BOUND');
    await page.getByText('2 of 2 rows done').waitFor();
    for (const { state } of [company, okta])
      expect(state.accepted.map(({ person }) => person)).toEqual(['ann.station', 'ben.station']);
    expect(await held()).not.toContain(PIN);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download as CSV' }).click(),
    ]);
    const parts: Buffer[] = [];
    for await (const part of await download.createReadStream()) parts.push(part as Buffer);
    const [header = '', ...rows] = Buffer.concat(parts).toString().trim().split('\r\n');
    expect(header).toMatch(/,provider:company,provider:okta$/);
    expect(rows.map(row => row.split(',').slice(-2).join(' '))).toEqual([
      'issued missing',
      'issued missing',
      'issued issued',
      'issued issued',
    ]);
    // The browser reports the refusal of the stand-in.
    expect(complaints).toEqual([expect.stringContaining('400 (Bad Request)')]);
    second.unplug();
    await context.close();
  });

  it('a PIN that is not entered, does not fit or is not there is explained in the language of the page, and the key continues', async () => {
    const { state, settings } = await startEntra();
    data(await daemon.call('POST', '/api/providers', { name: 'third', ...settings }));
    const { page, context, complaints } = await openTab({ place: 'station', locale: 'de-DE' });
    await page.locator('.stream.live').waitFor();
    const stage = page.locator('.stage');
    const decided = (word: string) => page.locator('.verdict').getByText(word, { exact: true }).waitFor();
    const field = dialog(page).getByLabel('PIN', { exact: true });
    const again = dialog(page).getByLabel('PIN wiederholen');
    await page.getByRole('group', { name: 'Anbieter' }).getByLabel('third').click();
    await page
      .getByLabel(/^Liste der Personen/)
      .setInputFiles({ name: 'people.csv', mimeType: 'text/csv', buffer: Buffer.from('userId\ncleo.station\n') });
    await stage.getByText('Stecken Sie einen Schlüssel für cleo.station ein.').waitFor();

    const one = key('STATION-3');
    const plug = async () => {
      // Two Enter in 300 ms are of a scanner, unless Esc is between them.
      await page.keyboard.press('Escape');
      one.plug();
      await decided('GUT');
      await page.keyboard.press('Enter');
    };
    // Enter belongs to a list of choices that has the focus.
    const choosePin = async (label: string) => {
      await page.getByLabel('PIN', { exact: true }).selectOption({ label });
      await page.locator('main h1').click();
    };
    const pull = async () => {
      one.unplug();
      await stage.locator('.events li').waitFor({ state: 'detached' });
    };
    await plug();
    await field.fill('12');
    await again.fill('12');
    await page.keyboard.press('Enter');
    await dialog(page).getByText('Die PIN dieses Schlüssels hat mindestens 4 Zeichen.').waitFor();
    await dialog(page).getByRole('button', { name: 'Abbrechen' }).click();
    await decided('FEHLER');
    await stage.getByText('Es wurde keine PIN eingegeben.').waitFor();

    await pull();
    await plug();
    await field.waitFor();
    one.unplug();
    await dialog(page).waitFor({ state: 'detached' });
    await decided('FEHLER');
    await stage.locator('.events li').waitFor({ state: 'detached' });

    await choosePin('Ein Schlüssel ohne PIN bleibt ohne PIN');
    await plug();
    await decided('FEHLER');
    await stage.getByText('Der Anbieter verlangt eine PIN, und der Schlüssel hat keine.').waitFor();

    await pull();
    await choosePin('Ein Schlüssel ohne PIN erhält eine');
    await plug();
    await field.fill(PIN);
    await again.fill(PIN);
    await page.keyboard.press('Enter');
    await decided('GEBUNDEN');
    expect([one.authenticator.isPin(PIN), state.accepted.map(({ person }) => person)]).toEqual([
      true,
      ['cleo.station'],
    ]);
    expect(complaints).toEqual([]);
    one.unplug();
    await context.close();
  });
});
