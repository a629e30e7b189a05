import { describe, expect, test } from 'vitest';
import { isSecurityKey, parseMatch } from '../../drivers/hid/known.ts';

const usage = { fido: [0xf1d0, 1], keyboard: [1, 6], mouse: [1, 2], vendor: [0xff00, 1] } as const;
const device = (ids: string, ...usages: (keyof typeof usage)[]) => {
  const [vendorId, productId] = ids.split(':') as [string, string];
  return { vendorId, productId, usages: usages.map(name => ({ usagePage: usage[name][0], usage: usage[name][1] })) };
};

describe('a HID device is a security key', () => {
  test.each([
    ['whoever made it, where it has the FIDO page', device('dead:beef', 'fido')],
    ['where a keyboard side stands beside the FIDO page', device('dead:beef', 'keyboard', 'fido')],
    ['as a YubiKey that shows its OTP side alone', device('1050:0010', 'keyboard')],
    ["as a bank key with a page of its maker's", device('096e:0850', 'vendor')],
  ])('%s', (_why, key) => {
    expect(isSecurityKey(key, [])).toBe(true);
  });

  test.each(['dead:beef', 'dead', '0xDEAD:0xBEEF', 'dead:*'])('where the settings name it: %s', match => {
    expect(isSecurityKey(device('dead:beef', 'vendor'), [parseMatch(match)])).toBe(true);
  });
});

describe('a HID device is no security key', () => {
  test.each([
    ['a keyboard', device('046d:c31c', 'keyboard')],
    ['a mouse', device('046d:c077', 'mouse')],
    ["a keyboard of a key maker's", device('096e:0001', 'keyboard')],
    ['an unknown device with a page of its own', device('dead:beef', 'vendor')],
    ['an unlisted product of Yubico', device('1050:9999', 'vendor')],
  ])('as %s', (_why, thing) => {
    expect(isSecurityKey(thing, [])).toBe(false);
  });

  test('as a keyboard whose whole vendor the settings name', () => {
    expect(isSecurityKey(device('046d:c31c', 'keyboard'), [parseMatch('046d')])).toBe(false);
  });
});

test.each(['', 'key', '12345', '096e:', '096e:08501', '096e-0850'])(
  'a setting that names no device is refused: %j',
  text => {
    expect(() => parseMatch(text)).toThrow(RangeError);
  },
);
