/** Announces loans that are overdue: an entry of the journal each, which the stream and webhooks deliver. */
import { readReceiptText } from '../../src/contract/receipts/text.ts';
import { announce } from '../domain/receipt.ts';
import type { Store } from '../store/store.ts';
import { DueWork, type DueWorkParts } from './due-work.ts';

/** Loans of one look. */
const PORTION = 100;

interface OverdueLoansParts extends DueWorkParts {
  readonly store: Pick<Store, 'receipts' | 'device' | 'commit' | 'sharedWork'>;
}

/** The commit of a loan that was announced is refused, so that each is announced once: also if the clock is set back. */
export class OverdueLoans extends DueWork<OverdueLoansParts> {
  protected readonly work = 'loans';
  protected readonly undone = 'overdue loans are not announced';

  async doDue(): Promise<boolean> {
    const { store, now } = this.parts;
    const window = { descending: false, offset: 0, limit: PORTION };
    const { rows } = await store.receipts({ unannouncedAt: now(), ...window });
    for (const loan of rows) {
      const [device, facts] = [await store.device(loan.device), readReceiptText(loan.text)];
      if (!device || !facts) continue;
      await store.commit({ at: now(), actor: null, requestId: null, changes: [announce(loan, device, facts)] });
    }
    return rows.length === PORTION;
  }
}
