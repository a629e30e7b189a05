/** Whether the stored answers of devices are those that their proofs follow from. */
import { deviceIds } from '../../src/contract/ids.ts';
import { storedProof } from '../devices/proof.ts';
import type { StoredRows } from '../store/copy.ts';
import { columnOf } from '../store/table.ts';
import type { Report } from '../store/write/replay.ts';
import { read } from '../store/write/verify.ts';
import { type AnsweredChallenge, answerDigest, answerParts } from './records.ts';

interface ProvedDevice {
  readonly number: number;
  readonly proof: string | null;
}

/** Compares the stored answers of devices with their proofs, which the journal proves. */
export async function compareAnswers(
  rows: StoredRows,
  devices: readonly ProvedDevice[],
  report: Report,
): Promise<void> {
  const proved = devices.flatMap(({ number, proof }) => {
    const stored = proof === null ? null : storedIn(proof);
    return stored ? [{ number, ...stored }] : [];
  });
  if (proved.length === 0) return;
  const values = proved.map(({ proofId }) => proofId);
  const range = { after: 0, limit: values.length, among: { column: columnOf('proofId'), values } };
  const found = await read<AnsweredChallenge>(rows, 'proof', answerParts, range);
  const answers = new Map(found.map(answer => [answer.proofId, answer]));
  for (const { number, proofId, answer: said } of proved) {
    const id = deviceIds.format(number);
    const answer = answers.get(proofId);
    if (!answer) report(`the evidence of ${id} was removed`);
    else if (said !== answerDigest(answer)) report(`the evidence of ${id} was changed`);
  }
}

/** Null if the text cannot be read: it was changed, which was reported. */
function storedIn(proof: string) {
  try {
    const { proofId, answer } = storedProof(proof);
    return { proofId, answer };
  } catch {
    return null;
  }
}
