/** What is read of a USB device's descriptors. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { partsOfName } from '../../drivers/pcsc/key-names.ts';
import { placeOf } from '../../drivers/pcsc/key-reader.ts';
import { interfaceClasses } from '../../drivers/usb/sysfs.ts';
import { ccidReader } from '../lab/usb/ccid-reader.ts';

const bytes = (hex: string): Uint8Array => new Uint8Array(Buffer.from(hex.replaceAll(' ', ''), 'hex'));
const often = { numRuns: 100_000 };

describe('the classes of a device', () => {
  test('are those of its interfaces, whatever else stands between them', () => {
    const { descriptor, configuration } = ccidReader('A');
    expect([...interfaceClasses(Uint8Array.of(...descriptor, ...configuration))]).toEqual([0x0b]);
    const composite = bytes('0902 2900 02 01 00 80 32  0904 00 00 01 03 00 00 00  0904 01 00 02 0b 00 00 00');
    expect([...interfaceClasses(composite)]).toEqual([3, 0x0b]);
  });

  test('that are cut short are left out', () => {
    expect([...interfaceClasses(bytes('0904 00 00 01 03 00 00 00 0904 01'))]).toEqual([3]);
    expect([...interfaceClasses(bytes('00 04 00'))]).toEqual([]);
  });

  test('come out of any bytes without an error and without end', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), given => interfaceClasses(given).size <= 256),
      often,
    );
  });
});

describe("a reader's channel", () => {
  test('is the place on the USB bus that lsusb shows', () => {
    expect(placeOf(bytes('07 03 20 00'))).toEqual({ bus: 3, address: 7 });
  });

  test('of another kind, or cut short, tells no place', () => {
    expect(placeOf(bytes('07 03 10 00'))).toBeNull();
    expect(placeOf(bytes('07 03'))).toBeNull();
  });

  test('tells a place or none, whatever the bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 16 }), given => {
        const place = placeOf(given);
        return place === null || (place.bus <= 255 && place.address <= 255);
      }),
      often,
    );
  });
});

describe("a reader's name", () => {
  test('holds maker, product and the serial of the descriptor', () => {
    expect(partsOfName('Nitrokey Nitrokey Start (FSIJ-1.2.19-87042524) 00 00')).toEqual({
      manufacturer: 'Nitrokey',
      product: 'Nitrokey Start',
      serial: 'FSIJ-1.2.19-87042524',
    });
    expect(partsOfName('Yubico YubiKey CCID [CCID] 01 00')).toEqual({
      manufacturer: 'Yubico',
      product: 'YubiKey CCID',
      serial: null,
    });
  });

  test('of another shape is the product', () => {
    expect(partsOfName('Reader')).toEqual({ manufacturer: null, product: 'Reader', serial: null });
  });
});
