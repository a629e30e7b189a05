/** What a reader is taken for: what its card is asked, and what its key is called whatever it answers. */
import type { AttachedKey } from '../driver.ts';
import { exchange } from '../protocols/exchange.ts';
import { concat } from '../protocols/hex.ts';
import { type CardIdentity, type Connection, identify as identifyCard } from '../protocols/simkey/index.ts';
import type { CardConnection } from '../protocols/ukey/connection.ts';
import { type Closable, identify as identifyKey } from '../protocols/ukey/identify.ts';
import { isContactless } from './names.ts';

export interface Subject {
  readonly deviceType: AttachedKey['deviceType'];
  readonly vendorId: string | null;
  readonly productId: string | null;
  /** In place of what the card does not tell; uncleaned. */
  readonly manufacturer: string | null;
  readonly model: string | null;
  identify(connection: Connection, atr: Uint8Array, signal: AbortSignal): Promise<CardIdentity>;
}

/** A reader for SIMs and other cards. */
export function cardSubject(reader: string, euiccApplications?: readonly string[]): Subject {
  return {
    deviceType: 'SIMKEY',
    vendorId: null,
    productId: null,
    manufacturer: null,
    model: null,
    identify: (connection, atr, signal) =>
      identifyCard(
        connection,
        { contactless: isContactless(reader, atr), ...(euiccApplications && { euiccApplications }) },
        signal,
      ),
  };
}

export interface KeyFacts {
  /** USB ids as four lower-case hex digits; `told` is false where they were guessed from the reader's name. */
  readonly vendorId: string;
  readonly productId: string;
  readonly told: boolean;
  readonly serial: string | null;
  readonly manufacturer: string | null;
  readonly product: string | null;
}

/** Milliseconds for one protocol of a key. */
const ASK_LIMIT = 5_000;

/** A security key that shows nothing but its smart card side. */
export function keySubject(facts: KeyFacts): Subject {
  const { vendorId, productId, serial } = facts;
  return {
    deviceType: 'UKEY',
    vendorId: facts.told ? vendorId : null,
    productId: facts.told ? productId : null,
    manufacturer: facts.manufacturer,
    model: facts.product,
    async identify(connection, _atr, signal) {
      const openCard = async (): Promise<CardConnection & Closable> => ({
        ...wholeAnswers(connection),
        close: async () => undefined,
      });
      const view = { vendorId, productId, descriptorSerial: serial, openFido: null, openOtp: null, openCard };
      const { verdict, source, firmwareVersion, unsettled } = await identifyKey(view, signal, ASK_LIMIT);
      // A side that is never there (FIDO, OTP) is no failure; one of the card is.
      if (verdict.serial === null && unsettled !== null && unsettled.code !== 'unavailable') throw unsettled;
      const told = { serialNumber: verdict.serial, serialSource: source, problem: verdict.problem };
      return { ...told, firmwareVersion, manufacturer: null, model: null, remark: null };
    },
  };
}

/** The same line, with answers that come in pieces put together, as keys give them through T=0. */
export function wholeAnswers(connection: Connection): CardConnection {
  return {
    async transmit(apdu, signal) {
      const { data, status } = await exchange(connection, apdu, signal);
      return concat(data, Uint8Array.of(status >> 8, status & 0xff));
    },
  };
}
