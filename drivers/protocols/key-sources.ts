/** The table of the ways to read a USB key's serial, in the order of trying. Each applies only to known USB ids. */
import { deadline } from '../deadline.ts';
import { HardwareError } from '../hardware-error.ts';
import { PRODUCT, VENDOR, YUBIKEY, yubiKeysWith } from '../usb/ids.ts';
import type { CardConnection, ReportConnection } from './connection.ts';
import type { KeyReport, KeyView, Opener } from './key-view.ts';
import { readToken2 } from './token2.ts';
import { readTrussed } from './trussed.ts';
import { readYubiKeyCard, readYubiKeyFido, readYubiKeyOtp } from './yubikey.ts';

/** One way to read the serial of a USB key. */
export interface KeySerialSource {
  /** The value of `serialSource`. */
  readonly name: string;
  /** The interface of the key that is used. */
  readonly over: 'fido' | 'otp' | 'card';
  /** Its serial can differ from that of the descriptor: a key identified once by each would have two names. */
  readonly differsFromDescriptor?: true;
  /** Reads the serial within `limit` milliseconds. Fails with a HardwareError. */
  read(key: KeyView, signal: AbortSignal, limit: number): Promise<KeyReport>;
}

type ReadSerial<C> = (connection: C, signal: AbortSignal) => Promise<KeyReport>;

/** Opens an interface of the key, reads, and closes it again, also after a failure. One deadline covers everything. */
async function readOver<C>(
  opener: Opener<C>,
  read: ReadSerial<C>,
  signal: AbortSignal,
  limit: number,
): Promise<KeyReport> {
  const limited = deadline(signal, limit);
  const connection = await opener(limited);
  try {
    return await read(connection, limited);
  } finally {
    await connection.close();
  }
}

/** A read over an interface that the key should have: fails with `unavailable` while it has not appeared. */
function required<C>(name: string, openerOf: (key: KeyView) => Opener<C> | null, read: ReadSerial<C>) {
  return async (key: KeyView, signal: AbortSignal, limit: number): Promise<KeyReport> => {
    const opener = openerOf(key);
    if (opener === null) throw new HardwareError('unavailable', `the ${name} interface of the key has not appeared`);
    return readOver(opener, read, signal, limit);
  };
}

const overFido = (read: ReadSerial<ReportConnection>) => required('FIDO', key => key.openFido, read);
const overOtp = required('OTP', key => key.openOtp, readYubiKeyOtp);

/** A read over the smart card interface. If the program has no access to smart cards, the key reports nothing. */
const overCard = (read: ReadSerial<CardConnection>) => async (key: KeyView, signal: AbortSignal, limit: number) =>
  key.openCard === null ? { serial: null, firmwareVersion: null } : readOver(key.openCard, read, signal, limit);

const isYubiKey = (productIds: readonly string[]) => (vendorId: string, productId: string) =>
  vendorId === VENDOR.YUBICO && productIds.includes(productId);

/** FIDO keys since firmware 4.1 support the command. The NEO, which is older, is never sent it. */
const NEOS: readonly string[] = [
  YUBIKEY.NEO_FIDO,
  YUBIKEY.NEO_OTP_FIDO,
  YUBIKEY.NEO_FIDO_CCID,
  YUBIKEY.NEO_OTP_FIDO_CCID,
];
const WITH_FIDO_MANAGEMENT = yubiKeysWith('FIDO').filter(id => !NEOS.includes(id));

const TRUSSED: readonly string[] = [
  `${VENDOR.NITROKEY}:${PRODUCT.NITROKEY_3}`,
  `${VENDOR.NITROKEY}:${PRODUCT.NITROKEY_PASSKEY}`,
  `${VENDOR.PID_CODES}:${PRODUCT.SOLO_2}`,
];

/** Whether the key has Trussed firmware. Ids are four lower-case hex digits. */
export const isTrussed = (vendorId: string, productId: string): boolean => TRUSSED.includes(`${vendorId}:${productId}`);

/** Thetis PRO is built by the maker of Token2's keys and answers the same query (keyroost, issue 125). */
const TOKEN2_PLATFORM: readonly string[] = [VENDOR.TOKEN2, VENDOR.EXCELSECU];

const KEY_SERIAL_SOURCES: readonly (KeySerialSource & { applies(vendorId: string, productId: string): boolean })[] = [
  {
    name: 'yubikey-management',
    over: 'fido',
    applies: isYubiKey(WITH_FIDO_MANAGEMENT),
    read: overFido(readYubiKeyFido),
  },
  { name: 'yubikey-otp', over: 'otp', applies: isYubiKey(yubiKeysWith('OTP')), read: overOtp },
  {
    name: 'yubikey-management',
    over: 'card',
    applies: isYubiKey(yubiKeysWith('CCID')),
    read: overCard(readYubiKeyCard),
  },
  {
    name: 'trussed-uuid',
    over: 'fido',
    applies: isTrussed,
    read: overFido(readTrussed),
  },
  {
    name: 'token2',
    over: 'card',
    differsFromDescriptor: true,
    applies: vendorId => TOKEN2_PLATFORM.includes(vendorId),
    read: overCard(readToken2),
  },
];

/** The sources for a key, best first; none if it has only its descriptor. Ids are four lower-case hex digits. */
export function serialSourcesFor(vendorId: string, productId: string): readonly KeySerialSource[] {
  return KEY_SERIAL_SOURCES.filter(source => source.applies(vendorId, productId));
}
