/** Receipts that keys sign, and loans that end. */

import type { StartSubject } from '../http/subject.ts';
import { ReceiptService } from '../services/receipts/receipt-service.ts';
import { receiptOperations } from './routes.ts';
import { OverdueLoans } from './work.ts';

export const startReceipts: StartSubject = ({ log, stack, store, instance, now, offers }) => {
  stack.start(new OverdueLoans({ store, log, now }));
  const parts = { registryId: instance.id, secret: instance.secret('receipts'), roots: offers.roots! };
  return { operations: receiptOperations({ receipts: new ReceiptService({ ...parts, store, now }) }) };
};
