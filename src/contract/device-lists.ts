/** The operations that return a selection of devices, and the filters that select them. */
import { type TOptional, type TSchema, type TUnsafe, Type } from 'typebox';
import { operations } from './define.ts';
import {
  type DeviceFilterName,
  type DeviceFilterValue,
  deviceFilters,
  type FilterDescription,
} from './device-filters.ts';
import { deviceListItem } from './device-shapes.ts';
import { boolean, instant, listOf, oneOf, tagFilter, token } from './fields.ts';
import { exportBounds, stallSeconds } from './limits.ts';
import { paged, pageQuery } from './paging.ts';
import { deviceSorts, type ExportFormat, exportFormats, roles, sortOrders } from './values.ts';

type FilterSchemas = {
  [N in DeviceFilterName]: TOptional<TUnsafe<DeviceFilterValue<N, Date, string>>>;
};

function schemaOf({
  kind,
  values = [],
  description,
  example,
  pattern,
  shape,
  maxLength,
}: (typeof descriptions)[number][1]): TSchema {
  switch (kind) {
    case 'set':
      return listOf(values, description);
    case 'time':
      return instant(description);
    case 'tag':
      return tagFilter(description);
    default:
      return token(
        { description, ...(example && { examples: [example] }), ...(pattern && { pattern, shape }) },
        maxLength,
      );
  }
}

const descriptions = Object.entries<FilterDescription>(deviceFilters);
/** Query parameters that select devices. A device is selected if it matches all of them. */
const deviceFilter = Object.fromEntries(
  descriptions.map(([name, description]) => [name, Type.Optional(schemaOf(description))]),
) as FilterSchemas;

/** Content types of an export, by format. */
export const exportTypes: Readonly<Record<ExportFormat, string>> = {
  ndjson: 'application/x-ndjson',
  csv: 'text/csv',
};

/** The operations that return a selection of devices. */
export const deviceListOperations = operations('Devices', {
  /** A page past the end is empty. */
  listDevices: {
    summary: 'List devices',
    description:
      'Nulls come last in both orders. Ties are broken by deviceId, so paging neither repeats nor skips a device.',
    access: roles,
    query: Type.Object({
      ...pageQuery(deviceSorts),
      ...deviceFilter,
    }),
    data: paged(deviceListItem),
  },

  /** All matches as of one moment. A response that breaks off has no last line (NDJSON) and no end of its last chunk. */
  exportDevices: {
    summary: 'Export devices as NDJSON or CSV',
    description: `Streams all matches in order of deviceId, as of one moment. NDJSON has a list item per line and ends with {"end":true,"count":N}. CSV has a header, with a column proof with the grade if a match has a proof, and a column tag:NAME for each tag of the matches; a cell that a spreadsheet would evaluate starts with an apostrophe. One export at a time for a user or service token, ${exportBounds.viewers} for all VIEWERs together, ${exportBounds.all} in all; a further one is refused with 429. A client that takes nothing for ${stallSeconds} s is disconnected.`,
    extension: true,
    access: roles,
    strictQuery: true,
    query: Type.Object({
      format: Type.Optional(oneOf(exportFormats, { description: 'ndjson if absent' })),
      sortOrder: Type.Optional(oneOf(sortOrders, { description: 'asc if absent' })),
      names: Type.Optional(
        boolean('true: each device has name, the name of its person; null for a VIEWER and without a person'),
      ),
      ...deviceFilter,
    }),
    raw: { contentType: exportTypes.ndjson, also: exportTypes.csv, description: 'the devices' },
  },
});
