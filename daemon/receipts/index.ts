import { journalEvent, journalEventTypes } from '../../src/contract/event-types.ts';
import type { Window } from '../store/queries.ts';
import type { Only, ReadsOf, RecordQueries } from '../store/read/records.ts';
import { subject } from '../store/subject.ts';
import type { Lookup } from '../store/table.ts';
import type { ReceiptChange, ReceiptFilter, ReceiptRecord } from './records.ts';
import { ReceiptReplay, receiptChanges, receiptErasure } from './rules.ts';
import { receipts as table } from './tables.ts';

declare module '../store/commit.ts' {
  interface SubjectChanges {
    receipts: ReceiptChange;
  }
}
declare module '../store/store.ts' {
  interface SubjectReads extends ReadsOf<typeof reads> {}
}

/** A loan of a device that is out of use stays open, and is not waited for. */
const inUse = `NOT EXISTS (SELECT 1 FROM device WHERE device.number = receipt.device AND device.status = 'DEACTIVATED')`;

function receiptsOnly({ device, overdueAt, unannouncedAt }: ReceiptFilter): Only<ReceiptRecord> | undefined {
  const at = overdueAt ?? unannouncedAt;
  if (at === undefined) return device === undefined ? undefined : { field: 'device', value: device };
  const also = device === undefined ? inUse : `${inUse} AND device = ${Number(device)}`;
  return { field: overdueAt === undefined ? 'announceAt' : 'openUntil', value: at, upTo: true, also };
}

const loans: Lookup<ReceiptRecord, 'receiptId' | 'openUntil' | 'closedBy'> = {
  table,
  by: ['device'],
  having: { kind: 'loan' },
  select: ['receiptId', 'openUntil', 'closedBy'],
};

const reads = (queries: RecordQueries) => ({
  receipt: (receiptId: string) => queries.one(table.unique, receiptId),
  receiptNumbered: (number: number) => queries.one(table.byKey, number),
  /** The loans of a device, by number. */
  loansOf: (device: number) => queries.all(loans, device),
  /** In order of creation. */
  receipts: ({ descending, offset, limit, ...filter }: ReceiptFilter & Window) =>
    queries.page(table, { descending, offset, limit }, receiptsOnly(filter)),
});

const ofReceipts = journalEventTypes.filter(type => journalEvent(type)?.subject === 'receipt');

/** Receipts of devices, which persons have signed. */
export const receipts = subject({
  tables: [table],
  changes: receiptChanges,
  additions: { 'person.erase': receiptErasure },
  replays: () => [{ takes: [...ofReceipts, 'RECEIPT_ERASED'], replay: new ReceiptReplay() }],
  reads,
});
