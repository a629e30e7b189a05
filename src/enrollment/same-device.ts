/** Whether a key or a registration is the device that has its serial number. */
import type { DeviceDetail } from '../contract/device-shapes.ts';
import type { Registration } from '../contract/devices.ts';
import type { Key } from '../contract/hardware.ts';
import type { Poll } from './send.ts';

const compared = [
  ['deviceType', 'type'],
  ['manufacturer', 'manufacturer'],
  ['model', 'model'],
] as const satisfies readonly (readonly [field: keyof Registration, name: string])[];

type ComparedFields = Pick<Registration, (typeof compared)[number][0]>;

/** The fields in which two with one serial number differ, each with its name in messages; none if they are the same device. */
export const differencesOf = (device: ComparedFields, other: ComparedFields): readonly (typeof compared)[number][] =>
  compared.filter(([field]) => device[field] !== other[field]);

/** A fact about a key that contradicts its device. */
export interface Contradiction {
  /** `credentials`: of providers; `credential`: the one by which the registry recognizes it. */
  readonly what: 'type' | 'AAGUID' | 'model' | 'firmware' | 'credentials' | 'credential';
  readonly recorded: string;
  readonly shown: string;
}

/** Major versions of dotted version numbers, which alone are compared; null for other texts. */
const majorOf = (version: string | null | undefined): number | null => {
  const major = /^(\d{1,4})\.\d/.exec(version ?? '')?.[1];
  return major === undefined ? null : Number(major);
};

/** Milliseconds between two looks at the claims of a key, and in all. */
export const claimsPoll = { everyMs: 250, forMs: 4_000 } as const;

/** The key as a list has it: null while its claims are not read. A key that is not in the list is unplugged: it stays as it was. */
export function claimedIn(list: readonly Key[], key: Key): Key | null {
  const now = list.find(({ keyId }) => keyId === key.keyId);
  if (now === undefined) return key;
  return Object.keys(now.claims).length > 0 ? now : null;
}

/** An AAGUID in lower case; null for the zeros of an authenticator that names no model. */
const modelId = (aaguid: string | null | undefined): string | null =>
  aaguid && /[^0-]/.test(aaguid) ? aaguid.toLowerCase() : null;

/**
 * Manufacturer and model as the key itself reports them over USB; null if they can change. A YubiKey names its enabled interfaces, and its
 * serial number is that of the unit, as any that the maker's own protocol reports.
 */
export const productOf = ({ manufacturer, model, serialSource, vendorId }: Partial<Key>): string | null =>
  serialSource !== 'usb-descriptor' || vendorId === YUBICO || !model ? null : `${manufacturer ?? ''} ${model}`.trim();

const YUBICO = '1050';

/** Some products have the version of their firmware in the name. */
const withoutVersion = (product: string): string =>
  product
    .replace(/\bv?\d+(\.\d+)+/gi, '')
    .replace(/\s+/g, ' ')
    .trim()
    .toLowerCase();

/** The product that the record has of the key's own report. With an AAGUID the model can be that of the FIDO metadata. */
const recordedProduct = ({ proof }: Pick<DeviceDetail, 'proof'>): string | null =>
  proof?.method === 'claims' && !proof.aaguid ? proof.model : null;

/** The fields that a key shows without being asked. */
type ShownOfKey = Pick<Key, 'deviceType' | 'claims' | 'firmwareVersion'> & Partial<Key>;
type Recorded = Pick<DeviceDetail, 'deviceType' | 'firmwareVersion' | 'proof'>;

/**
 * Why the key cannot be the device that has its serial number: some makers put one serial number into all their keys. Null if nothing
 * contradicts. The manufacturer and the model of the device are not compared, because a person can have written them: the record of what a
 * key has reported is. Firmware is only updated, so a lower major version is another key; a higher one is not.
 */
export function contradictionOf(key: ShownOfKey, device: Recorded): Contradiction | null {
  const { deviceType, claims, firmwareVersion } = key;
  if (deviceType !== device.deviceType) return { what: 'type', recorded: device.deviceType, shown: deviceType };
  const [recorded, shown] = [modelId(device.proof?.aaguid), modelId(claims?.aaguid)];
  if (recorded && shown && recorded !== shown) return { what: 'AAGUID', recorded, shown };
  const [product, other] = [recordedProduct(device), productOf(key)];
  if (product && other && withoutVersion(product) !== withoutVersion(other))
    return { what: 'model', recorded: product, shown: other };
  const [before, now] = [majorOf(device.firmwareVersion), majorOf(firmwareVersion)];
  return before === null || now === null || now >= before
    ? null
    : { what: 'firmware', recorded: device.firmwareVersion!, shown: firmwareVersion! };
}

/** Milliseconds between two looks at the claims of a key, and in all: a key without a serial number is asked at once. */
export const soonDescribed = { everyMs: 50, forMs: 1_500 } as const;
/** For a key of CTAP2, which has claims, however busy the station is. */
export const surelyDescribed = { everyMs: 250, forMs: 15_000 } as const;

/** Whether the key has claimed something. A key of U2F alone claims nothing, and nor does one that has not been read yet. */
export const speaksCtap2 = ({ claims }: Key): boolean => Object.keys(claims ?? {}).length > 0;

/** The key with its claims; as it is if there are none in time. */
export async function withClaims(
  key: Key,
  list: () => Promise<readonly Key[]>,
  poll: Poll,
  bounds: Parameters<Poll>[1],
): Promise<Key> {
  if (speaksCtap2(key)) return key;
  return (await poll(async () => claimedIn(await list(), key), bounds)) ?? key;
}

/** Facts that select the credentials that a key may have. */
export const shownBy = (key: Key) => ({
  protocol: speaksCtap2(key) ? ('CTAP2' as const) : ('U2F' as const),
  aaguid: key.claims?.aaguid ?? null,
  firmware: key.claims?.firmware ?? key.firmwareVersion,
});
