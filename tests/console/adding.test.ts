/** Adding a device in the console, by typing and from a simulated key at the machine of the daemon. */
import { expect, it, vi } from 'vitest';
import { createSimulatedDriver } from '../../drivers/simulated/index.ts';
import { data, freshSerial, register } from '../support/fleet.ts';
import { needs } from '../support/needs.ts';
import { armed, button, consoleTests, dialog, tabTo, violationsOn } from './browser.ts';

const driver = createSimulatedDriver({ count: 0, now: Date.now });
vi.mock('../../daemon/hardware/drivers.ts', () => ({
  createDrivers: ({ role }: { role: string }) => (role === 'registry' ? [] : [driver]),
}));

needs('chromium')('adding a device in the console', () => {
  const { daemon, openTab } = consoleTests({ hardware: true });
  const withSerial = async (serial: string) =>
    data(await daemon.call('GET', `/api/devices/list?serialNumber=${serial}`)).list[0];

  it('registers what is typed, by keyboard alone, and shows the activation code to those who ask', async () => {
    const serial = freshSerial('ADD');
    const { page, complaints, context } = await openTab({ place: 'devices' });
    await button(page, 'Add device …').first().waitFor();
    await tabTo(page, 'Add device …');
    await page.keyboard.press('Enter');
    await dialog(page).getByLabel('Serial number').waitFor();
    for (const [name, value] of [
      ['Serial number', serial],
      ['Manufacturer', 'Feitian'],
      ['Model', 'ePass K9'],
      ['Firmware version (optional)', '1.0.4'],
      ['Tags, one per line, such as lot:7 (optional)', 'lot:7\nshelf:b-12'],
    ] as const) {
      await tabTo(page, name);
      await page.keyboard.type(value);
    }
    await armed(page);
    await tabTo(page, 'Add');
    await page.keyboard.press('Enter');
    await dialog(page).getByText(serial).waitFor();
    const { deviceId, activationCode } = await withSerial(serial);
    await page.getByRole('heading', { name: `${deviceId} was added` }).waitFor();
    expect(await page.content()).not.toContain(activationCode);
    await tabTo(page, 'Show code');
    await page.keyboard.press('Enter');
    await dialog(page).getByText(activationCode).waitFor();
    expect(await violationsOn(page, { part: 'dialog[open]' })).toEqual([]);
    expect(data(await daemon.call('GET', `/api/devices/${deviceId}`))).toMatchObject({
      manufacturer: 'Feitian',
      model: 'ePass K9',
      hardwareVersion: null,
      firmwareVersion: '1.0.4',
      tags: { lot: '7', shelf: 'b-12' },
    });
    await tabTo(page, 'Add another');
    await page.keyboard.press('Enter');
    await expect.poll(() => dialog(page).getByLabel('Serial number').inputValue()).toBe('');
    expect(await page.content()).not.toContain(activationCode);
    await page.keyboard.press('Escape');
    await dialog(page).waitFor({ state: 'detached' });
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('names what the contract or the registry refuses, and keeps what was typed', async () => {
    const { serialNumber } = await register(daemon);
    const { page, context } = await openTab({ place: 'devices' });
    await button(page, 'Add device …').click();
    await dialog(page).getByLabel('Serial number').fill(serialNumber);
    await dialog(page).getByLabel('Manufacturer').fill('Feitian');
    await dialog(page).getByLabel('Model').fill('ePass K9');
    await dialog(page).getByLabel(/^Tags/).fill('Not a tag');
    await armed(page);
    await button(page, /^Add$/).click();
    await dialog(page).getByRole('alert').getByText(/tags/).waitFor();
    await dialog(page).getByLabel(/^Tags/).fill('');
    await button(page, /^Add$/).click();
    await dialog(page)
      .getByRole('alert')
      .getByText(/already/)
      .waitFor();
    expect(await dialog(page).getByLabel('Serial number').inputValue()).toBe(serialNumber);
    // It is registered and not active: its code is shown, and why.
    await page.route('**/api/devices/activate', route => route.abort());
    await dialog(page).getByLabel('Serial number').fill(freshSerial('ADD'));
    await dialog(page).getByLabel('Person').fill('someone');
    await button(page, /^Add$/).click();
    await dialog(page).getByRole('alert').getByText('does not respond').waitFor();
    await button(page, 'Show code').waitFor();
    await context.close();
  });

  it('takes a key that is plugged into the machine of the daemon, and activates it for a person who is offered', async () => {
    data(await daemon.call('POST', '/api/people', { userName: 'adding.person', name: 'Ida Adding' }));
    const { page, context } = await openTab({ place: 'devices' });
    await button(page, 'Add device …').click();
    await page.getByText('To choose a new key here, plug it into the machine').waitFor();
    const { keyId, serialNumber } = await driver.attach(41);
    await dialog(page).getByLabel('Key at the machine of the daemon').selectOption(keyId);
    expect(await dialog(page).getByLabel('Serial number').inputValue()).toBe(serialNumber);
    await dialog(page).getByLabel('Person').fill('ida');
    await dialog(page).locator('option[value="adding.person"]').waitFor({ state: 'attached' });
    await dialog(page).getByLabel('Person').fill('adding.person');
    await armed(page);
    await button(page, /^Add$/).click();
    await dialog(page).getByText('Activated for adding.person.').waitFor();
    expect(await withSerial(serialNumber!)).toMatchObject({ status: 'ACTIVE', userId: 'adding.person' });
    await driver.detach(keyId);
    await context.close();
  });

  it('is not offered to a VIEWER', async () => {
    const { token } = await daemon.user('adding-viewer', 'VIEWER');
    const { page, context } = await openTab({ place: 'devices', token });
    await page.getByRole('table').waitFor();
    expect(await button(page, 'Add device …').count()).toBe(0);
    await context.close();
  });
});
