/** The tables of receipts. */

import { type Lookup, StoreTable } from '../store/table.ts';
import { erasedFields, type ReceiptRecord, signedFields } from './records.ts';

export const receipts = new StoreTable<ReceiptRecord>(
  'receipt',
  {
    number: 'integer',
    receiptId: 'text',
    device: 'integer',
    kind: 'text',
    text: 'text',
    credentialId: 'text',
    authenticatorData: 'text',
    signature: 'text',
    publicKey: 'text',
    proof: 'json',
    createdAt: 'integer',
    openUntil: 'integer',
    announceAt: 'integer',
    closedBy: 'integer',
  },
  { fixed: signedFields.filter(field => !erasedFields.includes(field)), unique: ['receiptId'] },
);

export const openLoans: Lookup<ReceiptRecord> = {
  table: receipts,
  by: ['device'],
  having: { kind: 'loan', closedBy: null },
};
