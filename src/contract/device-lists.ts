/** The operations that return a selection of devices, and the filters that select them. */
import { Type } from 'typebox';
import { operations } from './define.ts';
import { deviceListItem } from './device-shapes.ts';
import { instant, listOf, oneOf, tagFilter, token } from './fields.ts';
import { exportBounds, stallSeconds } from './limits.ts';
import { paged, pageQuery } from './paging.ts';
import {
  deviceSorts,
  deviceStatuses,
  deviceTypes,
  type ExportFormat,
  exportFormats,
  proofGrades,
  roles,
} from './values.ts';

const tag = 'Devices';

/** Query parameters that select devices. A device is selected if it matches all of them. */
export const deviceFilter = {
  deviceType: Type.Optional(listOf(deviceTypes, 'type')),
  status: Type.Optional(listOf(deviceStatuses, 'state')),
  keyword: Type.Optional(
    token({ description: 'part of a deviceId or serial number, case-insensitive', examples: ['2026-0000'] }),
  ),
  manufacturer: Type.Optional(token({ description: 'manufacturer, exact match' })),
  userId: Type.Optional(token({ description: 'bound user, exact match' })),
  serialNumber: Type.Optional(token({ description: 'whole serial number, exact match' })),
  createdFrom: Type.Optional(instant('registered at this time or later')),
  createdTo: Type.Optional(instant('registered earlier')),
  lastUsedBefore: Type.Optional(instant('last used earlier, or never used and activated earlier')),
  codeExpiresBefore: Type.Optional(instant('the activation code expires earlier, in any state')),
  proof: Type.Optional(listOf(proofGrades, 'grade of the proof; none: without a proof')),
  aaguid: Type.Optional(token({ description: 'AAGUID of the proof, in lower case' })),
  advisory: Type.Optional(
    token({ description: 'security advisory that applies to the key', examples: ['YSA-2024-03'] }),
  ),
  tag: Type.Optional(tagFilter('a tag as name:value; may be repeated, and all must match')),
};

/** Content types of an export, by format. */
export const exportTypes: Readonly<Record<ExportFormat, string>> = {
  ndjson: 'application/x-ndjson',
  csv: 'text/csv',
};

/** The operations that return a selection of devices. */
export const deviceListOperations = operations({
  /** A page past the end is empty. */
  listDevices: {
    tag,
    summary: 'List devices',
    description:
      'Nulls come last in both orders. Ties are broken by deviceId, so paging neither repeats nor skips a device.',
    access: roles,
    limit: 'query',
    query: Type.Object({
      ...pageQuery(deviceSorts),
      ...deviceFilter,
    }),
    data: paged(deviceListItem),
    errors: [],
  },

  /** All matches as of one moment. A response that breaks off has no last line (NDJSON) and no end of its last chunk. */
  exportDevices: {
    tag,
    summary: 'Export devices as NDJSON or CSV',
    description: `Streams all matches in ascending order of deviceId, as of one moment. NDJSON has a list item per line and ends with {"end":true,"count":N}. CSV has a header, with a column proof with the grade if a match has a proof, and a column tag:NAME for each tag of the matches; a cell that a spreadsheet would evaluate starts with an apostrophe. One export at a time for a user or service token, ${exportBounds.viewers} for all VIEWERs together, ${exportBounds.all} in all; a further one is refused with 429. A client that takes nothing for ${stallSeconds} s is disconnected.`,
    extension: true,
    access: roles,
    limit: 'query',
    query: Type.Object({
      format: Type.Optional(oneOf(exportFormats, { description: 'ndjson if absent' })),
      ...deviceFilter,
    }),
    raw: { contentType: exportTypes.ndjson, also: exportTypes.csv, description: 'the devices' },
    errors: [],
  },
});
