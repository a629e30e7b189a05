import type { ReceiptChange, ReceiptRecord } from '../domain/receipt.ts';
import type { ReceiptFilter, Rows, Window } from '../store/queries.ts';
import type { Only } from '../store/read/records.ts';
import { subject } from '../store/subject.ts';
import { ReceiptReplay, receiptChanges } from './rules.ts';
import { receipts as table } from './tables.ts';

declare module '../store/commit.ts' {
  interface SubjectChanges {
    receipts: ReceiptChange;
  }
}
declare module '../store/store.ts' {
  interface SubjectReads {
    receipt(receiptId: string): Promise<ReceiptRecord | null>;
    receiptNumbered(number: number): Promise<ReceiptRecord | null>;
    /** In order of creation. */
    receipts(query: ReceiptFilter & Window): Promise<Rows<ReceiptRecord>>;
  }
}

/** A loan of a device that is out of use stays open, and is not waited for. */
const inUse = `NOT EXISTS (SELECT 1 FROM device WHERE device.number = receipt.device AND device.status = 'DEACTIVATED')`;

function receiptsOnly({ device, overdueAt, unannouncedAt }: ReceiptFilter): Only<ReceiptRecord> | undefined {
  const at = overdueAt ?? unannouncedAt;
  if (at === undefined) return device === undefined ? undefined : { field: 'device', value: device };
  const also = device === undefined ? inUse : `${inUse} AND device = ${Number(device)}`;
  return { field: overdueAt === undefined ? 'announceAt' : 'openUntil', value: at, upTo: true, also };
}

/** Receipts of devices, which persons have signed. */
export const receipts = subject({
  tables: [table],
  changes: receiptChanges,
  replays: () => [{ takes: ['RECEIPT_SIGNED', 'LOAN_OVERDUE'], replay: new ReceiptReplay() }],
  reads: queries => ({
    receipt: receiptId => queries.one(table.unique, receiptId),
    receiptNumbered: number => queries.one(table.byKey, number),
    receipts: ({ descending, offset, limit, ...filter }) =>
      queries.page(table, { descending, offset, limit }, receiptsOnly(filter)),
  }),
});
