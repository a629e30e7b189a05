/** Decisions: whether a key may be used now, for doors that ask. */

import { steadyClock } from '../base/steady-clock.ts';
import type { StartSubject } from '../http/subject.ts';
import { DecisionService } from './service.ts';

export const startDecisions: StartSubject = ({ store, now, offers }) => {
  const { accounts, identityJudge, issued, ownerJudge: owners, proofJudge: proofs, sshKeys } = offers;
  const finders = [identityJudge, issued].filter(one => one !== undefined);
  const parts = { finders, sshKeys, owners, proofs, now, clock: steadyClock };
  const decisions = new DecisionService({ store, limiter: accounts.limiter, ...parts });
  return {
    operations: {
      decide: ({ context, body }) => decisions.decide(context, body),
      listSshKeys: ({ params }) => decisions.sshKeysOf(params.userName),
    },
  };
};
