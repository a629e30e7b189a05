/** Receipts that keys sign, and loans that end. */
import { DueWork } from '../background/due-work.ts';
import type { StartSubject } from '../http/subject.ts';
import { ReceiptService } from './service.ts';
import { overdueLoans } from './work.ts';

declare module '../http/subject.ts' {
  interface Offers {
    receipts?: Pick<ReceiptService, 'create' | 'submit'>;
  }
}

export const startReceipts: StartSubject = ({ log, stack, store, instance, now, offers }) => {
  stack.start(new DueWork({ store, log }, overdueLoans({ store, now })));
  const parts = {
    registryId: instance.id,
    secret: instance.secret('receipts'),
    roots: offers.roots!,
    identities: offers.identityJudge,
  };
  const receipts = new ReceiptService({ ...parts, store, now });
  offers.receipts = receipts;
  return {
    operations: {
      createReceipt: ({ context, body }) => receipts.create(context, body),
      submitReceipt: ({ context, params, body }) => receipts.submit(context, params.receiptId, body),
      listReceipts: ({ query }) => receipts.list(query),
      getReceipt: ({ params }) => receipts.show(params.receiptId),
    },
  };
};
