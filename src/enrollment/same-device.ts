/** Whether a device that has the serial number of a registration is the same device. */
import type { Registration } from '../contract/devices.ts';

const compared = [
  ['deviceType', 'type'],
  ['manufacturer', 'manufacturer'],
  ['model', 'model'],
] as const satisfies readonly (readonly [field: keyof Registration, name: string])[];

type ComparedFields = Pick<Registration, (typeof compared)[number][0]>;

/** The fields in which two with one serial number differ, each with its name in messages; none if they are the same device. */
export const differencesOf = (device: ComparedFields, other: ComparedFields): readonly (typeof compared)[number][] =>
  compared.filter(([field]) => device[field] !== other[field]);
