/** Claims of a key, read without a touch or a PIN after its serial is known. They prove nothing. */

import type { KeyClaims } from '../driver.ts';
import { HardwareError } from '../hardware-error.ts';
import { cleanText } from '../text.ts';
import { VENDOR } from '../usb/ids.ts';
import type { CardConnection, ReportConnection } from './connection.ts';
import { readCplcBytes } from './cplc.ts';
import { type AuthenticatorInfo, getInfo } from './ctap2.ts';
import { CtapHidChannel } from './ctaphid.ts';
import { readEid, readEuiccInfo } from './eid.ts';
import { fidoCardInfo } from './fido-card.ts';
import { formBits, yubikeyForms } from './form-factors.ts';
import { CTAPHID, TRUSSED_STATUS } from './gate.ts';
import { toHex } from './hex.ts';
import { isTrussed } from './key-sources.ts';
import { parseTrussedStatus, parseVersion } from './trussed.ts';
import { cardConfigPages, fidoConfigPages, parseTlvs, readConfigValues } from './yubikey.ts';

/** Milliseconds from the report of a key or card to the reading of its claims: enrollments come first. */
export const CLAIMS_AFTER = 500;

/** Bounds of what is kept. */
const MAX_TEXT = 256;
const MAX_ITEMS = 32;

/** USB ids as four lower-case hex digits. */
interface ClaimedUsbIds {
  readonly vendorId: string;
  readonly productId: string;
}

/** Over the FIDO interface. Fails with a HardwareError if the key does not answer; what is not valid is left out. */
export async function readFidoClaims(
  connection: ReportConnection,
  ids: ClaimedUsbIds,
  signal: AbortSignal,
): Promise<KeyClaims> {
  const channel = await CtapHidChannel.open(connection, signal);
  const info = await unlessInvalid(() => getInfo(channel, signal));
  const yubikey = ids.vendorId === VENDOR.YUBICO;
  return {
    ...(info === null ? {} : infoClaims(info, yubikey)),
    ...(yubikey ? await yubiKeyClaims(fidoConfigPages(channel, signal)) : {}),
    ...(isTrussed(ids.vendorId, ids.productId) ? await trussedClaims(channel, signal) : {}),
  };
}

/** Over the smart card interface of a key that has no other. `vendorId` null: not known. Fails with a HardwareError. */
export async function readFidoCardClaims(
  card: CardConnection,
  vendorId: string | null,
  signal: AbortSignal,
): Promise<KeyClaims> {
  const yubikey = vendorId === VENDOR.YUBICO;
  const info = await unlessInvalid(() => fidoCardInfo(card, signal));
  const pages = yubikey ? await cardConfigPages(card, signal) : null;
  return { ...(info === null ? {} : infoClaims(info, yubikey)), ...(pages === null ? {} : await yubiKeyClaims(pages)) };
}

/** Most bytes of production data and EUICCInfo1 that are kept. */
const MAX_BYTES = 128;

/** Claims of a card in a reader; `euicc`: it has an EID. Fails with a HardwareError. */
export async function readCardClaims(
  card: CardConnection,
  euicc: boolean,
  signal: AbortSignal,
  euiccApplications?: readonly string[],
): Promise<KeyClaims> {
  const cplc = await unlessInvalid(() => readCplcBytes(card, signal));
  const eid = euicc ? await unlessInvalid(() => readEid(card, signal, euiccApplications)) : null;
  const info = euicc ? await unlessInvalid(() => readEuiccInfo(card, signal, euiccApplications)) : null;
  return present<KeyClaims>({ cplc: hexOf(cplc), eid, euiccInfo: hexOf(info) });
}

const hexOf = (bytes: Uint8Array | null): string | null =>
  bytes === null || bytes.length === 0 || bytes.length > MAX_BYTES ? null : toHex(bytes);

/** Null instead of an invalid answer, so that the other claims are still read. */
async function unlessInvalid<T>(read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof HardwareError && error.code === 'protocol') return null;
    throw error;
  }
}

const isEmpty = (value: object): boolean => Object.keys(value).length === 0;

/** Entries whose value is null, an empty list or an empty object are left out. */
function present<T extends object>(values: { readonly [K in keyof T]: T[K] | null }): Partial<T> {
  const kept = Object.entries(values).filter(([, one]) => one !== null && !(typeof one === 'object' && isEmpty(one)));
  return Object.fromEntries(kept) as Partial<T>;
}

const textOf = (text: string | null): string | null => cleanText(text)?.slice(0, MAX_TEXT) ?? null;

/** Result of getInfo. Other makers than Yubico number their firmware as they like. */
function infoClaims(info: AuthenticatorInfo, yubikey: boolean): KeyClaims {
  return present<KeyClaims>({
    aaguid: info.aaguid && uuidOf(info.aaguid),
    firmware: firmwareOf(info.firmware, yubikey),
    certifications: named(info.certifications),
    options: named(info.options),
    attestationFormats: info.attestationFormats.slice(0, MAX_ITEMS).flatMap(one => textOf(one) ?? []),
  });
}

function uuidOf(bytes: Uint8Array): string {
  const hex = toHex(bytes).toLowerCase();
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

function firmwareOf(firmware: number | null, yubikey: boolean): string | null {
  if (firmware === null) return null;
  return yubikey ? [16, 8, 0].map(shift => (firmware >>> shift) & 0xff).join('.') : String(firmware);
}

function named<V>(values: ReadonlyMap<string, V>): Record<string, V> {
  const safe = [...values].flatMap(([name, value]): [string, V][] => {
    const text = textOf(name);
    return text === null ? [] : [[text, value]];
  });
  return Object.fromEntries(safe.slice(0, MAX_ITEMS));
}

/** Tags of a YubiKey's configuration. Source: Yubico/yubikey-manager (yubikit/management.py). */
const TAG = { formFactor: 0x04, version: 0x05, partNumber: 0x13, qualifier: 0x19 } as const;
/** Tags inside the qualifier of the version. */
const QUALIFIER = { type: 0x02, iteration: 0x03 } as const;
const RELEASE_TYPES = ['alpha', 'beta', 'final'] as const;

async function yubiKeyClaims(readPage: (page: number) => Promise<Uint8Array | null>): Promise<KeyClaims> {
  return (await unlessInvalid(async () => configClaims(await readConfigValues(readPage)))) ?? {};
}

/** The configuration of a YubiKey, by the tags of its values. */
export function configClaims(values: ReadonlyMap<number, Uint8Array>): KeyClaims {
  const form = values.get(TAG.formFactor)?.[0];
  const version = values.get(TAG.version);
  const part = values.get(TAG.partNumber);
  return present<KeyClaims>({
    formFactor: form === undefined ? null : (yubikeyForms.get(form & formBits.form)?.claim ?? null),
    fips: form === undefined ? null : (form & formBits.fips) !== 0,
    firmware: version?.length === 3 ? version.join('.') : null,
    partNumber: part === undefined ? null : textOf(Buffer.from(part).toString('utf8')),
    versionQualifier: qualifierOf(values.get(TAG.qualifier)),
  });
}

/** Such as `beta 3`. */
function qualifierOf(bytes: Uint8Array | undefined): string | null {
  if (bytes === undefined) return null;
  const values = parseTlvs(bytes);
  const type = RELEASE_TYPES[values.get(QUALIFIER.type)?.[0] ?? -1];
  const iteration = values.get(QUALIFIER.iteration) ?? new Uint8Array();
  const number = iteration.reduce((sum, byte) => sum * 256 + byte, 0);
  return type === undefined ? null : `${type} ${number}`;
}

async function trussedClaims(channel: CtapHidChannel, signal: AbortSignal): Promise<KeyClaims> {
  const version = await unlessInvalid(async () => {
    const bytes = await channel.call(CTAPHID.TRUSSED_VERSION, new Uint8Array(), signal);
    return bytes && parseVersion(bytes);
  });
  const status = await unlessInvalid(() => channel.call(CTAPHID.TRUSSED_ADMIN, Uint8Array.of(TRUSSED_STATUS), signal));
  return { ...present<KeyClaims>({ firmware: version }), ...(status === null ? {} : parseTrussedStatus(status)) };
}
