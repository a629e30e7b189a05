/** What the changes of receipts mean, and their entries. */
import { type ReceiptChange, type ReceiptRecord, receiptDigest, signedFields } from '../../domain/receipt.ts';
import { Conflict } from '../commit.ts';
import { openLoans, receipts } from '../tables.ts';
import type { Replay, ReplayedEntry, Report } from './replay.ts';
import { type ChangeRules, done } from './rule.ts';

export const receiptChanges: ChangeRules<ReceiptChange['kind']> = {
  'receipt.add': {
    needs({ receipt }, wanted) {
      wanted.add(receipts.unique, receipt.receiptId);
      wanted.add(openLoans, receipt.device);
    },
    apply(draft, { receipt, entry }, context) {
      const closed = draft.of(receipts).all(openLoans, receipt.device);
      const { openUntil: announceAt } = receipt;
      const make = (number: number) => ({ ...receipt, number, createdAt: context.at, announceAt, closedBy: null });
      const { record, isNew } = draft.add(receipts, make);
      if (!isNew) return { kind: 'duplicate', number: record.number, status: null };
      for (const loan of closed)
        draft.of(receipts).change({ ...loan, openUntil: null, announceAt: null, closedBy: record.number });
      const detail = { ...entry.detail, openUntil: announceAt, closes: closed.map(({ number }) => number) };
      const proved = { ...detail, receiptDigest: receiptDigest(record) };
      draft.enter(context, { ...entry, detail: proved }, receipt.device, record.number);
      return { kind: 'added', number: record.number };
    },
  },
  'loan.announce': {
    needs: ({ receipt }, wanted) => wanted.add(receipts.byKey, receipt),
    check(draft, { receipt }) {
      if (typeof draft.of(receipts).get(receipt)?.announceAt !== 'number')
        throw new Conflict(`the loan ${receipt} was announced or closed`);
    },
    apply(draft, { receipt, entry }, context) {
      const loan = draft.of(receipts).get(receipt)!;
      draft.of(receipts).change({ ...loan, announceAt: null });
      draft.enter(context, entry, loan.device, receipt);
      return done;
    },
  },
};

/** What entries say about a receipt. */
interface ReceiptFacts {
  readonly digest: unknown;
  openUntil: unknown;
  announceAt: unknown;
  closedBy: number | null;
}

/** The receipts as the journal records that they are. */
export class ReceiptReplay implements Replay<number, ReceiptRecord> {
  readonly table = 'receipt';
  readonly fields = ['number', ...signedFields, 'openUntil', 'announceAt', 'closedBy'] as const;
  readonly #said = new Map<number, ReceiptFacts>();

  apply(number: number, { type, detail }: ReplayedEntry): void {
    if (type === 'LOAN_OVERDUE') this.#set(number, { announceAt: null });
    if (type !== 'RECEIPT_SIGNED') return;
    const { receiptDigest: digest, openUntil, closes } = detail;
    for (const loan of Array.isArray(closes) ? closes : [])
      this.#set(loan, { openUntil: null, announceAt: null, closedBy: number });
    this.#said.set(number, { digest, openUntil, announceAt: openUntil, closedBy: null });
  }

  #set(number: number, changed: Partial<ReceiptFacts>): void {
    const said = this.#said.get(number);
    if (said) Object.assign(said, changed);
  }

  compare(row: ReceiptRecord, report: Report): void {
    const said = this.#said.get(row.number);
    this.#said.delete(row.number);
    const { openUntil, announceAt, closedBy } = row;
    const found = { digest: receiptDigest(row), openUntil, announceAt, closedBy };
    if (!said) report(`receipt ${row.number} was added without an entry`);
    else if (Object.entries(found).some(([field, value]) => said[field as keyof ReceiptFacts] !== value))
      report(`receipt ${row.number} was changed without an entry`);
  }

  end(report: Report): void {
    for (const number of this.#said.keys()) report(`receipt ${number} was removed without an entry`);
  }
}
