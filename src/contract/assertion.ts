/** Signatures of credentials on keys. */
import { type Static, Type } from 'typebox';
import { base64url, token } from './fields.ts';
import { receiptBounds } from './limits.ts';

/** The signature of a key. */
export const assertion = {
  credentialId: base64url(receiptBounds.credentialId, 'id of the credential that signed'),
  authenticatorData: base64url(receiptBounds.authenticatorData, 'authenticator data'),
  signature: base64url(receiptBounds.signature, 'signature: ECDSA with P-256 and SHA-256, in DER'),
};
/** The challenge that the key has answered. */
export const identityId = token({ description: 'id of the challenge' });

const actionSignature = Type.Object(
  { identityId, ...assertion },
  {
    description:
      'what the key signed, with a touch, for a challenge for this action: required if the key has a credential of the registry, unless it was made less than 5 minutes ago. See Identity',
  },
);
/** The signature with which a key allows an action. */
export type ActionSignature = Static<typeof actionSignature>;
/** The signature with which a key allows an action, as a part of the action. */
export const signedAction = { identity: Type.Optional(actionSignature) };
