import { HardwareError, type HardwareErrorCode } from '../hardware-error.ts';
import { howToStartService } from './advice.ts';

interface ErrorMeaning {
  readonly code: HardwareErrorCode;
  readonly message: string | (() => string);
}

const serviceDown: ErrorMeaning = {
  code: 'unavailable',
  message: () => `pcscd, the PC/SC service, is not running. ${howToStartService()}`,
};
const readerUnplugged: ErrorMeaning = { code: 'removed', message: 'The reader was unplugged. Plug it in again.' };
const cardRemoved: ErrorMeaning = {
  code: 'removed',
  message: 'The card was removed while it was read. Insert it again.',
};
const mute: ErrorMeaning = {
  code: 'mute',
  message:
    'The card gives no sign of life: it is upside down, of the wrong type, or its contacts are dirty. Take it out, clean it and insert it again.',
};
const contactLost: ErrorMeaning = {
  code: 'removed',
  message: 'The card lost contact while it was read. Insert it again; if that does not help, clean it.',
};
const cardReset: ErrorMeaning = {
  code: 'busy',
  message: 'Another program keeps resetting the card. Close it (often gpg-agent or a browser) and wait.',
};
const unreadable: ErrorMeaning = {
  code: 'protocol',
  message: 'Reader and card have no protocol in common. Insert the card again, or try another reader.',
};
const heldElsewhere: ErrorMeaning = {
  code: 'busy',
  message:
    'Another program has exclusive access to the card. Close it (often gpg-agent, ModemManager or a browser); reading is tried again.',
};
const unknownProtocol: ErrorMeaning = {
  code: 'unavailable',
  message:
    'pcscd speaks a version of its protocol that this devmgr does not know. Use Node 26.1 or later, with which devmgr calls the PC/SC library of the system.',
};
const polkitDenied: ErrorMeaning = {
  code: 'no-permission',
  message:
    'polkit does not let this user use smart cards (usual over SSH and for services). Allow the actions org.debian.pcsc-lite.access_pcsc and org.debian.pcsc-lite.access_card in /etc/polkit-1/rules.d, or run as a user of the seat.',
};

/** The binding's error names, each with its number in pcsclite.h, which other tools print. */
const MEANINGS: Readonly<Record<string, ErrorMeaning>> = {
  NoService: serviceDown, // 8010001D
  ServiceStopped: serviceDown, // 8010001E
  Shutdown: serviceDown, // 80100018
  CommError: serviceDown, // 80100013
  InvalidHandle: serviceDown, // 80100003: the context ended with the service
  SystemCancelled: serviceDown, // 80100012
  UnknownProtocol: unknownProtocol,
  NoReadersAvailable: { code: 'unavailable', message: 'No card reader is plugged in.' }, // 8010002E
  ReaderUnavailable: readerUnplugged, // 80100017
  UnknownReader: readerUnplugged, // 80100009
  NoSmartCard: cardRemoved, // 8010000C
  RemovedCard: cardRemoved, // 80100069
  NotTransacted: contactLost, // 80100016
  UnresponsiveCard: mute, // 80100066
  UnpoweredCard: mute, // 80100067: the card did not take the power
  ResetCard: cardReset, // 80100068
  SharingViolation: heldElsewhere, // 8010000B
  CardIsBusy: heldElsewhere,
  TooManyConnectRequests: heldElsewhere,
  SecurityViolation: polkitDenied, // 8010006A
  NoAccess: { code: 'no-permission', message: 'The PC/SC service refuses this user.' }, // 80100027
  Protocol: unreadable, // 8010000F
  ProtoMismatch: unreadable, // 8010000F
  UnknownCard: unreadable, // 8010000D
  UnsupportedCard: unreadable, // 80100065
  CardUnsupported: unreadable, // 8010001C
  Timeout: { code: 'timeout', message: 'The reader timed out waiting for the card. Insert the card again.' }, // 8010000A
};

/** The binding's name of an error (`NoService`, …); empty if it is not an error of the binding. */
export function nativeCode(error: unknown): string {
  const code = error instanceof Error ? (error as Error & { code?: unknown }).code : undefined;
  return typeof code === 'string' ? code : '';
}

/** Turns any failure of the PC/SC binding into a HardwareError. A HardwareError is returned unchanged. */
export function toHardwareError(cause: unknown): HardwareError {
  if (cause instanceof HardwareError) return cause;
  const pcscError = nativeCode(cause);
  const options = { cause, data: { pcscError } };
  const meaning = MEANINGS[pcscError];
  if (meaning !== undefined) {
    const message = typeof meaning.message === 'string' ? meaning.message : meaning.message();
    return new HardwareError(meaning.code, message, options);
  }
  const text = pcscError || (cause instanceof Error ? cause.message : String(cause));
  const message = `The reader failed (${text}). Insert the card again, or try another reader.`;
  return new HardwareError('protocol', message, options);
}

const RESETS: readonly string[] = ['ResetCard', 'UnpoweredCard'];

/** Whether the card lost its selected application because another program reset it or it was powered down: reconnect. */
export function wasReset({ data }: HardwareError): boolean {
  return RESETS.includes(data.pcscError ?? '');
}
