/** One row of an input: a registration, or what is wrong with it. */
import type { BatchRegistration, Registration } from '../../contract/devices.ts';
import { isObject } from '../../contract/json-object.ts';
import { faultOf, readCells, readObject } from '../../contract/readers.ts';
import { deviceTypes } from '../../contract/values.ts';
import type { DeviceField } from '../../tables/fields.ts';
import { type HolderColumn, loginIn } from '../../tables/holders.ts';
import type { Position } from '../../tables/raw.ts';
import { judgedSerial } from '../../tables/serial-values.ts';
import type { TableRow } from '../../tables/table-row.ts';

/** A device to register, or an invalid row. `serialNumber` is null if the row has none. */
export type Row = { readonly position: Position; readonly serialNumber: string | null } & (
  | { readonly device: BatchRegistration }
  /** `field` is empty if the row as a whole is invalid. `code`: business code, if it is not that of an invalid parameter. */
  | { readonly field: string; readonly problem: string; readonly code?: number }
  /** The row repeats an earlier one, which counts. */
  | { readonly repeats: string }
);

/** A row that is sent. */
export type SentRow = Extract<Row, { readonly device: unknown }>;

/** Values for rows that lack them: those of `--type`, `--manufacturer`, `--model` and `--tag`, or of a preset. */
export type Defaults = Partial<Pick<Registration, 'deviceType' | 'manufacturer' | 'model' | 'tags'>>;

type Values = Readonly<Record<string, unknown>>;

/** The decoder writes this for bytes that are not valid UTF-8. */
const replacement = '\ufffd';

/** How a row is judged. */
export interface RowRules {
  readonly defaults: Defaults;
  /** Serial numbers are taken as they are, also those that a spreadsheet seems to have changed. */
  readonly asIs?: boolean;
}

/** Where the values of rows come from. */
export interface RowSource {
  /** Name of the column or property with the serial number. */
  readonly column: string;
  /** The values are those of cells, or of JSON. */
  readonly hasCells: boolean;
  /** The column with the holders; null if keys are registered only. */
  readonly holder: HolderColumn | null;
}

/** The registration of a row, or why it is none. */
export function rowOf(read: TableRow<DeviceField>, rules: RowRules, source: RowSource): Row {
  const { position, values, problem, hasSecrets } = read;
  const serial = values.serialNumber;
  const serialNumber =
    typeof serial === 'string'
      ? serial.trim() || null
      : serial === undefined || serial === null
        ? null
        : String(serial);
  if (problem !== null) return { position, serialNumber: hasSecrets ? null : serialNumber, field: '', problem };
  const row = judged(read, serialNumber, rules, source);
  // One of the secrets may be in the place of the serial number.
  return 'device' in row || !hasSecrets ? row : { ...row, serialNumber: null };
}

function judged(
  { position, values: given, tags, hasSecrets }: TableRow<DeviceField>,
  serialNumber: string | null,
  { defaults, asIs = false }: RowRules,
  { column, hasCells, holder }: RowSource,
): Row {
  const values = withTypeInCapitals(
    filled(hasCells && Object.keys(tags).length > 0 ? { ...given, tags } : given, defaults),
  );
  const broken = Object.keys(values).find(field => textOf(values[field]).includes(replacement));
  if (broken) return { position, serialNumber, field: broken, problem: `${broken} is not valid UTF-8` };
  const { deviceType, serialNumber: serial } = values;
  const found =
    typeof serial === 'string' && serialNumber !== null
      ? judgedSerial(serialNumber, { deviceType, asIs, column, hasSecrets })
      : null;
  if (found && 'problem' in found)
    return { position, serialNumber, field: 'serialNumber', problem: `serialNumber ${found.problem}` };
  const outcome = (hasCells ? readCells : readObject)(found ? { ...values, serialNumber: found.serial } : values);
  if (!outcome.ok) return { position, serialNumber, field: outcome.field, problem: outcome.message };
  const owner = holder === null ? { login: null } : loginIn(String(values.userId ?? ''), holder, hasSecrets);
  if ('problem' in owner) return { position, serialNumber, field: 'userId', problem: owner.problem };
  if (owner.login === null) return { position, serialNumber, device: outcome.value };
  const fault = faultOf('userId', owner.login);
  if (fault !== null) return { position, serialNumber, field: 'userId', problem: `userId ${fault}` };
  return { position, serialNumber, device: { ...outcome.value, userId: owner.login } };
}

const textOf = (value: unknown): string =>
  typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);

/** A value of the row takes precedence. Tags are filled one by one. */
function filled(values: Values, defaults: Defaults): Values {
  const all: Record<string, unknown> = { ...values };
  for (const [field, value] of Object.entries(defaults)) if (isBlank(all[field])) all[field] = value;
  const { tags } = values;
  if (defaults.tags && isObject(tags)) all.tags = { ...defaults.tags, ...tags };
  return all;
}

const isBlank = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === 'string' && value.trim() === '');

/** `ukey` in a file is accepted like `--type ukey`. */
function withTypeInCapitals(values: Values): Values {
  const { deviceType } = values;
  if (typeof deviceType !== 'string') return values;
  const name = deviceType.trim().toUpperCase();
  return deviceTypes.some(known => known === name) ? { ...values, deviceType: name } : values;
}
