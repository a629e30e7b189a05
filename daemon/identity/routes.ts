import type { Bindings } from '../http/bindings.ts';
import type { IdentityService } from './service.ts';

/** The services of identities. */
interface IdentityServices {
  readonly identities: IdentityService;
}

/** Credentials by which keys are recognized. */
export const identityOperations = (to: IdentityServices): Bindings => ({
  createIdentityChallenge: ({ context, body }) => to.identities.challenge(context, body),
  listIdentityCandidates: ({ body }) => to.identities.candidates(body),
  bindIdentity: ({ context, params, body }) => to.identities.bind(context, params.identityId, body),
  proveIdentity: ({ context, params, body }) => to.identities.prove(context, params.identityId, body),
});
