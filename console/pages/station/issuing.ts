/** Issues a key that the station has bound, at the providers that the operator has chosen. */
import { IssueProblem } from '../../../src/enrollment/issue-step.ts';
import { type IssueParts, KeyIssuing } from '../../../src/enrollment/issuing.ts';
import { issueRequestsBy } from '../../../src/enrollment/requests.ts';
import { problemOf } from '../../api/problem.ts';
import { wordsOf } from '../../parts/problem.tsx';
import { stationIssue as words } from '../../text/words.ts';
import { recognition } from './registry.ts';
import { codeOf, send } from './requests.ts';
import type { AskPin, IssueKey } from './results.ts';

/** A PIN is known to this call only: a key that continues is asked for it again. */
export const issueKey: IssueKey = async (key, deviceId, { providers, setsPin }, ask) => {
  const pin = { kind: setsPin ? 'ask' : 'none' } as const;
  const options = { providers, pin, changePin: false, minPinLength: null };
  const { providers: states, error } = await new KeyIssuing(partsOf(ask), options).issue(key, deviceId);
  return { providers: states, reason: error === null ? null : reasonOf(error) };
};

const partsOf = (ask: AskPin): IssueParts => ({
  requests: issueRequestsBy(send, send, codeOf, recognition),
  askPin: ({ keyId, serialNumber }, retries) => ask({ keyId, serialNumber, retries, check: null }),
  askNewPin: ({ keyId, serialNumber }, check) => ask({ keyId, serialNumber, retries: null, check }),
});

function reasonOf(error: unknown): string {
  if (error instanceof IssueProblem) return words.problem[error.code];
  const problem = problemOf(error);
  if (problem === null) return words.noPin;
  return problem.code === 404 ? words.unplugged : wordsOf(problem);
}
