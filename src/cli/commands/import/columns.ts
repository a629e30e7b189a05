/** Which column holds which field. Spelling is taken generously; what `list --csv` writes is understood. */
import type { Registration } from '../../../contract/devices.ts';

export type Field = keyof Registration;

const names: Readonly<Record<Field, readonly string[]>> = {
  deviceType: ['devicetype', 'type', 'kind'],
  serialNumber: ['serialnumber', 'serial', 'serialno', 'serialnum', 'serialnr', 'sn'],
  manufacturer: ['manufacturer', 'vendor', 'maker', 'manufacturername'],
  model: ['model', 'devicemodel', 'modelname', 'product'],
  hardwareVersion: ['hardwareversion', 'hardware', 'hwversion', 'hw'],
  firmwareVersion: ['firmwareversion', 'firmware', 'fwversion', 'fw'],
};

export const fields = Object.keys(names) as Field[];
export const requiredFields: readonly Field[] = ['deviceType', 'serialNumber', 'manufacturer', 'model'];

const byName = new Map(fields.flatMap(field => names[field].map(name => [name, field] as const)));

/** The field that a column or a property is named for, or null. */
export function fieldOf(name: string): Field | null {
  return (
    byName.get(
      name
        .trim()
        .toLowerCase()
        .replace(/[\s_.-]+/g, ''),
    ) ?? null
  );
}
