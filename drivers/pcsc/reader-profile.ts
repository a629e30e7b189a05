/** How a reader is treated: how its card is identified, and what is known of the key without the card. */
import {
  type AttachedKey,
  HardwareError,
  type KeyClaims,
  type KeyEvidence,
  type ProofRequest,
  type ProofWork,
} from '../driver.ts';
import { readCardClaims, readYubiKeyCardClaims } from '../protocols/claims.ts';
import type { CardConnection } from '../protocols/connection.ts';
import { type CardIdentity, identifyCard } from '../protocols/identify-card.ts';
import { identifyKey } from '../protocols/identify-key.ts';
import type { KeyView } from '../protocols/key-view.ts';
import { type ProvableKey, proveKey } from '../protocols/prove-key.ts';
import { VENDOR } from '../usb/ids.ts';
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
  /** Claims of the card. `serialSource` as `identify` found it. Rejects with a HardwareError. */
  readClaims(card: CardConnection, serialSource: string | null, signal: AbortSignal): Promise<KeyClaims>;
  /** Has the card prove what it is; see `proveKey`. Rejects with a HardwareError. */
  prove(card: CardConnection, key: ProvableCard, request: ProofRequest, work: ProofWork): Promise<KeyEvidence>;
}

/** Facts about a card for a proof. */
type ProvableCard = Pick<ProvableKey, 'firmwareVersion' | 'beforeScp11b'>;

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
    readClaims: (card, serialSource, signal) => readCardClaims(card, serialSource === 'eid', signal, euiccApplications),
    async prove() {
      throw new HardwareError('unavailable', 'a card in a reader cannot prove what it is: its answers can be copied');
    },
  };
}

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
  const viewOf = (card: CardConnection): KeyView => {
    const openCard = async () => ({
      transmit: (apdu: Uint8Array, limit: AbortSignal) => card.transmit(apdu, limit),
      close: async () => undefined,
    });
    return { vendorId, productId, descriptorSerial: serial, openFido: null, openOtp: null, openCard };
  };
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
        serialNumber: verdict.serial,
        serialSource: source,
        problem: verdict.problem,
        firmwareVersion,
        manufacturer: null,
        model: null,
        remark: null,
      };
    },
    async readClaims(card, _serialSource, signal) {
      return vendorId === VENDOR.YUBICO ? readYubiKeyCardClaims(card, signal) : {};
    },
    prove: (card, key, request, work) => proveKey({ ...key, view: viewOf(card) }, request, work),
  };
}
