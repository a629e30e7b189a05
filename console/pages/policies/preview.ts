/** Preview of a policy of proofs: the registered devices, as if each were registered again with the proof that it has. */
import { hasGrade } from '../../../src/contract/grades.ts';
import { type ProofGrade, proofGrades } from '../../../src/contract/key-values.ts';
import type { ProofPolicy } from '../../../src/contract/proof.ts';
import { call } from '../../api/request.ts';

/** AAGUIDs that are counted: each is a request for each column. */
const COUNTED_AAGUIDS = 20;
/** Days in the column of recent registrations. */
export const recentDays = 30;

type RuleCount = Readonly<{ rule: 'grade' | 'aaguid' | 'together'; all: number; recent: number }>;

/** Devices that a policy would refuse. */
export interface ProofPreview {
  readonly rules: readonly RuleCount[];
  /** Grades that are refused, and the beginning of the recent days, for links to the list of devices. */
  readonly refused: readonly ProofGrade[];
  readonly recentFrom: string;
  /** Rules that the registry cannot count. */
  readonly notCounted: readonly ('aaguids' | 'firmware')[];
}

/** Counts what a policy would refuse, exactly, by the filters of the list of devices. */
export async function previewOf(policy: ProofPolicy, now: number, signal: AbortSignal): Promise<ProofPreview> {
  const { requiredGrade, allowedAaguids, leastFirmware } = policy;
  const refused = proofGrades.filter(grade => !hasGrade({ grade }, requiredGrade));
  const recentFrom = new Date(now - recentDays * 86_400_000).toISOString();
  const isCounted = allowedAaguids.length > 0 && allowedAaguids.length <= COUNTED_AAGUIDS;
  const column = async (createdFrom?: string) => {
    const count = async (proof: readonly ProofGrade[], aaguid?: string) => {
      const query = { proof: [...proof], size: 1, ...(aaguid && { aaguid }), ...(createdFrom && { createdFrom }) };
      return (await call('listDevices', { query: query as object }, { signal })).pagination.total;
    };
    // With another grade, an AAGUID is only claimed.
    const proving = (['model', 'unit'] as const).filter(grade => !refused.includes(grade));
    const counts = await Promise.all([
      count(refused),
      count(proofGrades.filter(grade => !refused.includes(grade))),
      ...(isCounted ? [...new Set(allowedAaguids)] : []).map(aaguid => count(proving, aaguid)),
    ]);
    const [grade, rest, ...allowed] = counts as [number, number, ...number[]];
    const aaguid = isCounted ? rest - allowed.reduce((sum, each) => sum + each, 0) : 0;
    return { grade, aaguid, together: grade + aaguid };
  };
  const [all, recent] = await Promise.all([column(), column(recentFrom)]);
  const rules = (['grade', ...(isCounted ? (['aaguid', 'together'] as const) : [])] as const).map(rule => ({
    rule,
    all: all[rule],
    recent: recent[rule],
  }));
  const notCounted = [
    ...(allowedAaguids.length > COUNTED_AAGUIDS ? (['aaguids'] as const) : []),
    ...(leastFirmware.length > 0 ? (['firmware'] as const) : []),
  ];
  return { rules, refused, recentFrom, notCounted };
}
