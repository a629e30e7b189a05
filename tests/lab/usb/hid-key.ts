/** A USB security key: a composite device of HID interfaces and a reader that answer like those of a real key. */
import { type FakeOtpKey, hex } from '../../support/fake-ukey.ts';
import type { CardProgram } from '../../support/vcard.ts';
import { type CcidInterface, ccidInterface } from './ccid-reader.ts';
import {
  configurationOf,
  type Identity,
  type Interface,
  identityOf,
  type Setup,
  type UsbDevice,
} from './usb-device.ts';

/** One interface: FIDO with what answers on it, OTP, a silent one with a usage page of the maker, a mouse, or a smart card. */
export type KeyInterface = HidInterface | { readonly kind: 'card'; readonly program: CardProgram };

/** The functions behind a FIDO interface. */
export interface FidoSide {
  write(report: Uint8Array): Promise<void>;
  takeAll(): Uint8Array[];
  /** Absent: it has reports only after a write. */
  onReports?(listener: () => void): void;
}

type HidInterface =
  | { readonly kind: 'fido'; readonly key: FidoSide | null }
  | { readonly kind: 'otp'; readonly key: FakeOtpKey }
  | { readonly kind: 'vendor' | 'mouse' };

const REPORTS: Readonly<Record<HidInterface['kind'], Uint8Array>> = {
  fido: hex('06d0f1 0901 a101 0920 1500 26ff00 7508 9540 8102 0921 1500 26ff00 7508 9540 9102 c0'),
  vendor: hex('0600ff 0901 a101 0902 1500 26ff00 7508 9540 8102 0903 1500 26ff00 7508 9540 9102 c0'),
  // Three buttons and three axes.
  mouse: hex(
    '0501 0902 a101 0901 a100 0509 1901 2903 1500 2501 9503 7501 8102 9501 7505 8101 0501 0930 0931 0938 1581 257f 7508 9503 8106 c0 c0',
  ),
  // A keyboard with a feature report of eight bytes.
  otp: hex(
    '0501 0906 a101 0507 19e0 29e7 1500 2501 7501 9508 8102 9501 7508 8101 9506 7508 1500 2565 0507 1900 2965 8100 0903 7508 9508 b102 c0',
  ),
};
const HID_CLASS = 3;
const REPORT_DESCRIPTOR = 0x22;
const HID_DESCRIPTOR = 0x21;
const GET_REPORT = 0x01;
const SET_REPORT = 0x09;
const TO_INTERFACE = 0x81;

function hidInterface(part: HidInterface, number: number): Interface {
  const report = REPORTS[part.kind];
  // The protocols of boot devices: 1 is a keyboard, 2 is a mouse.
  const boot = { otp: 1, mouse: 2, fido: 0, vendor: 0 }[part.kind];
  const inward = { address: 0x81 + number, kind: 'interrupt' } as const;
  return {
    class: HID_CLASS,
    subclass: boot > 0 ? 1 : 0,
    protocol: boot,
    extra: Uint8Array.of(9, HID_DESCRIPTOR, 0x11, 0x01, 0, 1, REPORT_DESCRIPTOR, report.length, 0),
    endpoints: boot > 0 ? [inward] : [inward, { address: 1 + number, kind: 'interrupt' }],
  };
}

/** A key whose interfaces are these, in order. */
export function hidKey(identity: Identity, parts: readonly KeyInterface[]): UsbDevice {
  let send: (endpoint: number, data: Uint8Array) => void = () => undefined;
  const sendReports = (key: FidoSide | null, endpoint: number): void => {
    for (const report of key?.takeAll() ?? []) send(endpoint, report);
  };
  const cards = new Map<number, CcidInterface>();
  const interfaces = parts.map((part, number) => {
    if (part.kind !== 'card') return hidInterface(part, number);
    const card = ccidInterface({ out: 1 + number, in: 1 + number, change: 1 + parts.length + number });
    cards.set(number, card);
    return card.interface;
  });
  return {
    ...identityOf(identity),
    configuration: configurationOf(interfaces),
    plugged(sender) {
      send = sender;
      for (const [number, card] of cards) {
        card.plugged(sender);
        const part = parts[number]!;
        if (part.kind === 'card') card.insert(part.program);
      }
      for (const [number, part] of parts.entries())
        if (part.kind === 'fido') part.key?.onReports?.(() => sendReports(part.key, 1 + number));
    },
    async control(setup, data) {
      const part = parts[setup.index & 0xff];
      if (part === undefined) return null;
      if (part.kind === 'card') return new Uint8Array();
      if (setup.requestType === TO_INTERFACE) return descriptorOf(part, setup);
      if (part.kind === 'otp' && setup.request === GET_REPORT) return part.key.getFeature();
      if (part.kind === 'otp' && setup.request === SET_REPORT && data.length === 8) await part.key.sendFeature(data);
      return new Uint8Array();
    },
    async out(endpoint, data) {
      cards.get(endpoint - 1)?.out(data);
      const part = parts[endpoint - 1];
      if (part?.kind !== 'fido' || part.key === null) return;
      await part.key.write(data);
      sendReports(part.key, endpoint);
    },
  };
}

function descriptorOf(part: HidInterface, setup: Setup): Uint8Array | null {
  return setup.value >> 8 === REPORT_DESCRIPTOR ? REPORTS[part.kind] : null;
}
