/** The page Station and a key that reports no serial number: its printed number, its credential, and its recognition. */
import type { Page } from 'playwright-core';
import { expect, it, vi } from 'vitest';
import type { FakeHid } from '../support/fake-hid.ts';
import { FidoKey } from '../support/fido-key.ts';
import { needs } from '../support/needs.ts';
import { authenticatorRoot, TestAuthenticator } from '../support/test-authenticator.ts';
import { consoleTests } from './browser.ts';

const system = (await vi.hoisted(async () => {
  const { FakeHid } = await import('../support/fake-hid.ts');
  return new FakeHid();
})) as FakeHid;
vi.mock('../../daemon/hardware/drivers.ts', async () => {
  const { createHidDriver } = await import('../../drivers/hid/index.ts');
  return { createDrivers: () => [createHidDriver({ system })] };
});

const root = authenticatorRoot('Test root of the station page');
const newKey = () => new TestAuthenticator({ root, aaguid: '6d44ba9b-f6ec-2e49-b930-0c8fe920cb73' });

async function call(page: Page, person: string): Promise<void> {
  await page.locator('form.line input').fill(person);
  await page.keyboard.press('Enter');
  await page.locator('.who', { hasText: person }).waitFor();
}

needs('chromium')('the page Station and a key without a serial number', () => {
  const { daemon, openTab } = consoleTests({ hardware: true });

  it('asks twice for the printed number, binds the key when it is unplugged, recognizes it from then on, and no other key with its number', async () => {
    const { page, complaints } = await openTab({ place: 'station' });
    await page.locator('.stream.live').waitFor();
    await call(page, 'alice');
    const [authenticator, other] = [newKey(), newKey()];
    const plug = () =>
      system.plug({ serial: null, interfaces: { fido: new FidoKey({ authenticator, touched: true }) } });
    const address = plug();
    const number = async (label: string, text: string) => {
      await page.getByLabel(label).fill(text);
      await page.getByRole('button', { name: 'Use this number' }).click();
    };
    await number('Number printed on the key', 'SK-0050');
    await number('The same number again', 'SK-0051');
    await number('Number printed on the key', 'SK-0050');
    await number('The same number again', 'SK-0050');
    await page.locator('.verdict').getByText('PASS', { exact: true }).waitFor();
    system.unplug(address);
    await page.locator('.verdict').getByText('BOUND', { exact: true }).waitFor();
    const { list } = (await daemon.call('GET', '/api/devices/list?serialNumber=SK-0050')).data;
    expect(list).toMatchObject([{ status: 'ACTIVE', userId: 'alice' }]);
    const { data: detail } = await daemon.call('GET', `/api/devices/${list[0].deviceId}`);
    expect(detail).toMatchObject({ identity: 'credential' });
    const again = plug();
    await page.locator('.stage').getByText('SK-0050').first().waitFor();
    const attached = async () => (await daemon.call('GET', '/api/hardware/keys')).data.list[0];
    await expect.poll(attached).toMatchObject({ serialNumber: 'SK-0050', serialSource: 'credential' });
    system.unplug(again);
    await expect.poll(attached).toBeUndefined();
    await call(page, 'bob');
    system.plug({ serial: 'SK-0050', interfaces: { fido: new FidoKey({ authenticator: other, touched: true }) } });
    await page.locator('.verdict').getByText('FAIL', { exact: true }).waitFor();
    await page.locator('.stage').getByText(`${list[0].deviceId}: credential`).first().waitFor();
    // The daemon cannot name the key that was unplugged when it was bound.
    expect(complaints.filter(one => !one.includes('404'))).toEqual([]);
  });
});
