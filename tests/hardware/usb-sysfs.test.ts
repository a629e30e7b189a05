/** Parsing USB descriptors and what PC/SC reports about a reader. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseChannelId } from '../../drivers/pcsc/key-reader.ts';
import { parseReaderName } from '../../drivers/pcsc/reader-names.ts';
import { interfaceClasses } from '../../drivers/usb/sysfs.ts';
import { ccidReader } from '../lab/usb/ccid-reader.ts';

const bytes = (hex: string): Uint8Array => new Uint8Array(Buffer.from(hex.replaceAll(' ', ''), 'hex'));
const RUNS = { numRuns: 100_000 };

describe('the classes of a device', () => {
  test('are those of its interfaces, whatever other descriptors come between', () => {
    const { descriptor, configuration } = ccidReader('A');
    expect([...interfaceClasses(Uint8Array.of(...descriptor, ...configuration))]).toEqual([0x0b]);
    const composite = bytes('0902 2900 02 01 00 80 32  0904 00 00 01 03 00 00 00  0904 01 00 02 0b 00 00 00');
    expect([...interfaceClasses(composite)]).toEqual([3, 0x0b]);
  });

  test('do not include a descriptor that is cut off', () => {
    expect([...interfaceClasses(bytes('0904 00 00 01 03 00 00 00 0904 01'))]).toEqual([3]);
    expect([...interfaceClasses(bytes('00 04 00'))]).toEqual([]);
  });

  test('are parsed from any bytes without an error', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), given => interfaceClasses(given).size <= 256),
      RUNS,
    );
  });
});

describe("a reader's channel id", () => {
  test('is the bus and device number that lsusb shows', () => {
    expect(parseChannelId(bytes('07 03 20 00'))).toEqual({ bus: 3, address: 7 });
  });

  test('of another kind, or cut off, is not a location', () => {
    expect(parseChannelId(bytes('07 03 10 00'))).toBeNull();
    expect(parseChannelId(bytes('07 03'))).toBeNull();
  });

  test('is a location or none for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 16 }), given => {
        const location = parseChannelId(given);
        return location === null || (location.bus <= 255 && location.address <= 255);
      }),
      RUNS,
    );
  });
});

describe("a reader's name", () => {
  test('contains maker, product and the serial of the descriptor', () => {
    expect(parseReaderName('Nitrokey Nitrokey Start (FSIJ-1.2.19-87042524) 00 00')).toEqual({
      manufacturer: 'Nitrokey',
      product: 'Nitrokey Start',
      serial: 'FSIJ-1.2.19-87042524',
    });
    expect(parseReaderName('Yubico YubiKey CCID [CCID] 01 00')).toEqual({
      manufacturer: 'Yubico',
      product: 'YubiKey CCID',
      serial: null,
    });
  });

  test('of another form is the product', () => {
    expect(parseReaderName('Reader')).toEqual({ manufacturer: null, product: 'Reader', serial: null });
  });
});
