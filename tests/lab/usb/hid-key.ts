/** A USB security key: a composite of HID interfaces and a reader, each with the bytes of a side of a real key behind it. */
import { type FakeCtapKey, type FakeOtpKey, hex } from '../../support/fake-ukey.ts';
import type { CardProgram } from '../../support/vcard.ts';
import { type CcidSide, ccidSide } from './ccid-reader.ts';
import { configurationOf, type Identity, type Interface, identityOf, type Setup, type UsbDevice } from './device.ts';

/** One interface: FIDO with what answers on it, a YubiKey's OTP side, a maker's own page that says nothing, a smart card. */
export type Side = HidSide | { readonly kind: 'card'; readonly program: CardProgram };

type HidSide =
  | { readonly kind: 'fido'; readonly key: FakeCtapKey | null }
  | { readonly kind: 'otp'; readonly key: FakeOtpKey }
  | { readonly kind: 'vendor' };

const REPORTS: Readonly<Record<HidSide['kind'], Uint8Array>> = {
  fido: hex('06d0f1 0901 a101 0920 1500 26ff00 7508 9540 8102 0921 1500 26ff00 7508 9540 9102 c0'),
  vendor: hex('0600ff 0901 a101 0902 1500 26ff00 7508 9540 8102 0903 1500 26ff00 7508 9540 9102 c0'),
  // A keyboard with eight bytes of a feature report beside its keys.
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

function hidInterface(side: HidSide, number: number): Interface {
  const report = REPORTS[side.kind];
  const keyboard = side.kind === 'otp';
  const inward = { address: 0x81 + number, kind: 'interrupt' } as const;
  return {
    class: HID_CLASS,
    subclass: keyboard ? 1 : 0,
    protocol: keyboard ? 1 : 0,
    extra: Uint8Array.of(9, HID_DESCRIPTOR, 0x11, 0x01, 0, 1, REPORT_DESCRIPTOR, report.length, 0),
    endpoints: keyboard ? [inward] : [inward, { address: 1 + number, kind: 'interrupt' }],
  };
}

/** A key whose interfaces are these, in order. */
export function hidKey(identity: Identity, sides: readonly Side[]): UsbDevice {
  let send: (endpoint: number, data: Uint8Array) => void = () => undefined;
  const cards = new Map<number, CcidSide>();
  const interfaces = sides.map((side, number) => {
    if (side.kind !== 'card') return hidInterface(side, number);
    const card = ccidSide({ out: 1 + number, in: 1 + number, change: 1 + sides.length + number });
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
        const side = sides[number]!;
        if (side.kind === 'card') card.insert(side.program);
      }
    },
    async control(setup, data) {
      const side = sides[setup.index & 0xff];
      if (side === undefined) return null;
      if (side.kind === 'card') return new Uint8Array();
      if (setup.requestType === TO_INTERFACE) return descriptorOf(side, setup);
      if (side.kind === 'otp' && setup.request === GET_REPORT) return side.key.getFeature();
      if (side.kind === 'otp' && setup.request === SET_REPORT && data.length === 8) await side.key.sendFeature(data);
      return new Uint8Array();
    },
    async out(endpoint, data) {
      cards.get(endpoint - 1)?.out(data);
      const side = sides[endpoint - 1];
      if (side?.kind !== 'fido' || side.key === null) return;
      await side.key.write(data);
      for (const report of side.key.takeAll()) send(endpoint, report);
    },
  };
}

function descriptorOf(side: HidSide, setup: Setup): Uint8Array | null {
  return setup.value >> 8 === REPORT_DESCRIPTOR ? REPORTS[side.kind] : null;
}
