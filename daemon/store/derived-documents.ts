import { deviceIds } from '../../src/contract/ids.ts';
import { type AnsweredChallenge, answerDigest, documentDigest } from '../domain/digest.ts';
import type { DocumentRecord } from '../domain/document.ts';
import { storedProof } from '../domain/proof.ts';

/** The documents as the journal says that they are. */
export class DerivedDocuments {
  readonly #digests = new Map<string, string>();

  apply({ document, documentDigest: digest }: Readonly<Record<string, unknown>>): void {
    if (typeof document === 'string' && typeof digest === 'string') this.#digests.set(document, digest);
  }

  /** Compares a row of the table with the entries. */
  compare({ name, value }: Pick<DocumentRecord, 'name' | 'value'>, report: (text: string) => void): void {
    const digest = this.#digests.get(name);
    this.#digests.delete(name);
    if (digest === undefined) report(`the document ${name} was added without an entry`);
    else if (digest !== documentDigest(value)) report(`the document ${name} was changed without an entry`);
  }

  /** Reports the documents that the table lacks. */
  end(report: (text: string) => void): void {
    for (const name of this.#digests.keys()) report(`the document ${name} was removed without an entry`);
  }
}

/** A device with a proof, and the answer that it follows from; `proofId` is null if that is not stored. */
export interface ComparedAnswer extends Omit<AnsweredChallenge, 'proofId'> {
  readonly number: number;
  readonly deviceProof: string;
  readonly proofId: string | null;
}

/** Compares a stored answer with the proof of its device, which the journal proves. */
export function compareAnswer(
  { number, deviceProof, proofId, ...answer }: ComparedAnswer,
  report: (text: string) => void,
) {
  const id = deviceIds.format(number);
  if (proofId === null) report(`the evidence of ${id} was removed`);
  else if (storedProof(deviceProof).answer !== answerDigest({ ...answer, proofId }))
    report(`the evidence of ${id} was changed`);
}
