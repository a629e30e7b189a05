/** The fields of providers, as they are stored and sealed. */
import { expect, it } from 'vitest';
import { providerBinding } from '../../daemon/issuing/provider.ts';
import { forEachProviderSetting, neededOf, providerSettings } from '../../src/contract/provider-fields.ts';

it('a secret is bound to the fields that earlier versions have sealed it for, also if they are null', () => {
  const settings = { ...forEachProviderSetting(providerSettings, () => null), address: 'https://example.okta.com' };
  expect(providerBinding({ number: 7, type: 'okta', ...settings })).toEqual({
    subject: 7,
    place: '["okta",null,null,"https://example.okta.com",null,null,null]',
  });
});

it('what a type needs is one sentence', () => {
  expect(neededOf('okta', setting => setting)).toBe('okta needs address');
  expect(neededOf('webauthn', setting => `<${setting}>`)).toBe(
    'webauthn needs <address>, <finishAddress> and <removeAddress>',
  );
});
