/** Whether a key or a registration is the device that has its serial number. */
import type { DeviceDetail } from '../contract/device-shapes.ts';
import type { Registration } from '../contract/devices.ts';
import type { Key } from '../contract/hardware.ts';

const compared = [
  ['deviceType', 'type'],
  ['manufacturer', 'manufacturer'],
  ['model', 'model'],
] as const satisfies readonly (readonly [field: keyof Registration, name: string])[];

type ComparedFields = Pick<Registration, (typeof compared)[number][0]>;

/** The fields in which two with one serial number differ, each with its name in messages; none if they are the same device. */
export const differencesOf = (device: ComparedFields, other: ComparedFields): readonly (typeof compared)[number][] =>
  compared.filter(([field]) => device[field] !== other[field]);

/** What a key shows that its device cannot have. */
export interface Contradiction {
  readonly what: 'type' | 'AAGUID' | 'firmware';
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

/**
 * Why the key cannot be the device that has its serial number: some makers put one serial number into all their keys. Null if nothing
 * contradicts. Manufacturer and model are not compared: those of a device can be text that a person has written. Firmware is only
 * updated, so a lower major version is another key; a higher one is not.
 */
export function contradictionOf(
  { deviceType, claims, firmwareVersion }: Pick<Key, 'deviceType' | 'claims' | 'firmwareVersion'>,
  device: Pick<DeviceDetail, 'deviceType' | 'firmwareVersion' | 'proof'>,
): Contradiction | null {
  if (deviceType !== device.deviceType) return { what: 'type', recorded: device.deviceType, shown: deviceType };
  const recorded = device.proof?.aaguid?.toLowerCase();
  const shown = claims?.aaguid?.toLowerCase();
  if (recorded && shown && recorded !== shown) return { what: 'AAGUID', recorded, shown };
  const [before, now] = [majorOf(device.firmwareVersion), majorOf(firmwareVersion)];
  return before === null || now === null || now >= before
    ? null
    : { what: 'firmware', recorded: device.firmwareVersion!, shown: firmwareVersion! };
}
