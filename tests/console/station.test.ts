/** The page Station with a real registry and simulated keys that are plugged in and unplugged. */
import type { Browser, CDPSession, Page, Route } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { createSimulatedDriver } from '../../drivers/simulated/index.ts';
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { needs } from '../support/needs.ts';
import { type ConsoleTab, openConsole, settled, startBrowser, tabTo, violationsOn } from './browser.ts';

const driver = createSimulatedDriver({ count: 0, now: Date.now });
vi.mock('../../daemon/hardware/drivers.ts', () => ({
  createDrivers: ({ role }: { role: string }) => (role === 'registry' ? [] : [driver]),
}));

let daemon: TestDaemon;
let browser: Browser;
/** Number of the last key that a test has used. Odd numbers are UKEYs. */
let number = 1;
const plug = () => {
  number += 2;
  return driver.attach(number);
};
const pull = (keyId?: string): Promise<void> => driver.detach(keyId);

/** The page, connected and ready for keys. */
async function openStation(options: Parameters<typeof openConsole>[2] = {}): Promise<ConsoleTab> {
  const tab = await openConsole(browser, daemon, { ...options, place: 'station' });
  await tab.page.locator('.stream.live').waitFor();
  await tab.page.locator('.stage').waitFor();
  return tab;
}

/** Keys of a keyboard with a time between them, which the system reports and no test waits for. */
async function press(page: Page, text: string, gapMs: number): Promise<void> {
  const session: CDPSession = await page.context().newCDPSession(page);
  pressedAt += 1;
  // Sent without a wait for the answers: on a busy machine they would take longer than the pauses of a scanner.
  const sent: Promise<unknown>[] = [];
  for (const character of text) {
    pressedAt += gapMs / 1000;
    const timestamp = pressedAt;
    const isEnter = character === '\r';
    const key = { key: isEnter ? 'Enter' : character, text: character, windowsVirtualKeyCode: isEnter ? 13 : 0 };
    sent.push(session.send('Input.dispatchKeyEvent', { type: 'keyDown', ...key, timestamp }));
    sent.push(session.send('Input.dispatchKeyEvent', { type: 'keyUp', key: key.key, timestamp }));
  }
  await Promise.all(sent);
  await session.detach();
}
/** Time of the last key of `press`, in seconds: a second lies before the next one. */
let pressedAt = Date.now() / 1000 + 60;
const scan = (page: Page, badge: string) => press(page, `${badge}\r`, 5);
const stage = (page: Page) => page.locator('.stage');
const said = (page: Page, text: string | RegExp) => stage(page).getByText(text).first().waitFor();
/** The large word. */
const decided = (page: Page, word: string) => page.locator('.verdict').getByText(word, { exact: true }).waitFor();
const call = async (page: Page, person: string) => {
  await page.locator('form.line input').fill(person);
  await page.keyboard.press('Enter');
  await page.locator('.who', { hasText: person }).waitFor();
};

const devices = async () => (await daemon.call('GET', '/api/devices/list?size=100')).data.list;
const deviceOf = async (serial: string | null) =>
  (await devices()).find((device: { serialNumber: string }) => device.serialNumber === serial) ?? null;
const head = async (): Promise<number> => (await daemon.call('GET', '/api/events')).data.head;

needs('chromium')('the page Station', () => {
  beforeAll(async () => {
    daemon = await startTestDaemon({ hardware: true });
    browser = await startBrowser();
  });
  afterEach(async () => {
    for (const { keyId } of [...driver.keys()]) await driver.detach(keyId);
    // A person who has a key gets no other one without a question.
    for (const { deviceId, status } of await devices())
      if (status === 'ACTIVE')
        await daemon.call('POST', `/api/devices/${deviceId}/lock`, { reason: 'the test is over' });
  });
  afterAll(async () => {
    await browser?.close();
    await daemon?.stop();
  });

  describe('a key', () => {
    it('is registered and activated when it is unplugged after a scan, and not before', async () => {
      const { page, context, complaints } = await openStation();
      await scan(page, 'alice');
      await said(page, 'Plug in a key for alice.');
      const { serialNumber } = await plug();
      await decided(page, 'PASS');
      await said(page, serialNumber!);
      expect(await deviceOf(serialNumber)).toBeNull();
      await pull();
      await decided(page, 'BOUND');
      expect(await deviceOf(serialNumber)).toMatchObject({ status: 'ACTIVE', userId: 'alice' });
      const { deviceId } = await deviceOf(serialNumber);
      expect(await page.getByRole('link', { name: deviceId }).getAttribute('href')).toBe(`#/devices/${deviceId}`);
      expect(await page.content()).not.toContain('Its activation code');
      expect(complaints).toEqual([]);
      await context.close();
    });

    it('is bound by keyboard alone: the field has the focus when the page opens, and again after each key', async () => {
      const { page, context, show } = await openStation();
      const field = page.locator('form.line input:focus');
      await field.waitFor();
      for (const person of ['alice', 'bob']) {
        await page.keyboard.type(person, { delay: 60 });
        await page.keyboard.press('Enter');
        await page.locator('.who', { hasText: person }).waitFor();
        await plug();
        await decided(page, 'PASS');
        await page.keyboard.press('Enter');
        await decided(page, 'BOUND');
        await field.waitFor();
        await pull();
      }
      await show('devices');
      await tabTo(page, page.getByRole('link', { name: 'Station', exact: true }));
      await page.keyboard.press('Enter');
      await field.waitFor();
      await context.close();
    });

    it('leaves no trace in registry and journal after Esc', async () => {
      const { page, context } = await openStation();
      await call(page, 'alice');
      const before = await head();
      const { serialNumber } = await plug();
      await decided(page, 'PASS');
      await page.keyboard.press('Escape');
      await said(page, /^Undone/);
      await pull();
      await said(page, 'Plug in a key for alice.');
      expect([await deviceOf(serialNumber), await head()]).toEqual([null, before]);
      await context.close();
    });

    it('is not bound while a second one is plugged in', async () => {
      const { page, context } = await openStation();
      await scan(page, 'alice');
      const before = await head();
      const first = await plug();
      await decided(page, 'PASS');
      const second = await plug();
      await decided(page, 'STOP');
      await page.keyboard.press('Enter');
      await page.keyboard.press('Escape');
      await decided(page, 'STOP');
      await pull(first.keyId);
      await decided(page, 'PASS');
      expect(await head()).toBe(before);
      await page.keyboard.press('Escape');
      await said(page, /^Undone/);
      await pull(second.keyId);
      await said(page, 'Plug in a key for alice.');
      expect(await head()).toBe(before);
      await context.close();
    });

    it('of another person is not bound, and the page explains why', async () => {
      const { page, context } = await openStation();
      const { serialNumber, deviceType } = await plug();
      await decided(page, 'WAIT');
      const body = { deviceType, serialNumber, manufacturer: '<img src=x onerror=alert(1)>', model: '1' };
      const { deviceId, activationCode } = (await daemon.call('POST', '/api/devices/register', body)).data;
      await daemon.call('POST', '/api/devices/activate', { deviceId, activationCode, userId: 'bob' });
      await pull();
      await call(page, 'alice');
      await driver.attach(number);
      await decided(page, 'FAIL');
      await said(page, /already registered and bound to another person/);
      await page.keyboard.press('Enter');
      await decided(page, 'FAIL');
      await pull();
      await said(page, 'alice still needs a key.');
      expect(await deviceOf(serialNumber)).toMatchObject({ userId: 'bob' });
      await context.close();
    });

    it('that is registered and inactive is activated for the person', async () => {
      const { page, context } = await openStation();
      const { serialNumber, deviceType } = await plug();
      const body = { deviceType, serialNumber, manufacturer: 'M', model: '1' };
      await daemon.call('POST', '/api/devices/register', body);
      await pull();
      await driver.attach(number);
      await call(page, 'carol');
      await decided(page, 'PASS');
      await page.keyboard.press('Enter');
      await decided(page, 'BOUND');
      expect(await deviceOf(serialNumber)).toMatchObject({ status: 'ACTIVE', userId: 'carol' });
      await context.close();
    });

    it('that does not prove what the policy requires is not bound, and the page names what is missing', async () => {
      const { page, context } = await openStation();
      const policy = { requiredGrade: 'unit', allowedAaguids: [], leastFirmware: [] };
      await daemon.call('PUT', '/api/policies/proof', policy);
      await call(page, 'alice');
      const { serialNumber } = await plug();
      await decided(page, 'FAIL');
      await said(page, /^The key does not prove what the registry requires: unit; found: none/);
      await page.getByRole('listitem').filter({ hasText: 'Proof' }).getByText('fail').waitFor();
      const leastFirmware = [{ version: '5.7.0' }];
      await daemon.call('PUT', '/api/policies/proof', { ...policy, requiredGrade: 'none', leastFirmware });
      await call(page, 'alice');
      await decided(page, 'PASS');
      await pull();
      await decided(page, 'FAIL');
      await said(page, /^The registry refuses the key\. proof \(least firmware\): /);
      expect(await deviceOf(serialNumber)).toBeNull();
      await daemon.call('PUT', '/api/policies/proof', { ...policy, requiredGrade: 'none' });
      await context.close();
    });

    it('is not bound after a loss of the connection, nor twice', async () => {
      const { page, context } = await openStation();
      await call(page, 'alice');
      await plug();
      await decided(page, 'PASS');
      const before = await head();
      await context.setOffline(true);
      await said(page, /^The connection was lost/);
      await pull();
      await context.setOffline(false);
      await page.locator('.stream.live').waitFor();
      await page.getByText('Plug in a key for alice.').waitFor();
      expect(await head()).toBe(before);
      await driver.attach(number);
      await decided(page, 'PASS');
      await context.setOffline(true);
      await page.locator('.stream.lost').waitFor();
      await context.setOffline(false);
      await page.locator('.stream.live').waitFor();
      await decided(page, 'WAIT');
      await pull();
      await said(page, 'Plug in a key for alice.');
      expect(await head()).toBe(before);
      await context.close();
    });

    it('whose binding got no answer is bound once, when the daemon answers again', async () => {
      const { page, context } = await openStation();
      await call(page, 'alice');
      const { serialNumber } = await plug();
      await decided(page, 'PASS');
      let lost = 0;
      // The daemon carries the first request out; its response does not arrive.
      await page.route('**/api/devices/register', async route => {
        const response = await route.fetch();
        if (lost++ === 0) await route.abort();
        else await route.fulfill({ response });
      });
      const before = await head();
      await pull();
      await decided(page, 'BOUND');
      const { list } = (await daemon.call('GET', `/api/events?after=${before}`)).data;
      expect(list.map(({ type }: { type: string }) => type)).toEqual(['DEVICE_REGISTERED', 'DEVICE_ACTIVATED']);
      expect(lost).toBe(2);
      expect(await deviceOf(serialNumber)).toMatchObject({ status: 'ACTIVE', userId: 'alice' });
      await context.close();
    });
  });

  it('shows the registration of a key that Enter has bound and that is still plugged in', async () => {
    const { serialNumber } = await plug();
    const { page, context } = await openStation();
    await said(page, serialNumber!);
    await call(page, 'erika');
    await decided(page, 'PASS');
    await stage(page).getByText('not registered').waitFor();
    await page.getByRole('button', { name: 'Bind (Enter)' }).click();
    await decided(page, 'BOUND');
    const { deviceId } = await deviceOf(serialNumber);
    await stage(page).getByRole('link', { name: deviceId }).waitFor();
    expect(await stage(page).getByText('not registered').count()).toBe(0);
    await pull();
    await context.close();
  });

  describe('the run', () => {
    const script = '**/station-*.js';

    it('is loaded again after a failure, and knows the key that is plugged in', async () => {
      const { serialNumber } = await plug();
      const { page, context, show } = await openConsole(browser, daemon, { place: 'activity' });
      await page.route(script, route => route.abort(), { times: 1 });
      await show('station');
      await page.getByText('could not be loaded').waitFor();
      await page.getByRole('button', { name: 'Try again' }).click();
      await said(page, serialNumber!);
      await call(page, 'alice');
      await decided(page, 'PASS');
      await pull();
      await decided(page, 'BOUND');
      expect(await deviceOf(serialNumber)).toMatchObject({ userId: 'alice' });
      await context.close();
    });

    it('does not show a key that was unplugged while it was being loaded', async () => {
      const { serialNumber } = await plug();
      const { page, context, show } = await openConsole(browser, daemon, { place: 'activity' });
      const asked = Promise.withResolvers<Route>();
      await page.route(script, route => asked.resolve(route));
      await show('station');
      const route = await asked.promise;
      await pull();
      await route.continue();
      await call(page, 'alice');
      await said(page, 'Plug in a key for alice.');
      await settled(page);
      expect(await stage(page).getByText(serialNumber!).count()).toBe(0);
      await said(page, 'Plug in a key for alice.');
      await context.close();
    });
  });

  describe('a scanner', () => {
    it('is recognized wherever the focus is, and its characters do not stay in a field', async () => {
      const { page, context } = await openStation();
      const field = page.getByRole('combobox');
      await field.fill('typed');
      await scan(page, 'dora');
      await page.locator('.who', { hasText: 'dora' }).waitFor();
      expect(await field.inputValue()).toBe('typed');
      await page.getByRole('checkbox', { name: 'Sound' }).focus();
      await scan(page, 'e f');
      await page.locator('.who', { hasText: 'e f' }).waitFor();
      expect(await page.getByRole('checkbox', { name: 'Sound' }).isChecked()).toBe(true);
      await context.close();
    });

    it('is not a person who types, to whom persons are offered', async () => {
      await daemon.call('POST', '/api/people', { userName: 'dora', name: 'Dora Doe' });
      const { page, context } = await openStation();
      await page.getByRole('combobox').focus();
      await press(page, 'dora', 80);
      expect(await page.getByRole('combobox').inputValue()).toBe('dora');
      await page.locator('option[value="dora"]').waitFor({ state: 'attached' });
      expect(await page.locator('.who').textContent()).toBe('Scan a badge or type a person');
      await page.getByRole('checkbox', { name: 'Sound' }).focus();
      await press(page, 'dora\r', 80);
      expect(await page.locator('.who').textContent()).toBe('Scan a badge or type a person');
      await context.close();
    });

    it('whose scan is cut binds nothing, by Enter or by unplugging, until the badge is scanned again', async () => {
      const { page, context } = await openStation();
      await upload(page, 'userId,name\nzoe,Zoe\np-1,\np-12,\n12,\n2,\n');
      await said(page, 'Plug in a key for Zoe.');
      const { serialNumber } = await plug();
      await decided(page, 'PASS');
      const before = await head();
      for (const [start, rest] of [
        ['p-1', '2\r'],
        ['p-', '12\r'],
        ['p-12', '\r'],
        ['p', '-1'],
      ]) {
        await press(page, start!, 60);
        await said(page, /^The scan was incomplete/);
        await press(page, rest!, 60);
        await page.keyboard.press('Enter');
        await decided(page, 'WAIT');
      }
      await pull();
      await stage(page)
        .getByText(/SIM-UKEY/)
        .waitFor({ state: 'detached' });
      expect(await head()).toBe(before);
      await press(page, 'p-12\r', 60);
      await said(page, 'Plug in a key for p-12.');
      await driver.attach(number);
      await decided(page, 'PASS');
      await page.keyboard.press('Enter');
      await decided(page, 'BOUND');
      expect(await deviceOf(serialNumber)).toMatchObject({ userId: 'p-12' });
      await context.close();
    });

    it('with an unknown badge of a roster binds nothing until a valid badge', async () => {
      const { page, context } = await openStation();
      await upload(page, 'userId,name\nzoe,Zoe\n');
      await said(page, 'Plug in a key for Zoe.');
      await scan(page, 'mallory');
      await said(page, /^mallory: No person has this user name/);
      await decided(page, 'WAIT');
      const before = await head();
      await plug();
      await said(page, /SIM-UKEY/);
      await pull();
      await stage(page)
        .getByText(/SIM-UKEY/)
        .waitFor({ state: 'detached' });
      await decided(page, 'WAIT');
      await scan(page, 'ZOE');
      await said(page, 'Plug in a key for Zoe.');
      expect(await head()).toBe(before);
      await context.close();
    });
  });

  const upload = (page: Page, content: string | Buffer) =>
    page
      .getByLabel(/^List of people/)
      .setInputFiles({ name: 'people.csv', mimeType: 'text/csv', buffer: Buffer.from(content as string) });

  describe('a roster', () => {
    it('is refused as a whole with the first invalid line', async () => {
      const { page, context } = await openStation();
      await upload(page, 'name\nAnn\nBen\nCleo\n');
      await page.getByText('No column has the user names.').waitFor();
      await upload(page, 'userId,count\nann,1\nben,0\n');
      await page.getByText('Line 3: count must be a whole number').waitFor();
      expect(await page.locator('.who').textContent()).toBe('Scan a badge or type a person');
      await context.close();
    });

    it('in the encoding of Excel is refused with its line, and read once the encoding is named', async () => {
      const { page, context } = await openStation();
      // userId, müller and möller in windows-1252.
      await upload(page, Buffer.from('7573657249640d0a6dfc6c6c65720d0a6df66c6c65720d0a', 'hex'));
      await page.getByText('Line 2: it is not valid UTF-8.').waitFor();
      expect(await page.locator('.who').textContent()).toBe('Scan a badge or type a person');
      await page.getByLabel('Encoding of the file').selectOption('windows-1252');
      await page.getByRole('button', { name: 'Read the file again' }).click();
      await said(page, 'Plug in a key for müller.');
      await page.getByText('0 of 2 rows done').waitFor();
      await context.close();
    });

    it('names the next person after each key, survives other pages and a reload, and its results can be downloaded', async () => {
      const { page, context, show } = await openStation();
      await upload(page, 'room,userId,name,type\n7,ann,Ann One,UKEY\n,ben,,\n,cleo,Cleo,\n');
      await page.getByText('Ignored columns: room.').waitFor();
      await said(page, 'Plug in a key for Ann One.');
      await driver.attach(number + 3);
      await said(page, 'The person needs a key of another type.');
      await pull();
      const { serialNumber } = await plug();
      await decided(page, 'PASS');
      await pull();
      await said(page, `${serialNumber} is bound to Ann One and active.`);
      await said(page, 'Plug in a key for ben.');
      await show('activity');
      await page.getByRole('heading', { name: 'Activity' }).waitFor();
      await show('station');
      await said(page, 'Plug in a key for ben.');
      await page.reload();
      await said(page, 'Plug in a key for ben.');
      await page.getByText('1 of 3 rows done').waitFor();
      await page.getByRole('button', { name: 'Skip this person' }).click();
      await said(page, 'Plug in a key for Cleo.');
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'Download as CSV' }).click(),
      ]);
      const lines = (await textOf(await download.createReadStream())).trim().split('\r\n');
      expect(lines[0]).toBe('at,result,userId,name,serialNumber,deviceType,deviceId,failure,message');
      expect(lines[1]).toMatch(/,failed,ann,Ann One,SIM-SIMKEY-\d+,SIMKEY,,wrong type,$/);
      expect(lines[2]).toMatch(new RegExp(`,bound,ann,Ann One,${serialNumber},UKEY,DEV-\\d+,,$`));
      await context.close();
    });
  });

  it('works by keyboard alone, and is heard', async () => {
    const { page, context } = await openConsole(browser, daemon, { place: 'activity' });
    // Text: the types of the browser are not those of this file.
    await page.addInitScript({
      content: `globalThis.heard = [];
        const { start } = OscillatorNode.prototype;
        OscillatorNode.prototype.start = function (at) {
          heard.push(this.frequency.value);
          start.call(this, at);
        };`,
    });
    await page.goto(`${daemon.url}/console/#/station`);
    await page.reload();
    await page.locator('.stream.live').waitFor();
    await stage(page).waitFor();
    // By the time that the system reports: keys whose distance depends on the load of the machine may count as a scan.
    const type = async () => {
      await tabTo(page, 'User name of the person');
      await press(page, 'fay\r', 200);
      await page.locator('.who', { hasText: 'fay' }).waitFor();
    };
    await type();
    const { serialNumber } = await plug();
    await decided(page, 'PASS');
    await tabTo(page, 'Bind (Enter)');
    await page.keyboard.press('Enter');
    await decided(page, 'BOUND');
    expect(await deviceOf(serialNumber)).toMatchObject({ userId: 'fay' });
    const heard = () => page.evaluate('heard');
    expect(await heard()).toEqual([880, 880]);
    await tabTo(page, page.getByLabel('Sound'));
    await page.keyboard.press('Space');
    await pull();
    await stage(page).locator('.events li').waitFor({ state: 'detached' });
    await type();
    await driver.attach(number);
    await said(page, 'This key was already bound in this run. Use another key.');
    expect(await heard()).toEqual([880, 880]);
    await context.close();
  });

  it('speaks German', async () => {
    const { page, context } = await openStation({ locale: 'de-DE' });
    await page.getByRole('heading', { name: 'Arbeitsplatz' }).waitFor();
    await page
      .getByLabel(/^Liste der Personen/)
      .setInputFiles({ name: 'people.csv', mimeType: 'text/csv', buffer: Buffer.from('name\nAnn\n') });
    await page.getByText('Keine Spalte enthält die Benutzernamen. Nennen Sie sie in der Datei userId.').waitFor();
    await context.close();
  });

  it('does not let a VIEWER enroll', async () => {
    const { token } = await daemon.user('vera', 'VIEWER');
    const { page, context } = await openConsole(browser, daemon, { token, place: 'station' });
    await page.getByText('With your role, you can view this page').waitFor();
    expect(await page.locator('.stage').count()).toBe(0);
    await context.close();
  });

  it('names the command of a station where the daemon does not look for keys', async () => {
    const registry = await startTestDaemon({ role: 'registry' });
    const { page, context } = await openConsole(browser, registry, { place: 'station' });
    await page.getByText(`devmgr enroll --server ${registry.url} --roster people.csv`).waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await context.close();
    await registry.stop();
  });

  it.each(['light', 'dark'] as const)('is accessible in %s colors', async colorScheme => {
    const { page, context, complaints } = await openStation({ colorScheme });
    expect(await violationsOn(page)).toEqual([]);
    await upload(page, 'userId,name,count\nann,Ann One,2\nben,,1\n');
    await said(page, 'Plug in a key for Ann One.');
    await plug();
    await decided(page, 'PASS');
    expect(await violationsOn(page)).toEqual([]);
    const second = await plug();
    await decided(page, 'STOP');
    expect(await violationsOn(page)).toEqual([]);
    await pull(second.keyId);
    await decided(page, 'PASS');
    await pull();
    await decided(page, 'BOUND');
    await driver.attach(number - 2);
    await decided(page, 'FAIL');
    expect(await violationsOn(page)).toEqual([]);
    expect(complaints).toEqual([]);
    await context.close();
  });
});

async function textOf(stream: AsyncIterable<Buffer>): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(part);
  return Buffer.concat(parts).toString();
}
