/** The text that a key signs for a receipt: one line for each fact, in a fixed order, and the terms at its end. Version 1 never changes. */

import { receiptKinds } from '../key-values.ts';
import type { ListedReceipt, Receipt } from '../receipts.ts';

/** Statement of a receipt, as the interface has it. Texts but `terms` have one line and no white space at their ends. */
export type ReceiptFacts = Readonly<
  Omit<ListedReceipt, 'signedAt' | 'closedBy'> & Pick<Receipt, 'registryId' | 'terms'>
>;

const HEAD = 'devmgr receipt 1';
/** The lines in their order. A line is left out if it has no value. */
const labels = {
  receiptId: 'receipt',
  kind: 'kind',
  registryId: 'registry',
  deviceId: 'device',
  serialNumber: 'serial number',
  lot: 'lot',
  person: 'person',
  name: 'name',
  date: 'date',
  dueAt: 'due',
} as const satisfies Record<Exclude<keyof ReceiptFacts, 'terms'>, string>;
const fields = Object.keys(labels) as (keyof typeof labels)[];
const optional: readonly string[] = ['lot', 'name', 'dueAt'];

/** The text of these facts. */
export const receiptText = (facts: ReceiptFacts): string =>
  [
    HEAD,
    ...fields.flatMap(field => (facts[field] === null ? [] : [`${labels[field]}: ${facts[field]}`])),
    'terms:',
    facts.terms,
  ].join('\n');

/** The facts of a text; null unless it is exactly what `receiptText` makes of them. */
export function readReceiptText(text: string): ReceiptFacts | null {
  const lines = text.split('\n');
  const found: Record<string, string | null> = {};
  let at = 1;
  for (const field of fields) {
    const label = `${labels[field]}: `;
    const value = lines[at]?.startsWith(label) ? lines[at++]!.slice(label.length) : null;
    if (value === null && !optional.includes(field)) return null;
    found[field] = value;
  }
  const facts = { ...found, terms: lines.slice(at + 1).join('\n') } as unknown as ReceiptFacts;
  return receiptKinds.includes(facts.kind) && receiptText(facts) === text ? facts : null;
}
