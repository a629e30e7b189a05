/** Which column of a foreign file stands for which field. */
import { plainName } from '../../contract/csv.ts';
import { fieldOf, type RegistrationField } from './columns.ts';
import type { Defaults } from './row.ts';
import { isSecretName } from './secret-names.ts';

/** Which names a file has for the fields, and what it leaves out. */
export interface Mapping {
  /** The preset; null if columns were named one by one, or not at all. */
  readonly preset: Preset | null;
  /** Names of the columns for a field. The first one that the file has counts. */
  readonly columns: Readonly<Partial<Record<RegistrationField, readonly string[]>>>;
  /** Whether the file must have these columns. */
  readonly isStrict: boolean;
  /** Values for rows that have none and no flag. */
  readonly defaults: Defaults;
  /** Names of the columns of a file without a header row, if its first cells are such a file's; null if they are not. */
  readonly namesWithoutHeader: (cells: readonly string[]) => readonly string[] | null;
  /** Whether lines that begin with `#` are comments. */
  readonly hasComments: boolean;
  /** The choice of a person for a column, by its plain name; null ignores the column. It takes precedence over all else. */
  readonly chosen: ReadonlyMap<string, RegistrationField | null>;
}

/** Files of others that are known by name. */
export const presets = ['yubico', 'entra-oath', 'snipe-it', 'pskc'] as const;
/** The name of a preset. */
export type Preset = (typeof presets)[number];

const plain: Omit<Mapping, 'preset'> = {
  columns: {},
  isStrict: false,
  defaults: {},
  namesWithoutHeader: () => null,
  hasComments: false,
  chosen: new Map(),
};

/** No mapping: columns are known by the names of their fields. */
export const noMapping: Mapping = { ...plain, preset: null };

/**
 * Columns of Yubico's key provisioning format, which has no header row and may have an eighth column:
 * https://developers.yubico.com/yubikey-ksm/Key_Provisioning_Format.html. `ykman list --serials` writes the first column alone.
 */
const provisioningColumns = [
  'serial number',
  'public id',
  'private id',
  'AES key',
  'lock code',
  'created',
  'accessed',
  'flags',
];

/** Serial numbers of YubiKeys are decimal numbers of at most ten digits. */
const isYubicoSerial = (cell: string | undefined): boolean => /^\d{1,10}$/.test(cell?.trim() ?? '');

/** The mapping of a preset. */
export const presetMapping = (preset: Preset): Mapping => ({ ...mappings[preset], preset });

const mappings: Readonly<Record<Preset, Omit<Mapping, 'preset'>>> = {
  yubico: {
    ...plain,
    columns: {
      serialNumber: ['Serial number', 'Serial', 'YubiKey serial number', 'YubiKey serial', 'Device serial'],
      model: ['Model', 'Product', 'Product name', 'YubiKey model'],
      firmwareVersion: ['Firmware', 'Firmware version'],
    },
    defaults: { deviceType: 'UKEY', manufacturer: 'Yubico' },
    namesWithoutHeader: ([first, ...others]) =>
      isYubicoSerial(first) ? provisioningColumns.slice(0, others.length + 1) : null,
    hasComments: true,
  },
  // The header row is upn,serial number,secret key,time interval,manufacturer,model:
  // https://learn.microsoft.com/entra/identity/authentication/how-to-mfa-upload-oath-tokens
  'entra-oath': {
    ...plain,
    columns: { serialNumber: ['serial number'], manufacturer: ['manufacturer'], model: ['model'] },
    defaults: { deviceType: 'UKEY' },
  },
  // An export has Serial and Model, a file for the importer Serial number and Model name:
  // https://snipe-it.readme.io/docs/importing and sample_csvs/ in https://github.com/grokability/snipe-it
  'snipe-it': {
    ...plain,
    columns: {
      serialNumber: ['Serial', 'Serial number', 'Item serial'],
      manufacturer: ['Manufacturer'],
      model: ['Model', 'Model name', 'Asset model'],
    },
  },
  // XML is read by pskc.ts.
  pskc: { ...plain, defaults: { deviceType: 'UKEY' } },
};

/** The field of each name; null if none. A column of the mapping takes precedence over one with the name of a field. */
export function assignedFields(names: readonly string[], { columns, chosen }: Mapping): (RegistrationField | null)[] {
  const plainNames = names.map(plainName);
  const fields: (RegistrationField | null)[] = plainNames.map((name, index) =>
    isSecretName(names[index]!) ? null : (chosen.get(name) ?? null),
  );
  const taken = new Set(fields.filter(field => field !== null));
  for (const [field, candidates] of Object.entries(columns) as [RegistrationField, readonly string[]][]) {
    const index = candidates.map(name => plainNames.indexOf(plainName(name))).find(found => found >= 0) ?? -1;
    if (index < 0 || taken.has(field) || chosen.has(plainNames[index]!)) continue;
    fields[index] = field;
    taken.add(field);
  }
  return fields.map((assigned, index) => {
    if (assigned !== null || chosen.has(plainNames[index]!)) return assigned;
    const field = isSecretName(names[index]!) ? null : fieldOf(names[index]!);
    return field === null || taken.has(field) ? null : field;
  });
}

/** Columns that the user named and the file lacks. */
export const absentColumns = (names: readonly string[], { columns, isStrict }: Mapping): readonly string[] =>
  isStrict
    ? Object.values(columns)
        .flat()
        .filter(column => !names.some(name => plainName(name) === plainName(column)))
    : [];

/** The preset of a file whose first line has these cells; null if none is known. */
export function likelyPreset(names: readonly string[]): Preset | null {
  const known = new Set(names.map(plainName));
  if (known.has('upn') && known.has('secretkey')) return 'entra-oath';
  if (known.has('assettag')) return 'snipe-it';
  if (names[0]?.trim().startsWith('# ykksm')) return 'yubico';
  return isYubicoSerial(names[0]) && /^[0-9a-f]{32}$/i.test(names[3]?.trim() ?? '') ? 'yubico' : null;
}
