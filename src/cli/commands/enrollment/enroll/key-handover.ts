/** What is done with a key once it is bound to a person: it is issued at providers, and signs its receipt. */
import type { Key } from '../../../../contract/hardware.ts';
import type { KeyIssuing } from '../../../../enrollment/issuing.ts';
import type { EnrollmentOutcome } from '../../../../enrollment/outcome.ts';
import type { Context } from '../../../framework/context.ts';
import type { IssuedRow, IssuePlan, WhileAsked } from '../issuing/issuing.ts';

/** What a run does with its keys. */
interface HandoverOptions {
  /** Null issues none. */
  readonly issue: IssuePlan | null;
  /** The terms of receipts; null for none. */
  readonly receipt: string | null;
}

/** Issues keys and has them sign, with the same options for each. A key that is not issued or does not sign keeps its device: its row has the reason. */
export class KeyHandover {
  readonly #context: Context;
  readonly #options: HandoverOptions;
  readonly #issuing: KeyIssuing | null;

  constructor(context: Context, options: HandoverOptions, whileAsked?: WhileAsked) {
    this.#context = context;
    this.#options = options;
    this.#issuing = options.issue?.open(whileAsked) ?? null;
  }

  /** The row of a key that is issued, if the run issues keys. */
  async issued(key: Key, row: EnrollmentOutcome): Promise<IssuedRow> {
    const { issue: plan } = this.#options;
    const { serialNumber } = key;
    if (plan === null || this.#issuing === null || serialNumber === null) return { row, madePin: null };
    const { issuedRow } = await import('../issuing/issuing.ts');
    return issuedRow(this.#context, { plan, issuing: this.#issuing }, { ...key, serialNumber }, row);
  }

  /** The row of a key that has signed its receipt for the person, if the run wants receipts. */
  async signed(key: Key, row: EnrollmentOutcome, person: string | null): Promise<EnrollmentOutcome> {
    const { receipt: terms } = this.#options;
    const { serialNumber } = key;
    if (terms === null || serialNumber === null) return row;
    const { receiptRow } = await import('../../proofs/receipts/signing.ts');
    return receiptRow(this.#context, { terms, person }, { ...key, serialNumber }, row);
  }
}
