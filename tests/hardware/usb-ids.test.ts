/** The table of product ids, and which vendor commands each key may be sent. */
import { describe, expect, it } from 'vitest';
import { serialSourcesFor } from '../../drivers/protocols/key-sources.ts';
import { YUBIKEY, yubiKeysWith } from '../../drivers/usb/ids.ts';

describe("Yubico's product ids", () => {
  it('are those of ykman', () => {
    const ids = '0010 0110 0111 0112 0113 0114 0115 0116 0120 0401 0402 0403 0404 0405 0406 0407 0410'.split(' ');
    expect(Object.values(YUBIKEY).sort()).toEqual(ids);
  });

  it.each([
    ['OTP', '0010 0110 0111 0114 0116 0401 0403 0405 0407 0410'],
    ['FIDO', '0113 0114 0115 0116 0120 0402 0403 0406 0407 0410'],
    ['CCID', '0111 0112 0115 0116 0404 0405 0406 0407'],
  ] as const)('with %s switched on', (one, ids) => {
    expect(yubiKeysWith(one).sort()).toEqual(ids.split(' '));
  });
});

describe('a key may be asked', () => {
  const sources = (ids: string) => {
    const [vendorId, productId] = ids.split(':') as [string, string];
    return serialSourcesFor(vendorId, productId).map(({ name, over }) => `${name} ${over}`);
  };

  it.each([
    ['1050:0407', ['yubikey-management fido', 'yubikey-otp otp', 'yubikey-management card']],
    ['1050:0402', ['yubikey-management fido']],
    ['1050:0120', ['yubikey-management fido']],
    ['1050:0010', ['yubikey-otp otp']],
    ['1050:0404', ['yubikey-management card']],
    ['1050:0116', ['yubikey-otp otp', 'yubikey-management card']],
    ['1050:9999', []],
    ['20a0:42b2', ['trussed-uuid fido']],
    ['20a0:42f3', ['trussed-uuid fido']],
    ['1209:beee', ['trussed-uuid fido']],
    ['20a0:42b1', []],
    ['349e:0026', ['token2 card']],
    ['096e:0850', []],
    ['18d1:5026', []],
  ])('as %s with: %s', (ids, expected) => {
    expect(sources(ids)).toEqual(expected);
  });
});
