/** Whether a key may be used: a pure judgement of its device. */
import type { DecisionReason } from '../../src/contract/values.ts';
import { storedProof } from '../devices/proof.ts';
import type { DeviceRecord } from '../devices/records.ts';

/** Facts about a device beside its record. */
interface Circumstances {
  /** Whether its person has left or waits for a release. */
  readonly hasLeft: boolean;
  /** Whether it meets the present policy of proofs. */
  readonly meetsPolicy: boolean;
}

const states = {
  INACTIVE: 'inactive',
  ACTIVE: 'active',
  LOCKED: 'locked',
  DEACTIVATED: 'deactivated',
} as const;

/** The first reason that applies. That its person has left explains why a device is LOCKED, but not why it is INACTIVE or DEACTIVATED. */
export function reasonOf(
  { status, proof }: Pick<DeviceRecord, 'status' | 'proof'>,
  { hasLeft, meetsPolicy }: Circumstances,
): DecisionReason {
  if (hasLeft && (status === 'ACTIVE' || status === 'LOCKED')) return 'left';
  if (status !== 'ACTIVE') return states[status];
  if (!meetsPolicy) return 'proof';
  return proof !== null && storedProof(proof).advisories.length > 0 ? 'advisory' : 'active';
}
