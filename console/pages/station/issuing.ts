/** Issues a key that the station has bound, at the providers that the operator has chosen. */
import { issueFailure } from '../../../src/enrollment/issue-events.ts';
import { IssueProblem } from '../../../src/enrollment/issue-step.ts';
import { type IssueParts, type IssueRequests, KeyIssuing } from '../../../src/enrollment/issuing.ts';
import { problemOf } from '../../api/problem.ts';
import { call, newKey } from '../../api/request.ts';
import { wordsOf } from '../../parts/problem.tsx';
import { stationIssue as words } from '../../text/words.ts';
import type { AskPin, IssueKey } from './results.ts';

/** A PIN is known to this call only: a key that continues is asked for it again. */
export const issueKey: IssueKey = async (key, deviceId, { providers, setsPin }, ask) => {
  const pin = { kind: setsPin ? 'ask' : 'none' } as const;
  const options = { providers, pin, changePin: false, minPinLength: null };
  const { providers: states, error } = await new KeyIssuing(partsOf(ask), options).issue(key, deviceId);
  return { providers: states, reason: error === null ? null : reasonOf(error) };
};

const partsOf = (ask: AskPin): IssueParts => ({
  requests,
  askPin: ({ keyId, serialNumber }, retries) => ask({ keyId, serialNumber, retries, check: null }),
  askNewPin: ({ keyId, serialNumber }, check) => ask({ keyId, serialNumber, retries: null, check }),
});

/** Each request has a key of its own: one that is over its limit is sent again when the daemon accepts it. */
const requests: IssueRequests = {
  credentials: deviceId => call('listCredentials', { params: { deviceId } }),
  start: (deviceId, providerId) =>
    call('startCredential', { params: { deviceId }, body: { providerId } }, { key: newKey() }),
  finish: (deviceId, credentialId, body) =>
    call('finishCredential', { params: { deviceId, credentialId }, body }, { key: newKey() }),
  reset: deviceId => call('showKeyReset', { params: { deviceId } }),
  recordReset: (deviceId, body) => call('recordKeyReset', { params: { deviceId }, body }, { key: newKey() }),
  step: ({ keyId, serialNumber }, step) =>
    call('issueKey', { params: { keyId }, body: { ...step, serialNumber } }, { key: newKey() }),
  failureOf: error => issueFailure(problemOf(error)?.code ?? null),
};

function reasonOf(error: unknown): string {
  if (error instanceof IssueProblem) return words.problem[error.code];
  const problem = problemOf(error);
  if (problem === null) return words.noPin;
  return problem.code === 404 ? words.unplugged : wordsOf(problem);
}
