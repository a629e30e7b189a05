/** The rows of an input: registrations, or what is wrong with them. The command line and the console share it; it has no I/O. */
import { Code } from '../../contract/codes.ts';
import { requiredFields } from '../../contract/readers.ts';
import type { ColumnChoice, RowCondition } from '../../tables/choices.ts';
import { boundFields, type DeviceField, deviceFields, nameKey } from '../../tables/fields.ts';
import { helpfulPreset, type Preset, presetRules } from '../../tables/presets.ts';
import { withoutRanges } from '../../tables/ranges.ts';
import { positionText, type TableFormat } from '../../tables/raw.ts';
import { Repeats } from '../../tables/repeats.ts';
import { openTable, type Table } from '../../tables/table.ts';
import { serialKey } from '../../tables/values.ts';
import { type Defaults, type Row, type RowSource, rowOf, type SentRow } from './row.ts';

/** How a file of devices is read. */
export interface DeviceReading {
  /** Name of the file. */
  readonly file: string;
  /** Null detects it. */
  readonly format: TableFormat | null;
  readonly encoding: string | null;
  readonly preset: Preset | null;
  readonly map: readonly ColumnChoice<DeviceField>[];
  readonly where: readonly RowCondition[];
  /** Names of the columns of a file without a header row; null if it has one. */
  readonly columns: readonly string[] | null;
  /** Values for rows that have none; those of the preset come after them. */
  readonly defaults: Defaults;
  /** Serial numbers are taken as they are. */
  readonly asIs: boolean;
  /** Devices are bound to their holders. */
  readonly binds?: boolean;
  /** A person completes the choices: `TableOptions.isDraft`. */
  readonly isDraft?: boolean;
}

/** A file of devices. */
export interface DeviceFile {
  readonly table: Table<DeviceField>;
  /** With those of the preset. */
  readonly defaults: Defaults;
  readonly rows: AsyncGenerator<Row>;
}

/** Opens a file of devices. Throws `InvalidInput`, as the rows do. */
export async function openDevices(bytes: AsyncIterable<Uint8Array>, reading: DeviceReading): Promise<DeviceFile> {
  const rule = reading.preset === null ? null : presetRules[reading.preset];
  const defaults = { ...rule?.defaults, ...reading.defaults };
  const required = requiredFields.filter(field => !(field in defaults)).map(field => [field as DeviceField]);
  const table = await openTable(bytes, {
    ...reading,
    fields: reading.binds ? boundFields : deviceFields,
    format: rule?.format ?? reading.format,
    columns: reading.columns ?? rule?.columns ?? null,
    required: reading.binds ? [...required, ['userId']] : required,
    ...(reading.preset === null ? { helpful: helpfulPreset } : {}),
  });
  return { table, defaults, rows: rowsOf(table, { defaults, asIs: reading.asIs || table.shape.format === 'pskc' }) };
}

async function* rowsOf(
  table: Table<DeviceField>,
  rules: { readonly defaults: Defaults; readonly asIs: boolean },
): AsyncGenerator<Row> {
  const column = table.columns.find(({ field }) => field === 'serialNumber')?.name ?? '';
  const source = {
    column,
    hasCells: table.shape.format === 'csv' || table.shape.format === 'xlsx',
    holder: holderIn(table),
  };
  const seen = new SeenDevices(rules.asIs);
  for await (const read of table.rows)
    for (const one of withoutRanges(read, rules.asIs)) {
      const row = rowOf(one, rules, source);
      yield 'device' in row ? seen.judged(row) : row;
    }
}

function holderIn({ columns }: Table<DeviceField>): RowSource['holder'] {
  const column = columns.find(({ field }) => field === 'userId');
  if (column === undefined) return null;
  return { column: column.name, isChosen: column.isChosen || nameKey(column.name) === nameKey('userId') };
}

/** The devices of earlier rows: one that is there twice counts once. */
class SeenDevices {
  readonly #repeats = new Repeats();
  readonly #asIs: boolean;

  constructor(asIs: boolean) {
    this.#asIs = asIs;
  }

  judged(row: SentRow): Row {
    const { position, serialNumber, device } = row;
    const key = this.#asIs ? device.serialNumber : serialKey(device.serialNumber);
    const { deviceType, manufacturer, model } = device;
    const earlier = this.#repeats.earlier(key, position, [deviceType, manufacturer, model]);
    if (earlier === null) return row;
    if (earlier.isSame)
      return { position, serialNumber, repeats: `${positionText(position)} repeats ${positionText(earlier.position)}` };
    const problem = `serialNumber is that of ${positionText(earlier.position)}, whose type, manufacturer or model differs`;
    return { position, serialNumber, field: 'serialNumber', problem, code: Code.serialDuplicated };
  }
}
