/** Rules for the changes and guards of answers to challenges. */

import { devices } from '../devices/tables.ts';
import { Conflict } from '../store/commit.ts';
import type { Lookup } from '../store/table.ts';
import type { Part } from '../store/write/draft.ts';
import type { ChangeRules, GuardRules } from '../store/write/rule.ts';
import { done } from '../store/write/rule.ts';
import type { Source } from '../store/write/source.ts';
import type { ProofChange, ProofExpire, UnansweredGuard } from './records.ts';
import { type ProofRow, proofs } from './tables.ts';

type ProofLookup = Lookup<ProofRow, 'proofId'>;
/** The answer to a challenge. */
const answered: ProofLookup = { table: proofs, by: ['proofId'], select: ['proofId'] };
/** The answers of a key. */
export const answersOf: ProofLookup = { table: proofs, by: ['serialNumber'], select: ['proofId'] };

/** The answers that a transaction stores and removes. */
export class Proofs implements Part {
  readonly table = proofs;
  readonly added: ProofRow[] = [];
  readonly expiries: ProofExpire[] = [];
  readonly #source: Source;
  readonly #serials = new Set<string>();
  readonly #ids = new Set<string>();

  constructor(source: Source) {
    this.#source = source;
  }

  isAnswered(proofId: string): boolean {
    return this.#ids.has(proofId) || this.#source.find(answered, proofId).length > 0;
  }

  hasAnswers(serialNumber: string): boolean {
    return (
      (this.#serials.size > 0 && this.#serials.has(serialNumber)) ||
      this.#source.find(answersOf, serialNumber).length > 0
    );
  }

  add(row: ProofRow): void {
    this.#ids.add(row.proofId);
    this.#serials.add(row.serialNumber);
    this.added.push(row);
  }

  get isEmpty(): boolean {
    return this.added.length === 0 && this.expiries.length === 0;
  }
}

export const proofChanges: ChangeRules<ProofChange['kind']> = {
  'proof.add': {
    needs({ proof, isRegistered }, wanted) {
      wanted.add(answered, proof.proofId);
      if (!isRegistered) wanted.add(devices.unique, proof.serialNumber);
    },
    check(draft, { proof, isRegistered }) {
      if (draft.part(Proofs).isAnswered(proof.proofId)) throw new Conflict('the challenge was answered before');
      if (!isRegistered && draft.of(devices).withKey(proof.serialNumber))
        throw new Conflict('the serial number was registered at the same time');
    },
    apply(draft, { proof, isRegistered, entry }, context) {
      draft.part(Proofs).add({ ...proof, isPending: !isRegistered });
      if (entry) draft.enter(context, entry, null, null);
      return done;
    },
  },
  'proof.expire': {
    apply(draft, change) {
      draft.part(Proofs).expiries.push(change);
      return { kind: 'removed', count: 0 };
    },
  },
};

export const proofGuards: GuardRules<UnansweredGuard['kind']> = {
  unanswered: {
    needs: ({ serialNumber }, wanted) => wanted.add(answersOf, serialNumber),
    broken: (draft, { serialNumber }) =>
      draft.part(Proofs).hasAnswers(serialNumber) ? 'an answer of the key was stored at the same time' : null,
  },
};
