/** The models of keys in the lab, each with the bytes that a real one answers with. */
import { FakeCtapKey, FakeOtpKey } from '../support/fake-ukey.ts';
import { FidoKey } from '../support/fido-key.ts';
import { IssuableAuthenticator } from '../support/issuable-authenticator.ts';
import { authenticatorRoot, TestAuthenticator } from '../support/test-authenticator.ts';
import { cardRoot } from '../support/test-scp11b-card.ts';
import { token2Card, yubiKeyCard } from '../support/vcard-programs.ts';
import { yubiKey574 } from '../support/yubikey-574.ts';
import { hidKey, type KeyInterface } from './usb/hid-key.ts';
import type { UsbDevice } from './usb/usb-device.ts';

/** A key to plug in. */
export interface KeySpec {
  readonly model: keyof typeof MODELS;
  /** Serial of the USB descriptor. Default: none. */
  readonly serial?: string | null;
  /** The serial in its own protocol, in hex. Default: that of the model. */
  readonly ownSerial?: string;
  /** In hex. Default: those of the model. */
  readonly vendorId?: string;
  readonly productId?: string;
  readonly product?: string;
}

/** The roots of the keys that can prove what they are. */
const ROOTS = { scp11b: cardRoot(), fido: authenticatorRoot() } as const;
export type RootName = keyof typeof ROOTS;

/** The certificate of a root in DER. */
export const rootCertificate = (name: RootName): Uint8Array => ROOTS[name].der;

/** The AAGUID of the keys with an authenticator. */
export const AAGUID = '7a3f5c1e-2b4d-4e6f-8a90-b1c2d3e4f506';

const SERIAL_12345678 = '00bc614e';
const UUID = 'a1b2c3d4e5f60718293a4b5c6d7e8f90';

const management = (serial: string, formFactor: string, version: string): string => {
  const values = `${serial}0401${formFactor}0503${version}`;
  return (values.length / 2).toString(16).padStart(2, '0') + values;
};

interface KeyModel {
  readonly ids: readonly [string, string];
  readonly maker: string;
  readonly product: string;
  readonly release: number;
  readonly interfaces: (ownSerial?: string) => readonly KeyInterface[];
}

/** Keys that keep what is in them from one plugging to the next, by their names. */
const units = new Map<string, TestAuthenticator>();

export function unit(name: string): TestAuthenticator {
  const known = units.get(name) ?? authenticator();
  units.set(name, known);
  return known;
}

const authenticator = (): TestAuthenticator => new TestAuthenticator({ root: ROOTS.fido, aaguid: AAGUID });

const MODELS = {
  /** Its serial is only in the descriptor. */
  plain: {
    ids: ['096e', '0850'],
    maker: 'Feitian',
    product: 'ePass',
    release: 0x0100,
    interfaces: () => [{ kind: 'fido', key: null }],
  },
  /** A bank key: a usage page of its maker, no FIDO. */
  bank: {
    ids: ['055c', 'db08'],
    maker: 'Longmai',
    product: 'mToken',
    release: 0x0100,
    interfaces: () => [{ kind: 'vendor' }],
  },
  /** Not a key. */
  mouse: {
    ids: ['046d', 'c077'],
    maker: 'Logitech',
    product: 'USB Optical Mouse',
    release: 0x7200,
    interfaces: () => [{ kind: 'mouse' }],
  },
  yubikey5: {
    ids: ['1050', '0407'],
    maker: 'Yubico',
    product: 'YubiKey OTP+FIDO+CCID',
    release: 0x0543,
    interfaces: (serial = SERIAL_12345678) => [
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
    interfaces: () => [{ kind: 'otp', key: new FakeOtpKey('020301', `${SERIAL_12345678}c804`) }],
  },
  securityKey: {
    ids: ['1050', '0402'],
    maker: 'Yubico',
    product: 'Security Key by Yubico',
    release: 0x0543,
    interfaces: () => [{ kind: 'fido', key: new FakeCtapKey([5, 4, 3], { 66: management('', '41', '050403') }) }],
  },
  nitrokey3: {
    ids: ['20a0', '42b2'],
    maker: 'Nitrokey',
    product: 'Nitrokey 3',
    release: 0x0107,
    interfaces: (uuid = UUID) => [
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
  /** Reports its serial only over the smart card interface. */
  token2: {
    ids: ['349e', '0026'],
    maker: 'Token2',
    product: 'FIDO2 Security Key',
    release: 0x0100,
    interfaces: () => [
      { kind: 'fido', key: null },
      { kind: 'card', program: token2Card({ serial: '8673412345' }) },
    ],
  },
  /** Its only interface is the smart card. */
  ccidYubikey: {
    ids: ['1050', '0404'],
    maker: 'Yubico',
    product: 'YubiKey CCID',
    release: 0x0543,
    interfaces: () => [
      { kind: 'card', program: yubiKeyCard({ serial: SERIAL_12345678.toUpperCase(), version: '050403' }) },
    ],
  },
  /** It proves itself by SCP11b, under a root of its own. */
  yubikey574: {
    ids: ['1050', '0406'],
    maker: 'Yubico',
    product: 'YubiKey FIDO+CCID',
    release: 0x0574,
    interfaces: () => [
      { kind: 'fido', key: new FakeCtapKey([5, 7, 4], { 66: management(`0204${SERIAL_12345678}`, '03', '050704') }) },
      { kind: 'card', program: yubiKey574({ root: ROOTS.scp11b }).program },
    ],
  },
  /** A FIDO2 key that attests after a touch, under a root of its own. */
  fido2: {
    ids: ['096e', '085d'],
    maker: 'Feitian',
    product: 'ePass FIDO2',
    release: 0x0100,
    interfaces: () => [{ kind: 'fido', key: new FidoKey({ authenticator: authenticator() }) }],
  },
  /** A FIDO2 key that is known by a credential alone. It is touched at once, and its own serial is the name of the unit. */
  unnumbered: {
    ids: ['096e', '085b'],
    maker: 'Feitian',
    product: 'ePass FIDO2',
    release: 0x0100,
    interfaces: (name = '') => [{ kind: 'fido', key: new FidoKey({ authenticator: unit(name), touched: true }) }],
  },
  /** A FIDO2 key that can be issued: with a PIN and stored credentials. It is touched at once. */
  issuable: {
    ids: ['096e', '085e'],
    maker: 'Feitian',
    product: 'ePass FIDO2',
    release: 0x0100,
    interfaces: () => [
      {
        kind: 'fido',
        key: new FidoKey({
          authenticator: new IssuableAuthenticator({ root: ROOTS.fido, aaguid: AAGUID }),
          touched: true,
          issued: true,
        }),
      },
    ],
  },
  /** A key for other programs than devmgr, which may send it any command. */
  judged: {
    ids: ['096e', '085d'],
    maker: 'Feitian',
    product: 'ePass FIDO2',
    release: 0x0100,
    interfaces: () => [{ kind: 'fido', key: new FidoKey({ authenticator: authenticator(), forOthers: true }) }],
  },
  /** A key like `issuable` for other programs than devmgr. */
  managed: {
    ids: ['096e', '085c'],
    maker: 'Feitian',
    product: 'ePass FIDO2',
    release: 0x0100,
    interfaces: () => {
      const authenticator = new IssuableAuthenticator({ root: ROOTS.fido, aaguid: AAGUID });
      return [{ kind: 'fido', key: new FidoKey({ authenticator, touched: true, forOthers: true }) }];
    },
  },
  /** An older key with U2F only. */
  u2f: {
    ids: ['096e', '0858'],
    maker: 'Feitian',
    product: 'U2F',
    release: 0x0100,
    interfaces: () => [{ kind: 'fido', key: new FidoKey({ authenticator: authenticator(), ctap2: false }) }],
  },
  /** A YubiKey that accepts every report and does not answer. */
  silentYubikey: {
    ids: ['1050', '0402'],
    maker: 'Yubico',
    product: 'YubiKey FIDO',
    release: 0x0543,
    interfaces: () => [{ kind: 'fido', key: null }],
  },
} as const satisfies Record<string, KeyModel>;

/** A key of the model, and the authenticator in it that can be touched. */
export interface LabKey {
  readonly device: UsbDevice;
  readonly fido: FidoKey | null;
}

export function createKey(spec: KeySpec): LabKey {
  const model: KeyModel = MODELS[spec.model];
  const interfaces = model.interfaces(spec.ownSerial);
  const device = hidKey(
    {
      vendorId: Number.parseInt(spec.vendorId ?? model.ids[0], 16),
      productId: Number.parseInt(spec.productId ?? model.ids[1], 16),
      release: model.release,
      manufacturer: model.maker,
      product: spec.product ?? model.product,
      serial: spec.serial ?? null,
    },
    interfaces,
  );
  const fido = interfaces.map(part => (part.kind === 'fido' ? part.key : null)).find(key => key instanceof FidoKey);
  return { device, fido: fido ?? null };
}
