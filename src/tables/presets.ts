/** Files of others that are known by name: what their names of columns do not say. */
import type { DeviceType } from '../contract/values.ts';
import { nameKey } from './fields.ts';
import type { TableFormat } from './raw.ts';

/** Files of others that are known by name. */
export const presets = ['yubico', 'entra-oath', 'snipe-it', 'pskc', 'privacyidea'] as const;
/** The name of a preset. */
export type Preset = (typeof presets)[number];

/** Facts about the files of a program. */
export interface PresetRule {
  /** Whose files they are. */
  readonly maker: string;
  /** Values for rows that have none and no flag. */
  readonly defaults: { readonly deviceType?: DeviceType; readonly manufacturer?: string };
  readonly format: TableFormat | null;
  /** Names of the columns of a file without a header row, if its first cells are such a file's; null if they are not. */
  readonly columns: ((first: readonly string[]) => readonly string[] | null) | null;
}

/**
 * Columns of Yubico's key provisioning format, which has no header row and may have an eighth column:
 * https://developers.yubico.com/yubikey-ksm/Key_Provisioning_Format.html. `ykman list --serials` writes the first column alone.
 */
const provisioning = [
  'serial number',
  'public id',
  'private id',
  'AES key',
  'lock code',
  'created',
  'accessed',
  'flags',
];
/** Columns of privacyIDEA's OATH CSV: https://privacyidea.readthedocs.io/en/latest/configuration/tokenimport.html */
const oath = ['serial', 'seed', 'token kind', 'digits', 'time step'];

/** Serial numbers of YubiKeys are decimal numbers of at most ten digits. */
const isYubicoSerial = (cell: string | undefined): boolean => /^\d{1,10}$/.test(cell?.trim() ?? '');
const isOath = (cells: readonly string[]): boolean => /^(hotp|totp|oath)$/i.test(cells[2]?.trim() ?? '');

/** The rules, by name. */
export const presetRules: Readonly<Record<Preset, PresetRule>> = {
  yubico: {
    maker: 'a file of Yubico',
    defaults: { deviceType: 'UKEY', manufacturer: 'Yubico' },
    format: null,
    columns: ([first, ...others]) => (isYubicoSerial(first) ? provisioning.slice(0, others.length + 1) : null),
  },
  // The header row is upn,serial number,secret key,time interval,manufacturer,model:
  // https://learn.microsoft.com/entra/identity/authentication/how-to-mfa-upload-oath-tokens
  'entra-oath': { maker: 'a file of Microsoft Entra', defaults: { deviceType: 'UKEY' }, format: null, columns: null },
  privacyidea: {
    maker: 'a file of privacyIDEA',
    defaults: { deviceType: 'UKEY' },
    format: null,
    columns: cells => (isOath(cells) ? oath : null),
  },
  // An export has Serial and Model, a file for the importer Serial number and Model name:
  // https://snipe-it.readme.io/docs/importing and sample_csvs/ in https://github.com/grokability/snipe-it
  'snipe-it': { maker: 'a file of Snipe-IT', defaults: {}, format: null, columns: null },
  pskc: { maker: 'a PSKC file', defaults: { deviceType: 'UKEY' }, format: 'pskc', columns: null },
};

/** The preset of a file whose first line has these cells; null if none is known. */
export function likelyPreset(cells: readonly string[]): Preset | null {
  const known = new Set(cells.map(nameKey));
  if (known.has('upn') && known.has('secretkey')) return 'entra-oath';
  if (known.has('assettag')) return 'snipe-it';
  if (cells[0]?.trim().startsWith('# ykksm')) return 'yubico';
  if (isOath(cells)) return 'privacyidea';
  return isYubicoSerial(cells[0]) && /^[0-9a-f]{32}$/i.test(cells[3]?.trim() ?? '') ? 'yubico' : null;
}

/** The preset that gives a file one of the fields that it lacks; null if none does. */
export function helpfulPreset(
  format: TableFormat,
  cells: readonly string[],
  missing: readonly string[],
): Preset | null {
  const preset = format === 'pskc' ? 'pskc' : likelyPreset(cells);
  if (preset === null) return null;
  const { columns, defaults } = presetRules[preset];
  return columns !== null || missing.some(field => Object.hasOwn(defaults, field)) ? preset : null;
}
