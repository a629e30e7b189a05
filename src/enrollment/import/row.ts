/** One row of an input: a registration, or what is wrong with it. */
import type { Registration } from '../../contract/devices.ts';
import { isObject } from '../../contract/json-object.ts';
import type { readObject } from '../../contract/readers.ts';
import { deviceTypes } from '../../contract/values.ts';
import { judgedSerial } from './serial-values.ts';

/** Where a row or its result is in the input. */
export interface Position {
  /** Counted from 1. */
  readonly line: number;
  /** Which element of a JSON array, counted from 1: a whole array may be on one line. */
  readonly item?: number;
}

/** `line 7`, or `item 7` of an array. */
export const positionText = ({ line, item }: Position): string =>
  item === undefined ? `line ${line}` : `item ${item}`;

/** A device to register, or an invalid row. `serialNumber` is null if the row has none. */
export type Row = { readonly position: Position; readonly serialNumber: string | null } & (
  | { readonly device: Registration }
  /** `field` is empty if the row as a whole is invalid. `code`: business code, if it is not that of an invalid parameter. */
  | { readonly field: string; readonly problem: string; readonly code?: number }
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

/** Where the values of a row come from. */
export interface RowSource {
  /** Name of the column or property with the serial number. */
  readonly column: string;
  /** The row has secrets, and one may be in the place of another value: a row that is refused shows none. */
  readonly hasSecrets: boolean;
}

/** The row with these values, by field. */
export function rowOf(
  position: Position,
  given: Values,
  rules: RowRules,
  source: RowSource,
  read: typeof readObject,
): Row {
  const row = judged(position, given, rules, source, read);
  if ('device' in row || !source.hasSecrets) return row;
  return { ...row, serialNumber: null };
}

function judged(
  position: Position,
  given: Values,
  { defaults, asIs = false }: RowRules,
  source: RowSource,
  read: typeof readObject,
): Row {
  const values = withTypeInCapitals(filled(given, defaults));
  const serial = values.serialNumber;
  const serialNumber =
    typeof serial === 'string'
      ? serial.trim() || null
      : serial === undefined || serial === null
        ? null
        : String(serial);
  const broken = Object.keys(values).find(field => textOf(values[field]).includes(replacement));
  if (broken) return { position, serialNumber, field: broken, problem: `${broken} is not valid UTF-8` };
  const { deviceType } = values;
  const found =
    typeof serial === 'string' && serialNumber !== null
      ? judgedSerial(serialNumber, { deviceType, asIs, ...source })
      : null;
  if (found && 'problem' in found)
    return { position, serialNumber, field: 'serialNumber', problem: `serialNumber ${found.problem}` };
  const outcome = read(found ? { ...values, serialNumber: found.serial } : values);
  if (!outcome.ok) return { position, serialNumber, field: outcome.field, problem: outcome.message };
  return { position, serialNumber, device: outcome.value };
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
