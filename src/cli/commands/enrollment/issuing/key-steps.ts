/** One step in which an attached key is issued. */
import type { DataOf } from '../../../../contract/define.ts';
import type { Routes } from '../../../../contract/routes.ts';
import type { IssueStep } from '../../../../enrollment/issuing.ts';
import type { NumberedKey } from '../../../../enrollment/registry.ts';
import { Fault } from '../../../fault.ts';
import type { Context } from '../../../framework/context.ts';
import { whileTouched } from '../../proofs/prove-key.ts';

type StepAnswer = DataOf<Routes['issueKey']>;

/** What a key has refused. */
export class KeyRefusal extends Fault {
  readonly refusal: StepAnswer['refusal'];
  constructor(problem: string, refusal: StepAnswer['refusal']) {
    super('hardware', problem, refusal && hints[refusal]);
    this.refusal = refusal;
  }
}

/** What the key has answered. What it refuses is thrown as a fault. */
export async function issueStep(context: Context, key: NumberedKey, step: IssueStep): Promise<StepAnswer> {
  const { keyId, serialNumber } = key;
  const request = { params: { keyId }, body: { ...step, serialNumber } };
  const answer = await whileTouched(context, key, () => context.hardware.call('issueKey', request));
  if (answer.problem === null) return answer;
  throw new KeyRefusal(answer.problem, answer.refusal);
}

const hints: Readonly<Partial<Record<NonNullable<StepAnswer['refusal']>, string>>> = {
  'pin-invalid': 'run the command again with the correct PIN: after a few wrong ones, the key blocks its PIN',
  'pin-replug': 'unplug the key, plug it in and run the command again',
  'pin-not-set': 'give it a PIN: --pin ask or --pin random',
  excluded: 'the provider already has a credential of this key: remove it there, or see devmgr idp reconcile',
  full: 'the key cannot store another credential: remove one that is not needed',
};
