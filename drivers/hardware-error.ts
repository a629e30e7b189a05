/** The error that a hardware call fails with. */

/** The reasons for which a hardware call can fail. The set is closed. */
export type HardwareErrorCode =
  | 'unavailable' // a library, a service, a reader or an interface of the key is missing
  | 'no-permission'
  | 'removed'
  | 'busy' // another program holds the key
  | 'mute' // the card did not answer to power: upside down, wrong type or dirty
  | 'timeout'
  | 'aborted'
  | 'protocol'; // the answer was not valid

/** The error for a keyId that is not (or not any more) that of an attached key. */
export function notAttached(): HardwareError {
  return new HardwareError('removed', 'the key was unplugged: plug it in and start again');
}

/** The reason why a card or a simulated key is not issued. */
export const NOT_ISSUABLE = 'only a FIDO2 key can be issued, no SIM card and no simulated key';

/** Refusals of a key that is issued. */
export type KeyRefusal =
  | 'excluded' // it has a credential of the list that was sent
  | 'full'
  | 'no-credential'
  | 'not-allowed'
  | 'pin-blocked'
  | 'pin-invalid'
  | 'pin-not-set'
  | 'pin-policy'
  | 'pin-replug' // it has to be plugged in again before it accepts another entry
  | 'pin-required';

/** Details for programs; texts for people are in the message. */
export interface HardwareErrorData {
  readonly refusal?: KeyRefusal | undefined;
  /** The name that the PC/SC binding gives the error, such as `ResetCard`. */
  readonly pcscError?: string;
}

/** The only error that a hardware call fails with. */
export class HardwareError extends Error {
  override name = 'HardwareError';
  readonly code: HardwareErrorCode;
  readonly data: HardwareErrorData;

  constructor(code: HardwareErrorCode, message: string, options: ErrorOptions & { data?: HardwareErrorData } = {}) {
    super(message, options);
    this.code = code;
    this.data = options.data ?? {};
  }
}
