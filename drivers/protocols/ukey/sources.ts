/** The table of protocols a serial can be read by, in the order in which they are tried, each behind its USB ids. */
import { HardwareError } from '../../driver.ts';
import { deadline } from '../deadline.ts';
import type { CardConnection, ReportConnection } from './connection.ts';
import type { Closable, KeyView } from './identify.ts';
import { askToken2 } from './token2.ts';
import { askTrussed } from './trussed.ts';
import { askYubiKeyCard, askYubiKeyFido } from './yubikey.ts';
import { askYubiKeyOtp } from './yubikey-otp.ts';

export interface Answer {
  /** As the key gives it; null where it says it has none. */
  readonly serial: string | null;
  readonly firmwareVersion: string | null;
  /** The key knows the question, so that no other side of it would answer it otherwise. */
  readonly conclusive?: boolean;
}

export interface Source {
  /** The name that stands in `serialSource`. */
  readonly name: string;
  /** The side of the key that is asked. */
  readonly side: 'fido' | 'otp' | 'card';
  /** Its serial need not be the descriptor's: a key that is named once by this and once by that would have two names. */
  readonly renames?: true;
  /** Asks the key; fails with a HardwareError. `limit` is in milliseconds. */
  read(key: KeyView, signal: AbortSignal, limit: number): Promise<Answer>;
}

const NOT_ASKED: Answer = { serial: null, firmwareVersion: null };

type Open<C> = ((signal: AbortSignal) => Promise<C & Closable>) | null;

/** Opens one side of the key, asks, and closes it again whatever came of it; one deadline over all. */
function asking<C>(side: string, open: (key: KeyView) => Open<C>, ask: (c: C, signal: AbortSignal) => Promise<Answer>) {
  return async (key: KeyView, signal: AbortSignal, limit: number): Promise<Answer> => {
    const opener = open(key);
    if (opener === null) throw new HardwareError('unavailable', `the ${side} side of the key is not there`);
    const limited = deadline(signal, limit);
    const connection = await opener(limited);
    try {
      return await ask(connection, limited);
    } finally {
      await connection.close();
    }
  };
}

const fido = (ask: (connection: ReportConnection, signal: AbortSignal) => Promise<Answer>) =>
  asking('FIDO', key => key.openFido, ask);

const otp = asking('OTP', key => key.openOtp, askYubiKeyOtp);

/** The smart card side is asked where the program gave a way to it; its absence is no reason to wait. */
const card = (ask: (connection: CardConnection, signal: AbortSignal) => Promise<Answer>) => {
  const read = asking('smart card', key => key.openCard, ask);
  return (key: KeyView, signal: AbortSignal, limit: number) =>
    key.openCard === null ? Promise.resolve(NOT_ASKED) : read(key, signal, limit);
};

/** The product ids of Yubico's that show each side. */
const WITH_FIDO = ['0120', '0402', '0403', '0406', '0407', '0410'];
const WITH_OTP = ['0010', '0110', '0111', '0114', '0116', '0401', '0403', '0405', '0407', '0410'];
const WITH_CARD = ['0111', '0112', '0115', '0116', '0404', '0405', '0406', '0407'];
const TRUSSED = ['20a0:42b2', '20a0:42f3', '1209:beee'];

const yubico = (productIds: readonly string[]) => (vendorId: string, productId: string) =>
  vendorId === '1050' && productIds.includes(productId);

type Listed = Source & { applies(vendorId: string, productId: string): boolean };

const SOURCES: readonly Listed[] = [
  { name: 'yubikey-management', side: 'fido', applies: yubico(WITH_FIDO), read: fido(askYubiKeyFido) },
  { name: 'yubikey-otp', side: 'otp', applies: yubico(WITH_OTP), read: otp },
  { name: 'yubikey-management', side: 'card', applies: yubico(WITH_CARD), read: card(askYubiKeyCard) },
  { name: 'trussed-uuid', side: 'fido', applies: (v, p) => TRUSSED.includes(`${v}:${p}`), read: fido(askTrussed) },
  { name: 'token2', side: 'card', renames: true, applies: v => v === '349e', read: card(askToken2) },
];

/** The sources to try on a key, best first. Ids are four lower-case hex digits. */
export function sourcesFor(vendorId: string, productId: string): readonly Source[] {
  return SOURCES.filter(source => source.applies(vendorId, productId));
}
