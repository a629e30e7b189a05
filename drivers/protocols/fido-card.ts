/** A FIDO key on a reader, by contacts or NFC: the UKEY that it is over USB, with the serial number of its maker's application. */
import { HardwareError } from '../hardware-error.ts';
import { makerName, VENDOR } from '../usb/ids.ts';
import type { CardConnection } from './connection.ts';
import { CtapCardChannel } from './ctap-card.ts';
import { type AuthenticatorInfo, getInfo } from './ctap2.ts';
import type { CardIdentity, KeyReport } from './key-view.ts';
import { judgeSerial } from './serial.ts';
import { readToken2 } from './token2.ts';
import { readYubiKeyCard } from './yubikey.ts';

/** Makers' applications, which a card is asked for because nothing else names its maker. Sources as `key-sources.ts` has them. */
const MAKERS: readonly {
  readonly vendorId: string;
  readonly source: string;
  readonly model: string;
  readonly read: (card: CardConnection, signal: AbortSignal) => Promise<KeyReport>;
}[] = [
  { vendorId: VENDOR.YUBICO, source: 'yubikey-management', model: 'YubiKey', read: readYubiKeyCard },
  { vendorId: VENDOR.TOKEN2, source: 'token2', model: 'FIDO key', read: readToken2 },
];

/** The vendor whose application has reported a serial number; null for another source. */
export const vendorOfSource = (serialSource: string | null): string | null =>
  MAKERS.find(({ source }) => source === serialSource)?.vendorId ?? null;

/** Null if the card has no FIDO. A UID is never asked for: over NFC most keys draw it at random. Fails with a HardwareError. */
export async function identifyFidoCard(card: CardConnection, signal: AbortSignal): Promise<CardIdentity | null> {
  if ((await CtapCardChannel.open(card, signal)) === null) return null;
  const found = { deviceType: 'UKEY', remark: null } as const;
  for (const { vendorId, source, model, read } of MAKERS) {
    const report = await read(card, signal).catch(unlessRead);
    if (report.serial === null && report.conclusive !== true) continue;
    const { serial, problem } = judgeSerial(report.serial, vendorId, '', 'maker');
    const serialSource = serial === null ? null : source;
    const { firmwareVersion } = report;
    return {
      ...found,
      serialNumber: serial,
      serialSource,
      manufacturer: makerName(vendorId),
      model,
      firmwareVersion,
      problem,
    };
  }
  const { problem } = judgeSerial(null, '', '');
  return {
    ...found,
    serialNumber: null,
    serialSource: null,
    manufacturer: null,
    model: 'FIDO key',
    firmwareVersion: null,
    problem,
  };
}

/** An answer that is not the maker's counts as none. */
function unlessRead(error: unknown): KeyReport {
  if (error instanceof HardwareError && error.code === 'protocol') return { serial: null, firmwareVersion: null };
  throw error;
}

/** Claims of the authenticator of a card; null if it has no FIDO2. Fails with a HardwareError. */
export async function fidoCardInfo(card: CardConnection, signal: AbortSignal): Promise<AuthenticatorInfo | null> {
  const channel = await CtapCardChannel.open(card, signal);
  return channel && getInfo(channel, signal);
}
