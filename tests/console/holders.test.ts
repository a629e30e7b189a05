/** The page of people with the role HOLDER, in a real browser, after a sign-in at a real provider. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { data } from '../support/fleet.ts';
import { heldDevice } from '../support/holder.ts';
import { needs } from '../support/needs.ts';
import { Browser, type SsoProvider, setUp, startSsoProvider } from '../support/sso-provider.ts';
import { armed, button, consoleTests, dialog, plugSecurityKey, settled, violationsOn } from './browser.ts';

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

  it('confirms with a touch in the browser that a key has arrived', async () => {
    const account = (await new Browser().signIn(daemon, 's-bob')).user!;
    const { deviceId } = await heldDevice(daemon, 'bob');
    const accounts = { name: 'accounts', type: 'devmgr', address: local };
    const { providerId } = data(await daemon.call('POST', '/api/providers', accounts));
    const { page, context } = await openTab({ token: null, host: 'localhost' });
    await signInAs(page, 's-bob', 'Sign in with Example');
    await page.getByRole('heading', { name: 'My keys' }).waitFor();
    const key = await plugSecurityKey(page);
    const begun = data(await daemon.call('POST', `/api/devices/${deviceId}/credentials`, { providerId }));
    const response = await page.evaluate(
      async options => {
        const { PublicKeyCredential, navigator } = globalThis as never as {
          PublicKeyCredential: { parseCreationOptionsFromJSON(json: unknown): unknown };
          navigator: { credentials: { create(options: object): Promise<{ toJSON(): object }> } };
        };
        const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
        return (await navigator.credentials.create({ publicKey })).toJSON();
        // As keys of today: receipts are not signed with ML-DSA, which the virtual key of Chromium would choose.
      },
      { ...begun.options, pubKeyCredParams: [{ type: 'public-key', alg: -7 }] },
    );
    data(await daemon.call('POST', `/api/devices/${deviceId}/credentials/${begun.credentialId}`, { response }));
    expect(data(await daemon.call('GET', `/api/users/${account.id}/passkeys/list`)).list).toHaveLength(1);
    data(await daemon.call('POST', `/api/devices/${deviceId}/shipped`));
    await page.reload();
    const shown = page.locator('section').filter({ hasText: 'When you have it' });
    await shown.getByText('accounts').waitFor();
    await shown.getByRole('button', { name: 'I have it' }).press('Enter');
    await page.getByText(`The arrival of ${deviceId} is confirmed.`).or(page.getByRole('alert')).waitFor();
    expect(await page.getByRole('alert').allTextContents()).toEqual([]);
    const detail = data(await daemon.call('GET', `/api/devices/${deviceId}`));
    expect(detail.receivedAt).not.toBeNull();
    const [{ receiptId }] = data(await daemon.call('GET', `/api/receipts/list?deviceId=${deviceId}`)).list;
    const receipt = data(await daemon.call('GET', `/api/receipts/${receiptId}`));
    expect(receipt).toMatchObject({
      relyingParty: 'localhost',
      person: 'bob',
      proof: { clientData: expect.any(String) },
    });
    expect(await key.credentials()).toBe(1);
    // Later, the key alone opens the page.
    await page.evaluate('sessionStorage.clear()');
    await page.goto(local);
    await button(page, 'Sign in with a security key').click();
    await page.getByRole('heading', { name: 'My keys' }).waitFor();
    await page.locator('section').filter({ hasText: 'It works.' }).first().waitFor();
    await context.close();
  });

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
