/** Receipts that keys sign, and loans that end. */

import { DueWork } from '../background/due-work.ts';
import type { StartSubject } from '../http/subject.ts';
import { receiptOperations } from './routes.ts';
import { ReceiptService } from './service.ts';
import { overdueLoans } from './work.ts';

export const startReceipts: StartSubject = ({ log, stack, store, instance, now, offers }) => {
  stack.start(new DueWork({ store, log }, overdueLoans({ store, now })));
  const parts = {
    registryId: instance.id,
    secret: instance.secret('receipts'),
    roots: offers.roots!,
    identities: offers.identityJudge,
  };
  return { operations: receiptOperations({ receipts: new ReceiptService({ ...parts, store, now }) }) };
};
