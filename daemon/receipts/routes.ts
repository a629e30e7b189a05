import type { Bindings } from '../http/bindings.ts';
import type { ReceiptService } from './service.ts';

/** The services of receipts. */
interface ReceiptServices {
  readonly receipts: ReceiptService;
}

/** Receipts that keys sign. */
export const receiptOperations = (to: ReceiptServices): Bindings => ({
  createReceipt: ({ context, body }) => to.receipts.create(context, body),
  submitReceipt: ({ context, params, body }) => to.receipts.submit(context, params.receiptId, body),
  listReceipts: ({ query }) => to.receipts.list(query),
  getReceipt: ({ params }) => to.receipts.show(params.receiptId),
});
