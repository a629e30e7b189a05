/** A receipt that a key has signed: the record and its changes. Decisions only, no I/O. */

import { createHash } from 'node:crypto';
import type { ReceiptKind } from '../../src/contract/key-values.ts';
import { namesIn } from '../../src/contract/names.ts';
import type { ReceiptFacts } from '../../src/contract/receipts/text.ts';
import type { Receipt } from '../../src/contract/receipts.ts';
import type { Decision, Refusal } from '../base/decision.ts';
import { type DeviceOperation, guardOf, refusalOf } from '../devices/decisions.ts';
import type { DeviceGuard, DeviceRecord } from '../devices/records.ts';
import type { Entry } from '../store/journal.ts';

/** Known facts about the credential that signed. */
export type ReceiptProof = Readonly<Omit<Receipt['proof'], 'clientData'>> & {
  /** Absent in receipts of an earlier version. */
  readonly clientData?: string | null;
};

/** A receipt as it is stored. Bytes are base64url; times are milliseconds since 1970 (UTC). */
export interface ReceiptRecord {
  /** From 1, without gaps. */
  readonly number: number;
  readonly receiptId: string;
  /** Number of the device. */
  readonly device: number;
  readonly kind: ReceiptKind;
  readonly text: string;
  readonly credentialId: string;
  readonly authenticatorData: string;
  readonly signature: string;
  /** PEM. */
  readonly publicKey: string;
  readonly proof: ReceiptProof;
  readonly createdAt: number;
  /** Until when an open loan is to be returned; null for other receipts, and once the loan is closed. */
  readonly openUntil: number | null;
  /** The due date of an open loan that is not announced as overdue yet; null otherwise. */
  readonly announceAt: number | null;
  /** Number of the receipt that has ended the loan. */
  readonly closedBy: number | null;
}

/** Fields of the signature and its circumstances, which never change. */
export const signedFields = namesIn(
  'receiptId device kind text credentialId authenticatorData signature publicKey proof createdAt',
) satisfies readonly (keyof ReceiptRecord)[];

/** Signed fields that an erasure changes: with the signature, or the client data in `proof`, a guess of the text could be confirmed. */
export const erasedFields: readonly string[] = ['text', 'authenticatorData', 'signature', 'proof'];

/** A new receipt, as it is stored. */
export type NewReceipt = Omit<ReceiptRecord, 'number' | 'createdAt' | 'announceAt' | 'closedBy'>;

/** Also closes the open loans of the device. The store adds the digest and what was closed to the entry. */
interface ReceiptAdd {
  readonly kind: 'receipt.add';
  readonly receipt: NewReceipt;
  readonly entry: Entry;
}

/** A `Conflict` if the loan was announced or closed before. */
interface LoanAnnounce {
  readonly kind: 'loan.announce';
  readonly receipt: number;
  readonly entry: Entry;
}

/** Every change of receipts. */
export type ReceiptChange = ReceiptAdd | LoanAnnounce;

const operations = { handover: 'handOver', loan: 'handOver', return: 'takeBack' } as const satisfies Record<
  ReceiptKind,
  DeviceOperation
>;

/** Why the state of the device does not allow such a receipt; null if it does. */
export const receiptRefusal = (kind: ReceiptKind, device: DeviceRecord): Refusal | null =>
  refusalOf(operations[kind], device);

/** Stores a receipt. `person`: the id of the person, if the registry knows one with that name. */
export function sign(
  device: DeviceRecord,
  receipt: NewReceipt,
  person: string | null,
): Decision<ReceiptAdd, DeviceGuard> {
  const { receiptId, kind, proof } = receipt;
  const data = { deviceType: device.deviceType, receiptId, kind };
  const detail = { person, proofId: proof.proofId, grade: proof.grade };
  return {
    change: { kind: 'receipt.add', receipt, entry: { type: 'RECEIPT_SIGNED', data, detail } },
    guards: [{ ...guardOf(operations[kind], device), version: device.version }],
  };
}

/** Announces that a loan is overdue. */
export function announce(
  { number, receiptId }: ReceiptRecord,
  { deviceType }: Pick<DeviceRecord, 'deviceType'>,
  { dueAt }: ReceiptFacts,
): LoanAnnounce {
  const entry = { type: 'LOAN_OVERDUE', data: { deviceType, receiptId, dueAt } } as const;
  return { kind: 'loan.announce', receipt: number, entry };
}

/** The values of `signedFields` as one digest. The signature in it is random: names cannot be guessed from the digest. */
export function receiptDigest(row: { readonly [K in (typeof signedFields)[number]]: unknown }): string {
  const values = signedFields.map(field => (field === 'proof' ? proofText(row.proof) : row[field]));
  return createHash('sha256').update(JSON.stringify(values)).digest('base64url');
}

/** Engines exchange it as the JSON text. */
const proofText = (proof: unknown): unknown => (typeof proof === 'string' ? proof : JSON.stringify(proof));

/** Queries about receipts. */

/** Which receipts. Times are milliseconds since 1970. */
export interface ReceiptFilter {
  readonly device?: number | undefined;
  /** Open loans that ended at this time or before, of devices that are not DEACTIVATED. */
  readonly overdueAt?: number | undefined;
  /** Overdue loans, as `overdueAt`, that were not announced. */
  readonly unannouncedAt?: number | undefined;
}
