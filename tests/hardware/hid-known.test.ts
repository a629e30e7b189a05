import { describe, expect, test } from 'vitest';
import { isSecurityKey, parseMatch } from '../../drivers/hid/known.ts';

const usage = { fido: [0xf1d0, 1], keyboard: [1, 6], mouse: [1, 2], vendor: [0xff00, 1] } as const;
const device = (ids: string, ...usages: (keyof typeof usage)[]) => {
  const [vendorId, productId] = ids.split(':') as [string, string];
  return { vendorId, productId, usages: usages.map(name => ({ usagePage: usage[name][0], usage: usage[name][1] })) };
};

describe('a HID device is a security key', () => {
  test.each([
    ['of any maker with the FIDO usage page', device('dead:beef', 'fido')],
    ['with a keyboard interface beside the FIDO interface', device('dead:beef', 'keyboard', 'fido')],
    ['as a YubiKey with only its OTP interface', device('1050:0010', 'keyboard')],
    ['as a bank key with a usage page of its maker', device('096e:0850', 'vendor')],
  ])('%s', (_why, key) => {
    expect(isSecurityKey(key, [])).toBe(true);
  });

  test.each(['dead:beef', 'dead', '0xDEAD:0xBEEF', 'dead:*'])('if the settings name it: %s', match => {
    expect(isSecurityKey(device('dead:beef', 'vendor'), [parseMatch(match)])).toBe(true);
  });
});

describe('a HID device is not a security key', () => {
  test.each([
    ['a keyboard', device('046d:c31c', 'keyboard')],
    ['a mouse', device('046d:c077', 'mouse')],
    ['a keyboard of a maker of keys', device('096e:0001', 'keyboard')],
    ['an unknown device with a vendor usage page', device('dead:beef', 'vendor')],
    ['an unlisted product of Yubico', device('1050:9999', 'vendor')],
  ])('as %s', (_why, thing) => {
    expect(isSecurityKey(thing, [])).toBe(false);
  });

  test('as a keyboard of a vendor that the settings name', () => {
    expect(isSecurityKey(device('046d:c31c', 'keyboard'), [parseMatch('046d')])).toBe(false);
  });
});

test.each(['', 'key', '12345', '096e:', '096e:08501', '096e-0850'])(
  'a setting that is not a USB id is rejected: %j',
  text => {
    expect(() => parseMatch(text)).toThrow(RangeError);
  },
);
