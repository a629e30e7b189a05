/** How a reader is treated: how its card is identified, and what is known of the key without the card. */
import type { AttachedKey, KeyClaims } from '../driver.ts';
import { readCardClaims, readFidoCardClaims } from '../protocols/claims.ts';
import type { CardConnection } from '../protocols/connection.ts';
import { vendorOfSource } from '../protocols/fido-card.ts';
import { identifyCard } from '../protocols/identify-card.ts';
import { identifyKey } from '../protocols/identify-key.ts';
import type { CardIdentity, KeyView } from '../protocols/key-view.ts';
import { isContactless } from './reader-names.ts';

/** Facts about a reader for its slot. */
export interface ReaderProfile {
  readonly deviceType: AttachedKey['deviceType'];
  /** USB ids of the key as four lower-case hex digits; null if they are not known for certain. */
  readonly vendorId: string | null;
  readonly productId: string | null;
  /** Used if the card does not report it. Not cleaned. */
  readonly manufacturer: string | null;
  readonly model: string | null;
  /** Rejects with a HardwareError. */
  identify(card: CardConnection, atr: Uint8Array, signal: AbortSignal): Promise<CardIdentity>;
  /** Claims of the card. Rejects with a HardwareError. */
  readClaims(card: CardConnection, found: IdentifiedCard, signal: AbortSignal): Promise<KeyClaims>;
  /** The key as the protocols see it; null for a card that is not a key. */
  viewOf(card: CardConnection, found: IdentifiedCard): KeyView | null;
}

/** A card as `identify` found it. */
type IdentifiedCard = Pick<AttachedKey, 'deviceType' | 'serialSource'>;

/** A reader for SIMs and other cards. `euiccApplications`: see CardContext. */
export function cardReaderProfile(reader: string, euiccApplications?: readonly string[]): ReaderProfile {
  return {
    deviceType: 'SIMKEY',
    vendorId: null,
    productId: null,
    manufacturer: null,
    model: null,
    identify(card, atr, signal) {
      const context = { contactless: isContactless(reader, atr), ...(euiccApplications && { euiccApplications }) };
      return identifyCard(card, context, signal);
    },
    readClaims(card, { deviceType, serialSource }, signal) {
      if (deviceType === 'UKEY') return readFidoCardClaims(card, vendorOfSource(serialSource), signal);
      return readCardClaims(card, serialSource === 'eid', signal, euiccApplications);
    },
    viewOf(card, { deviceType, serialSource }) {
      if (deviceType !== 'UKEY') return null;
      const ids = { vendorId: vendorOfSource(serialSource) ?? '', productId: '', descriptorSerial: null };
      return { ...ids, ...cardInterface(card) };
    },
  };
}

const cardInterface = (card: CardConnection): Pick<KeyView, 'openFido' | 'openOtp' | 'openCard'> => ({
  openFido: null,
  openOtp: null,
  openCard: async () => ({
    transmit: (apdu: Uint8Array, limit: AbortSignal) => card.transmit(apdu, limit),
    close: async () => undefined,
  }),
});

/** Known facts about a key whose only interface is its reader. */
export interface CardOnlyKey {
  /** USB ids as four lower-case hex digits. */
  readonly vendorId: string;
  readonly productId: string;
  /** False if the ids were guessed from the name of the reader. */
  readonly idsCertain: boolean;
  readonly serial: string | null;
  readonly manufacturer: string | null;
  readonly product: string | null;
}

/** Milliseconds for one source of the serial. */
const SOURCE_LIMIT = 5_000;

/** The reader of a security key that has no other interface. */
export function cardOnlyKeyProfile(key: CardOnlyKey): ReaderProfile {
  const { vendorId, productId, serial } = key;
  const viewOf = (card: CardConnection): KeyView => ({
    vendorId,
    productId,
    descriptorSerial: serial,
    ...cardInterface(card),
  });
  return {
    deviceType: 'UKEY',
    vendorId: key.idsCertain ? vendorId : null,
    productId: key.idsCertain ? productId : null,
    manufacturer: key.manufacturer,
    model: key.product,
    async identify(card, _atr, signal) {
      const { verdict, source, firmwareVersion, unsettled } = await identifyKey(viewOf(card), signal, SOURCE_LIMIT);
      // FIDO and OTP are always missing here, which is not a failure. A failure of the card is one.
      if (verdict.serial === null && unsettled !== null && unsettled.code !== 'unavailable') throw unsettled;
      return {
        deviceType: 'UKEY',
        serialNumber: verdict.serial,
        serialSource: source,
        problem: verdict.problem,
        firmwareVersion,
        manufacturer: null,
        model: null,
        remark: null,
      };
    },
    readClaims: (card, _found, signal) => readFidoCardClaims(card, vendorId, signal),
    viewOf,
  };
}
