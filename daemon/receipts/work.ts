/** Overdue loans are announced. */
import { readReceiptText } from '../../src/contract/receipts/text.ts';
import type { DueTask } from '../background/due-work.ts';
import type { ServiceParts } from '../requests/context.ts';
import type { Store } from '../store/store.ts';
import { announce } from './records.ts';

/** Loans of one look. */
const PORTION = 100;

/** A second announcement of a loan is refused in its commit, so each is announced once, even if the clock is set back. */
export const overdueLoans = ({ store, now }: ServiceParts<Pick<Store, 'receipts' | 'device' | 'commit'>>): DueTask => ({
  work: 'loans',
  undone: 'overdue loans are not announced',
  look: async () => {
    const window = { descending: false, offset: 0, limit: PORTION };
    const { rows } = await store.receipts({ unannouncedAt: now(), ...window });
    for (const loan of rows) {
      const [device, facts] = [await store.device(loan.device), readReceiptText(loan.text)];
      if (!device || !facts) continue;
      await store.commit({ at: now(), actor: null, requestId: null, changes: [announce(loan, device, facts)] });
    }
    return rows.length === PORTION;
  },
});
