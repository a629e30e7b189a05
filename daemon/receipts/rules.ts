/** Rules for the changes of receipts, and their entries. */

import { isOnItsWay } from '../devices/records.ts';
import { devices } from '../devices/tables.ts';
import { withoutNames } from '../people/erasure-records.ts';
import { type Change, Conflict } from '../store/commit.ts';
import type { Lookup } from '../store/table.ts';
import { type ReplayedEntry, RowReplay } from '../store/write/replay.ts';
import { type ChangeAddition, type ChangeRules, done } from '../store/write/rule.ts';
import { type ReceiptChange, type ReceiptRecord, receiptDigest, signedFields } from './records.ts';
import { openLoans, receipts } from './tables.ts';

export const receiptChanges: ChangeRules<ReceiptChange['kind']> = {
  'receipt.add': {
    needs({ receipt }, wanted) {
      wanted.add(receipts.unique, receipt.receiptId);
      wanted.add(openLoans, receipt.device);
      wanted.add(devices.byKey, receipt.device);
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
      const device = draft.of(devices).get(receipt.device);
      if (receipt.kind !== 'return' && device && isOnItsWay(device))
        draft.of(devices).change({ ...device, receivedAt: context.at, version: device.version + 1 });
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

const receiptsOf: Lookup<ReceiptRecord> = { table: receipts, by: ['device'] };

/** Without the signature, a receipt proves nothing any more. The text keeps its form: a loan can still be announced. */
export const receiptErasure: ChangeAddition<Extract<Change, { readonly kind: 'person.erase' }>> = {
  needs({ devices }, wanted) {
    for (const device of devices) wanted.add(receiptsOf, device);
  },
  follow(draft, change, context) {
    const records = draft.of(receipts);
    for (const before of change.devices.flatMap(device => records.all(receiptsOf, device))) {
      const text = withoutNames(before.text, change);
      if (text === before.text) continue;
      const proof = before.proof.clientData ? { ...before.proof, clientData: null } : before.proof;
      const after = { ...before, text, authenticatorData: '', signature: '', proof };
      records.change(after);
      const detail = { receiptDigest: receiptDigest(after) };
      draft.enter(context, { type: 'RECEIPT_ERASED', detail }, after.device, after.number);
    }
  },
};

/** Facts about a receipt in entries. */
type ReceiptFacts = Readonly<Record<'digest' | 'openUntil' | 'announceAt' | 'closedBy', unknown>>;

/** Compares the receipts with the journal. The entry of a receipt also closes the loans that it returns. */
export class ReceiptReplay extends RowReplay<number, ReceiptRecord, ReceiptFacts> {
  constructor() {
    super({
      table: 'receipt',
      fields: ['number', ...signedFields, 'openUntil', 'announceAt', 'closedBy'],
      key: ({ number }) => number,
      said({ type, detail: { receiptDigest: digest, openUntil } }, before) {
        if (type === 'RECEIPT_SIGNED') return { digest, openUntil, announceAt: openUntil, closedBy: null };
        if (type === 'RECEIPT_ERASED') return before && { ...before, digest };
        return type === 'LOAN_OVERDUE' && before ? { ...before, announceAt: null } : before;
      },
      found: row => {
        const { openUntil, announceAt, closedBy } = row;
        return { digest: receiptDigest(row), openUntil, announceAt, closedBy };
      },
      nameOf: number => `receipt ${number}`,
    });
  }

  override apply(number: number, entry: ReplayedEntry): void {
    const { closes } = entry.detail;
    for (const loan of Array.isArray(closes) ? closes : []) {
      const said = this.said.get(loan);
      if (said) this.said.set(loan, { ...said, openUntil: null, announceAt: null, closedBy: number });
    }
    super.apply(number, entry);
  }
}
