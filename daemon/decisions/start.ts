/** Decisions: whether a key may be used now, for doors that ask. */

import { steadyClock } from '../base/steady-clock.ts';
import type { StartSubject } from '../http/subject.ts';
import { decisionOperations } from './routes.ts';
import { DecisionService } from './service.ts';

export const startDecisions: StartSubject = ({ store, now, offers }) => {
  const { accounts, identityJudge, issued, ownerJudge: owners, proofJudge: proofs, sshKeys } = offers;
  const finders = [identityJudge, issued].filter(one => one !== undefined);
  return {
    operations: decisionOperations(
      new DecisionService({
        store,
        limiter: accounts.limiter,
        finders,
        sshKeys,
        owners,
        proofs,
        now,
        clock: steadyClock,
      }),
    ),
  };
};
