/** The page of people with the role HOLDER, in a real browser, after a sign-in at a real provider. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { data } from '../support/fleet.ts';
import { heldDevice } from '../support/holder.ts';
import { needs } from '../support/needs.ts';
import { type SsoProvider, setUp, startSsoProvider } from '../support/sso-provider.ts';
import { armed, button, consoleTests, dialog, settled, violationsOn } from './browser.ts';

const phone = { width: 360, height: 740 };
const words = {
  'en-US': {
    signIn: 'Sign in with Example',
    title: 'My keys',
    lost: 'I lost it',
    reason: 'What happened?',
    history: 'History',
  },
  'de-DE': {
    signIn: 'Mit Example anmelden',
    title: 'Meine Schlüssel',
    lost: 'Ich habe ihn verloren',
    reason: 'Was ist passiert?',
    history: 'Verlauf',
  },
} as const;

needs('chromium')('the page of own keys', () => {
  const { daemon, openTab } = consoleTests();
  let provider: SsoProvider;
  let local: string;
  beforeAll(async () => {
    local = daemon.url.replace('127.0.0.1', 'localhost');
    provider = await startSsoProvider({ daemons: [daemon.url, local] });
    await setUp(daemon, provider, { name: 'Example', holders: true });
    for (const name of ['ada', 'bob']) {
      data(await daemon.call('POST', '/api/people', { userName: name }));
      provider.people.set(`s-${name}`, { name, groups: [] });
    }
  });
  afterAll(() => provider?.stop());

  const signInAs = async (page: Awaited<ReturnType<typeof openTab>>['page'], sub: string, name: string) => {
    await button(page, name).click();
    await page.locator('input[name=login]').fill(sub);
    await page.locator('input[name=password]').fill('any');
    await button(page, 'Sign-in').click();
  };
  const events = async (deviceId: string) =>
    data(await daemon.call('GET', `/api/events?deviceId=${deviceId}`)).list.map(({ type }: { type: string }) => type);

  it.each(['en-US', 'de-DE'] as const)(
    'shows own keys and nothing else on a phone, and locks a lost one: %s',
    async locale => {
      const { deviceId, serialNumber } = await heldDevice(daemon, 'ada');
      const others = await heldDevice(daemon, 'bob');
      const { page, context, requested, complaints } = await openTab({
        token: null,
        locale,
        viewport: phone,
        place: 'devices',
      });
      const say = words[locale];
      await signInAs(page, 's-ada', say.signIn);
      await page.getByRole('heading', { name: say.title }).waitFor();
      const key = page.locator('section').filter({ hasText: serialNumber });
      await key.waitFor();
      await settled(page);
      expect(await page.getByRole('navigation').count()).toBe(0);
      await page.keyboard.press('Control+k');
      expect(await page.locator('.palette').count()).toBe(0);
      expect(await page.content()).not.toContain(others.serialNumber);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(phone.width);
      expect(await violationsOn(page)).toEqual([]);
      await key.getByText(say.history).click();
      await key.locator('li').first().waitFor();
      await key.getByRole('button', { name: say.lost }).press('Enter');
      await dialog(page).getByLabel(say.reason).fill('left on a train');
      await armed(page);
      await dialog(page).getByRole('button', { name: say.lost }).press('Enter');
      await key.locator('.badge.LOCKED').waitFor();
      expect(await key.getByRole('button', { name: say.lost }).count()).toBe(0);
      expect((await events(deviceId)).slice(-2)).toEqual(['DEVICE_LOCKED', 'DEVICE_LOST']);
      // The session continues after a reload, and asks for nothing but own keys.
      await page.reload();
      await page.getByRole('heading', { name: say.title }).waitFor();
      await settled(page);
      const asked = requested.filter(url => url.includes('/api/')).map(url => new URL(url).pathname);
      expect(asked.filter(path => !/^\/api\/(me\/devices|auth\/(sso|exchange)|sso|health)/.test(path))).toEqual([]);
      expect(complaints.filter(text => !text.includes('ERR_NAME_NOT_RESOLVED'))).toEqual([]);
      await context.close();
    },
  );

  it('names the service desk if the browser cannot ask the key', async () => {
    const { deviceId, serialNumber } = await heldDevice(daemon, 'bob');
    data(await daemon.call('POST', `/api/devices/${deviceId}/shipped`));
    const { page, context } = await openTab({ token: null });
    await signInAs(page, 's-bob', 'Sign in with Example');
    const shown = page.locator('section').filter({ hasText: serialNumber });
    await shown.getByRole('button', { name: 'I have it' }).click();
    await page.getByText('Go to the service desk').waitFor();
    await context.close();
  });
});
