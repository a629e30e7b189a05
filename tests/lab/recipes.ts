/** The keys the lab has, each with the bytes its like answers with. */
import { FakeCtapKey, FakeOtpKey } from '../support/fake-ukey.ts';
import { token2Card, yubiKeyCard } from '../support/vcard-programs.ts';
import type { UsbDevice } from './usb/device.ts';
import { hidKey, type Side } from './usb/hid-key.ts';

export interface KeyOrder {
  readonly recipe: keyof typeof RECIPES;
  /** Of the USB descriptor; the recipes with a protocol of their own ignore it where the real key has none. */
  readonly serial?: string | null;
  /** What its own protocol tells, hex; that of the recipe where left out. */
  readonly told?: string;
  /** Hex; those of the recipe where left out. */
  readonly vendorId?: string;
  readonly productId?: string;
  readonly product?: string;
}

const SERIAL_12345678 = '00bc614e';
const UUID = 'a1b2c3d4e5f60718293a4b5c6d7e8f90';

const management = (serial: string, formFactor: string, version: string): string => {
  const values = `${serial}0401${formFactor}0503${version}`;
  return (values.length / 2).toString(16).padStart(2, '0') + values;
};

interface Recipe {
  readonly ids: readonly [string, string];
  readonly maker: string;
  readonly product: string;
  readonly release: number;
  readonly sides: (told?: string) => readonly Side[];
}

const RECIPES = {
  /** Serial in the descriptor alone. */
  plain: {
    ids: ['096e', '0850'],
    maker: 'Feitian',
    product: 'ePass',
    release: 0x0100,
    sides: () => [{ kind: 'fido', key: null }],
  },
  /** A bank key: a page of its maker's, no FIDO. */
  bank: {
    ids: ['055c', 'db08'],
    maker: 'Longmai',
    product: 'mToken',
    release: 0x0100,
    sides: () => [{ kind: 'vendor' }],
  },
  yubikey5: {
    ids: ['1050', '0407'],
    maker: 'Yubico',
    product: 'YubiKey OTP+FIDO+CCID',
    release: 0x0543,
    sides: (serial = SERIAL_12345678) => [
      { kind: 'otp', key: new FakeOtpKey('050403', `${serial}c804`) },
      { kind: 'fido', key: new FakeCtapKey([5, 4, 3], { 66: management(`0204${serial}`, '03', '050403') }) },
      { kind: 'card', program: yubiKeyCard({ serial: serial.toUpperCase(), version: '050403' }) },
    ],
  },
  otpOnlyYubikey: {
    ids: ['1050', '0010'],
    maker: 'Yubico',
    product: 'Yubikey 2',
    release: 0x0231,
    sides: () => [{ kind: 'otp', key: new FakeOtpKey('020301', `${SERIAL_12345678}c804`) }],
  },
  securityKey: {
    ids: ['1050', '0402'],
    maker: 'Yubico',
    product: 'Security Key by Yubico',
    release: 0x0543,
    sides: () => [{ kind: 'fido', key: new FakeCtapKey([5, 4, 3], { 66: management('', '41', '050403') }) }],
  },
  nitrokey3: {
    ids: ['20a0', '42b2'],
    maker: 'Nitrokey',
    product: 'Nitrokey 3',
    release: 0x0107,
    sides: (uuid = UUID) => [
      {
        kind: 'fido',
        key: new FakeCtapKey([4, 1, 7], {
          98: uuid,
          // 1.7.2 as ten, sixteen and six bits
          97: ((1 << 22) | (7 << 6) | 2).toString(16).padStart(8, '0'),
        }),
      },
    ],
  },
  /** Tells its serial on its smart card side alone. */
  token2: {
    ids: ['349e', '0026'],
    maker: 'Token2',
    product: 'FIDO2 Security Key',
    release: 0x0100,
    sides: () => [
      { kind: 'fido', key: null },
      { kind: 'card', program: token2Card({ serial: '8673412345' }) },
    ],
  },
  /** Set to show its smart card side and nothing else. */
  ccidYubikey: {
    ids: ['1050', '0404'],
    maker: 'Yubico',
    product: 'YubiKey CCID',
    release: 0x0543,
    sides: () => [{ kind: 'card', program: yubiKeyCard({ serial: SERIAL_12345678.toUpperCase(), version: '050403' }) }],
  },
  /** A YubiKey that takes every report and says nothing. */
  silentYubikey: {
    ids: ['1050', '0402'],
    maker: 'Yubico',
    product: 'YubiKey FIDO',
    release: 0x0543,
    sides: () => [{ kind: 'fido', key: null }],
  },
} as const satisfies Record<string, Recipe>;

export function make(order: KeyOrder): UsbDevice {
  const recipe: Recipe = RECIPES[order.recipe];
  return hidKey(
    {
      vendorId: Number.parseInt(order.vendorId ?? recipe.ids[0], 16),
      productId: Number.parseInt(order.productId ?? recipe.ids[1], 16),
      release: recipe.release,
      manufacturer: recipe.maker,
      product: order.product ?? recipe.product,
      serial: order.serial ?? null,
    },
    recipe.sides(order.told),
  );
}
