/** The tables of answers to challenges. */
import type { ProofRecord } from '../domain/proof.ts';
import { StoreTable } from '../store/table.ts';

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
