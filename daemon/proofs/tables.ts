/** The tables of answers to challenges. */

import { StoreTable } from '../store/table.ts';
import type { ProofRecord } from './records.ts';

/** An answer to a challenge, as it is stored. */
export interface ProofRow extends ProofRecord {
  /** Whether its serial number was not registered when it was last looked at. */
  readonly isPending: boolean;
}

export const proofs = new StoreTable<ProofRow>(
  'proof',
  {
    proofId: 'text',
    serialNumber: 'text',
    createdAt: 'integer',
    receivedBy: 'text',
    registryId: 'text',
    challenge: 'text',
    ephemeralKey: 'text',
    described: 'text',
    claims: 'text',
    evidence: 'text',
    evidenceDigest: 'text',
    proof: 'text',
    isPending: 'boolean',
  },
  { key: 'proofId' },
);
