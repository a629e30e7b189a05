/**
 * Everything that this program may send to a key, in one place: commands that read, that make a FIDO credential which is not
 * stored, look for it without a touch or sign with it, and the key agreement of SCP11b. The issuing of keys has lists of its own, with
 * PINs, stored credentials and a confirmed reset. Whatever is not listed is refused before it is sent: above all writes and firmware
 * updates. A refusal is a RangeError, because it is a mistake of the program.
 */
import { type CborMap, readCbor } from './cbor.ts';
import { toHex } from './hex.ts';

/** CTAPHID commands (FIDO CTAP 2.1, 11.2.9; the makers' own ones from nitrokey-sdk-py and yubikey-manager). */
export const CTAPHID = {
  MSG: 0x03,
  INIT: 0x06,
  CBOR: 0x10,
  CANCEL: 0x11,
  KEEPALIVE: 0x3b,
  ERROR: 0x3f,
  /** YubiKey: a page of the configuration. */
  YUBIKEY_READ_CONFIG: 0x42,
  /** Trussed firmware: version, number of the unit, and the admin application. */
  TRUSSED_VERSION: 0x61,
  TRUSSED_UUID: 0x62,
  TRUSSED_ADMIN: 0x72,
} as const;

/** Commands of CTAP2. */
export const CTAP2 = {
  MAKE_CREDENTIAL: 0x01,
  GET_ASSERTION: 0x02,
  GET_INFO: 0x04,
  CLIENT_PIN: 0x06,
  RESET: 0x07,
  CREDENTIAL_MANAGEMENT: 0x0a,
  CONFIG: 0x0d,
} as const;
/** Subcommands of clientPIN that may be sent when a key is issued. Only the person changes a PIN (4). */
export const PIN = { retries: 1, keyAgreement: 2, set: 3, token: 5, tokenFor: 9 } as const;
/** The subcommands of configuration and of credential management that may be sent when a key is issued. */
export const CONFIG_SET_MIN_PIN = 3;
export const CREDENTIAL_DELETE = 6;
/** Parameters of makeCredential that may be sent: client data hash, relying party, user, algorithms, enterprise attestation. */
const CREDENTIAL_PARAMETERS: ReadonlySet<number | string> = new Set([1, 2, 3, 4, 10]);
/** Parameters of getAssertion with which a key is asked for a credential: relying party, client data hash, list, options, token. */
const LOOK_UP_PARAMETERS: ReadonlySet<unknown> = new Set([1, 2, 3, 5, 6, 7]);
/** The relying parties of the credentials that may sign: devmgr's own, and one of each registry below it. No site has such a name. */
const OWN_PARTY = /^(?:[0-9a-z-]{1,63}\.)?devmgr\.invalid$/;
/** Most credentials that a key is asked to sign with, and that one message asks for. */
const MOST_CREDENTIALS = 8;
export const MOST_LOOKED_UP = 64;
/** The command of Trussed's admin application that may be sent. */
export const TRUSSED_STATUS = 0x80;
/**
 * APDUs of extended length. U2F_REGISTER with 64 bytes of data. U2F_AUTHENTICATE that signs after a touch (03) or only checks whether the
 * key has a credential (07), with 64 bytes and a handle: a key has only handles that it made for the application of the request.
 */
const U2F_MESSAGES = [
  /^00010000000040[0-9A-F]{128}0000$/,
  /^0002(?:03|07)00000[01][0-9A-F]{2}[0-9A-F]{132,640}0000$/,
] as const;

const nothing = (payload: Uint8Array): boolean => payload.length === 0;

/** Whether a payload may be sent, by command. */
const ctapRules: ReadonlyMap<number, (payload: Uint8Array) => boolean> = new Map([
  [CTAPHID.MSG, (payload: Uint8Array) => U2F_MESSAGES.some(one => one.test(toHex(payload)))],
  [CTAPHID.INIT, (payload: Uint8Array) => payload.length === 8],
  [CTAPHID.CBOR, isHarmlessCbor],
  [CTAPHID.CANCEL, nothing],
  [CTAPHID.YUBIKEY_READ_CONFIG, (payload: Uint8Array) => payload.length === 1],
  [CTAPHID.TRUSSED_VERSION, nothing],
  [CTAPHID.TRUSSED_UUID, nothing],
  [CTAPHID.TRUSSED_ADMIN, (payload: Uint8Array) => payload.length === 1 && payload[0] === TRUSSED_STATUS],
]);

/** No PIN (8, 9), no stored credential (option rk of 7). */
function isHarmlessCbor(payload: Uint8Array): boolean {
  if (payload[0] === CTAP2.GET_INFO) return payload.length === 1;
  if (payload[0] === CTAP2.GET_ASSERTION) return isOwnAssertion(payload) || isOwnLookUp(payload);
  if (payload[0] !== CTAP2.MAKE_CREDENTIAL) return false;
  const parameters = readCbor(payload.subarray(1));
  return parameters instanceof Map && [...parameters.keys()].every(key => CREDENTIAL_PARAMETERS.has(key));
}

/** Messages that may also be sent when a key is issued, by command: the subcommands, and the parameters. */
interface IssuingRule {
  /** The parameter with the subcommand. */
  readonly at?: number;
  readonly subcommands?: readonly number[];
  readonly parameters: readonly number[];
}
const issuing: ReadonlyMap<number, IssuingRule> = new Map<number, IssuingRule>([
  [CTAP2.MAKE_CREDENTIAL, { parameters: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] }],
  [CTAP2.CLIENT_PIN, { at: 2, subcommands: Object.values(PIN), parameters: [1, 2, 3, 4, 5, 6, 9, 10] }],
  [CTAP2.CREDENTIAL_MANAGEMENT, { at: 1, subcommands: [CREDENTIAL_DELETE], parameters: [1, 2, 3, 4] }],
  [CTAP2.CONFIG, { at: 1, subcommands: [CONFIG_SET_MIN_PIN], parameters: [1, 2, 3, 4] }],
]);

function isIssuingCbor(payload: Uint8Array): boolean {
  if (payload[0] === CTAP2.GET_ASSERTION) return isOwnAssertion(payload) || isLookUp(payload);
  const rule = issuing.get(payload[0] ?? -1);
  if (rule === undefined) return isHarmlessCbor(payload);
  const parameters = readCbor(payload.subarray(1));
  if (!(parameters instanceof Map)) return false;
  const { at, subcommands, parameters: known } = rule;
  if (![...parameters.keys()].every(key => (known as readonly unknown[]).includes(key))) return false;
  return at === undefined || (subcommands as readonly unknown[]).includes(parameters.get(at));
}

/**
 * A signature with credentials that are named and that were made for devmgr: relying party, client data hash and list, and nothing else.
 * Without an option `up` the key signs only after a touch; without a list it could use a stored credential.
 */
function isOwnAssertion(payload: Uint8Array): boolean {
  const parameters = readCbor(payload.subarray(1));
  return parameters instanceof Map && parameters.size === 3 && isOwnQuestion(parameters, MOST_CREDENTIALS);
}

/** Which credential of a registry a key has, to recognize it: as a signature, and without a touch, so that it is none of a person. */
function isOwnLookUp(payload: Uint8Array): boolean {
  const parameters = readCbor(payload.subarray(1));
  if (!(parameters instanceof Map) || parameters.size !== 4 || !isOwnQuestion(parameters, MOST_LOOKED_UP)) return false;
  const options = parameters.get(5);
  return options instanceof Map && options.size === 1 && options.get('up') === false;
}

function isOwnQuestion(parameters: CborMap, most: number): boolean {
  const [party, hash, list] = [parameters.get(1), parameters.get(2), parameters.get(3)];
  if (typeof party !== 'string' || !OWN_PARTY.test(party)) return false;
  if (!(hash instanceof Uint8Array) || hash.length !== 32 || !Array.isArray(list)) return false;
  return list.length > 0 && list.length <= most;
}

/** Whether a key has a credential of a list: without a touch (`up`), so that no site accepts the signature. */
function isLookUp(payload: Uint8Array): boolean {
  const parameters = readCbor(payload.subarray(1));
  if (!(parameters instanceof Map) || ![...parameters.keys()].every(key => LOOK_UP_PARAMETERS.has(key))) return false;
  const [list, options] = [parameters.get(3), parameters.get(5)];
  return Array.isArray(list) && list.length > 0 && options instanceof Map && options.get('up') === false;
}

/** Commands to smart cards in hex; `.` is any digit. A card may ask for the same command with another last byte, its Le (6Cxx). */
const cardRules: readonly RegExp[] = [
  // SELECT: the main file, a file, or an application on any channel. Class A0: SIM cards of the second generation.
  /^(00|A0)A400(00|04)02....(..)?$/,
  /^0[0-3]A40400..([0-9A-F]{2}){5,17}$/,
  // READ BINARY of the selected file; GET RESPONSE.
  /^(00|A0)B00000..$/,
  /^(0[0-3]|8[0-3]|A0|FF)C00000..$/,
  // MANAGE CHANNEL: open the next one, close 1 to 3. TERMINAL CAPABILITY.
  /^00700000..$/,
  /^0070800[1-3]..$/,
  /^80AA00000AA9088100820101830107(..)?$/,
  // GET DATA: CPLC, OpenPGP's identifier, key information and certificates of SCP11b, UID of a contactless card, a simulated key.
  /^[08]0CA9F7F(..)?$/,
  /^00CA004F..$/,
  /^00CA00E0..$/,
  /^00CABF2106A604830213....$/,
  /^FFCA0000..$/,
  // STORE DATA of an eUICC with requests that only read: GetEuiccData for the EID, GetEuiccInfo1.
  /^8[0-3]E2910006BF3E035C015A..$/,
  /^8[0-3]E2910003BF2000..$/,
  // YubiKey: a page of the configuration, the serial. Token2: the serial.
  /^001D0[0-3]00(..)?$/,
  /^00011000(..)?$/,
  /^8033000012D110(00){16}(..)?$/,
  // INTERNAL AUTHENTICATE of SCP11b with a key of the host. Other data counts as a failed attempt, and 65 of them block the key.
  /^8088..1353A60D9002110095013C8001888101105F494104([0-9A-F]{2}){64}$/,
];

/** The slot command of a YubiKey's OTP interface that may be sent: it returns the serial. */
export const OTP_SERIAL = 0x10;

/** Limits a channel to its messages: throws a RangeError unless the CTAPHID message is one of it. */
export type CtapGate = (command: number, payload: Uint8Array) => void;

/** The gate of everything but the issuing of keys: no PIN, and nothing that stays on the key. */
export const allowCtap: CtapGate = (command, payload) => {
  if (!ctapRules.get(command)?.(payload)) throw neverSent(command);
};

/** The gate of the commands that issue keys: PINs, stored credentials, and their removal. */
export const allowIssuing: CtapGate = (command, payload) => {
  if (command !== CTAPHID.CBOR) allowCtap(command, payload);
  else if (!isIssuingCbor(payload)) throw neverSent(command);
};

/** The gate of a reset that the operator has confirmed: that, and what the issuing of keys sends. */
export const allowReset: CtapGate = (command, payload) => {
  const isReset = command === CTAPHID.CBOR && payload.length === 1 && payload[0] === CTAP2.RESET;
  if (!isReset) allowIssuing(command, payload);
};

const neverSent = (command: number): RangeError =>
  new RangeError(`command ${command.toString(16).padStart(2, '0')} with this payload is never sent`);

/** Throws a RangeError unless credentials of this relying party may be asked for without a touch. A message of U2F does not name it. */
export function allowParty(relyingParty: string): void {
  if (!OWN_PARTY.test(relyingParty)) throw new RangeError(`credentials of ${relyingParty} are never asked for`);
}

/** Throws a RangeError unless this command may be sent to a card. */
export function allowApdu(apdu: Uint8Array): void {
  const hex = toHex(apdu);
  if (!cardRules.some(rule => rule.test(hex)))
    throw new RangeError(`the card command ${hex.slice(0, 8)} with these data is never sent`);
}

/** Throws a RangeError unless this slot command may be sent to the OTP interface of a YubiKey. */
export function allowSlot(slot: number): void {
  if (slot !== OTP_SERIAL) throw new RangeError(`slot command ${slot.toString(16)} is never sent`);
}
