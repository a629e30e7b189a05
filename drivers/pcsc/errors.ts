import { HardwareError, type HardwareErrorCode } from '../driver.ts';
import { howToStartService } from './library.ts';

interface Meaning {
  readonly code: HardwareErrorCode;
  readonly words: string | (() => string);
}

const serviceDown: Meaning = {
  code: 'unavailable',
  words: () => `pcscd, the PC/SC service, is not running. ${howToStartService()}`,
};
const readerGone: Meaning = { code: 'removed', words: 'The reader was unplugged. Plug it in again.' };
const cardGone: Meaning = { code: 'removed', words: 'The card was removed while it was read. Insert it again.' };
const noSignOfLife: Meaning = {
  code: 'mute',
  words:
    'The card gives no sign of life: it is upside down, of a wrong type, or its contacts are dirty. Take it out, clean it and insert it again.',
};
const contactLost: Meaning = {
  code: 'removed',
  words: 'The card lost contact while it was read. Insert it again; if that does not help, clean it.',
};
const cardReset: Meaning = {
  code: 'busy',
  words: 'Another program keeps resetting the card. Close it (often gpg-agent or a browser) and wait.',
};
const unreadable: Meaning = {
  code: 'protocol',
  words: 'Reader and card do not understand each other. Insert the card again, or try another reader.',
};
const heldElsewhere: Meaning = {
  code: 'busy',
  words:
    'Another program has the card for itself. Close it (often gpg-agent, ModemManager or a browser); reading is tried again.',
};

/** What the binding's error names mean, each with the number that other tools print for it. */
const MEANINGS: Readonly<Record<string, Meaning>> = {
  NoService: serviceDown, // 8010001D
  ServiceStopped: serviceDown, // 8010001E
  Shutdown: serviceDown, // 80100018
  CommError: serviceDown, // 80100013
  InvalidHandle: serviceDown, // 80100003, of a context that ended with the service
  SystemCancelled: serviceDown, // 80100012
  NoReadersAvailable: { code: 'unavailable', words: 'No card reader is plugged in.' }, // 8010002E
  ReaderUnavailable: readerGone, // 80100017
  UnknownReader: readerGone, // 80100009
  NoSmartCard: cardGone, // 8010000C
  RemovedCard: cardGone, // 80100069
  NotTransacted: contactLost, // 80100016
  UnresponsiveCard: noSignOfLife, // 80100066
  UnpoweredCard: noSignOfLife, // 80100067: power was given, and the card did not take it
  ResetCard: cardReset, // 80100068
  SharingViolation: heldElsewhere, // 8010000B
  CardIsBusy: heldElsewhere,
  TooManyCardConnections: heldElsewhere,
  TooManyConnectRequests: heldElsewhere,
  SecurityViolation: {
    code: 'no-permission',
    words:
      'polkit does not let this user use smart cards (usual over SSH and for services). Allow the actions org.debian.pcsc-lite.access_pcsc and org.debian.pcsc-lite.access_card in /etc/polkit-1/rules.d, or run as a user of the seat.',
  }, // 8010006A
  NoAccess: { code: 'no-permission', words: 'The PC/SC service refuses this user.' }, // 80100027
  Protocol: unreadable, // 8010000F
  ProtoMismatch: unreadable, // 8010000F
  UnknownCard: unreadable, // 8010000D
  UnsupportedCard: unreadable, // 80100065
  CardUnsupported: unreadable, // 8010001C
  Timeout: { code: 'timeout', words: 'The reader gave up waiting for the card. Insert the card again.' }, // 8010000A
};

/** The binding's name of an error (`NoService`, …), or an empty text where it is none of its errors. */
export function nativeCode(error: unknown): string {
  const code = error instanceof Error ? (error as Error & { code?: unknown }).code : undefined;
  return typeof code === 'string' ? code : '';
}

/** Any failure of the PC/SC binding as one of the closed set, in words. */
export function toHardwareError(cause: unknown): HardwareError {
  if (cause instanceof HardwareError) return cause;
  const name = nativeCode(cause);
  const meaning = MEANINGS[name];
  if (meaning === undefined) {
    const said = name || (cause instanceof Error ? cause.message : String(cause));
    return new HardwareError('protocol', `The reader failed (${said}). Insert the card again, or try another reader.`, {
      cause,
    });
  }
  const words = typeof meaning.words === 'string' ? meaning.words : meaning.words();
  return new HardwareError(meaning.code, words, { cause });
}

/** The card lost what was selected on it, because another program reset it or it was powered down: connect anew. */
export function wasReset(error: HardwareError): boolean {
  return ['ResetCard', 'UnpoweredCard'].includes(nativeCode(error.cause));
}
