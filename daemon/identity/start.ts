/** Credentials by which keys are recognized. */

import { identityParty } from '../../src/contract/key-values.ts';
import type { StartSubject } from '../http/subject.ts';
import { Challenges } from '../proofs/challenges.ts';
import { IdentityService } from './service.ts';

export const startIdentity: StartSubject = ({ store, instance, now, offers }) => {
  const challenges = new Challenges(instance.secret('identity'));
  // The id of a registry stays the one that it has, on all nodes and in a copy: keys keep what they have made for it.
  const relyingParty = identityParty(instance.id);
  const identities = new IdentityService({
    store,
    challenges,
    relyingParty,
    policy: () => offers.proofJudge!.identityPolicy(),
    now,
  });
  offers.identityJudge = identities;
  return {
    operations: {
      createIdentityChallenge: ({ context, body }) => identities.challenge(context, body),
      listIdentityCandidates: ({ body }) => identities.candidates(body),
      bindIdentity: ({ context, params, body }) => identities.bind(context, params.identityId, body),
      proveIdentity: ({ context, params, body }) => identities.prove(context, params.identityId, body),
    },
  };
};
