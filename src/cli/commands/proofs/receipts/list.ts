import { namesIn } from '../../../../contract/names.ts';
import type { ListedReceipt } from '../../../../contract/receipts.ts';
import { command, definedFields } from '../../../framework/define.ts';
import { resolveDevice } from '../../../framework/devices/device.ts';
import { pageFlags } from '../../../framework/flags.ts';
import { listFlags } from '../../../framework/format.ts';
import { presentPage } from '../../../framework/present-list.ts';
import type { Column } from '../../../terminal/column.ts';
import { localTime } from '../../../terminal/when.ts';

const fields = namesIn(
  'receiptId kind deviceId serialNumber lot person name date dueAt signedAt closedBy',
) satisfies readonly (keyof ListedReceipt)[];

const columns: Column<ListedReceipt>[] = [
  { title: 'RECEIPT', value: row => row.receiptId },
  { title: 'KIND', value: row => row.kind },
  { title: 'DEVICE', value: row => row.deviceId },
  { title: 'PERSON', value: row => row.person, shorten: 'end' },
  { title: 'DATE', value: row => localTime(row.date) },
  { title: 'DUE', value: row => row.dueAt && localTime(row.dueAt) },
  { title: 'CLOSED BY', value: row => row.closedBy, drop: 1 },
  { title: 'SERIAL', value: row => row.serialNumber, shorten: 'middle', drop: 2 },
];

/** Lists receipts: `GET /api/receipts/list`. */
export const list = command({
  flags: {
    overdue: { help: 'only loans that were not returned in time' },
    device: { value: 'DEVICE', offer: 'device', help: 'only receipts of this device' },
    ...pageFlags('receipts'),
    ...listFlags(fields),
  },
  examples: [
    { does: 'who has not returned a key', line: 'receipt list --overdue' },
    { does: 'the receipts of a device', line: 'receipt list --device DEV-1' },
  ],
  async run({ flags }, context) {
    const { page, limit: size, device } = flags;
    const deviceId = device === undefined ? undefined : await resolveDevice(context, device, false);
    const query = definedFields({ deviceId, overdue: flags.overdue ? true : undefined, page, size });
    const data = await context.registry.call('listReceipts', { query });
    return presentPage(
      context,
      data,
      { fields, columns, id: 'receiptId' },
      { what: 'receipts', none: 'No receipt matches.' },
    );
  },
});
