/** Operations on the identity of a key without a serial number: a credential that the key has made for this registry. */
import { Type } from 'typebox';
import { assertion, identityId } from './assertion.ts';
import { Code } from './codes.ts';
import { additions } from './define.ts';
import * as f from './device-fields.ts';
import { boolean, maybe, nullable, oneOf, shown, timestamp, token, whole } from './fields.ts';
import { candidate, firmware, identified, made, station } from './identity-shapes.ts';
import { identityActions, identityPolicies } from './key-values.ts';
import { identityBounds, proofBounds } from './limits.ts';
import { aaguid } from './proof.ts';
import { changers } from './values.ts';

const action = oneOf(identityActions, {
  description: 'issue: a credential at a provider. reset: the key is erased. receipt: any receipt, including a return',
});

/** Operations on identities. */
export const identityOperations = additions('Identity', {
  /** Not stored: any node can check it. */
  createIdentityChallenge: {
    summary: 'Get a challenge with which a key makes or uses its credential for this registry',
    description: `The challenge is valid for ${proofBounds.challengeSeconds / 60} minutes, for this caller only. With \`for\`, what the key signs counts only for that action and device.`,
    access: changers,
    limit: 'query',
    bodyOptional: true,
    body: Type.Object({
      for: Type.Optional(
        Type.Object(
          { action, deviceId: token({ description: 'id of the device', examples: ['DEV-1'] }) },
          {
            description: 'the action that the key has to allow; absent: it is only recognized, or makes its credential',
          },
        ),
      ),
    }),
    data: Type.Object({
      identityId: shown('identifies the challenge'),
      challenge: shown('32 random bytes that the key signs; base64url without padding'),
      relyingParty: shown('relying party of the credential: the id of the registry, `.devmgr.invalid`'),
      number: shown('serial number for a key that has none', 'DM-7KQM2-XWDH9'),
      isInUse: boolean('whether any device has a credential: else no key is asked for one'),
      policy: oneOf(identityPolicies, { description: 'which keys make a credential: see the policy of proofs' }),
      expiresAt: timestamp('until when it can be used'),
    }),
    errors: [Code.deviceNotFound],
    example: { body: { for: { action: 'issue', deviceId: 'DEV-1' } } },
  },

  /** At most three portions. A key that is in none of them is named by its printed number. */
  listIdentityCandidates: {
    summary: 'List the credentials that an attached key may have',
    description: `The likeliest first: those that this station had last, then those with the firmware of the key, the last seen first. At most ${identityBounds.portions.join(', then ')}; a client repeats it with \`portion\` = \`next\` until the key has one of them or \`next\` is null. With serialNumber: only the credential of that device.`,
    access: changers,
    limit: 'query',
    body: Type.Object({
      protocol: oneOf(['CTAP2', 'U2F'], { description: 'protocol of the key' }),
      aaguid: maybe(aaguid),
      firmware,
      station,
      serialNumber: Type.Optional(f.serialNumber),
      portion: Type.Optional(
        whole('`next` of the previous response; absent to begin', {
          min: 1,
          max: identityBounds.portions.length,
          default: 1,
        }),
      ),
    }),
    data: Type.Object({
      relyingParty: shown('relying party of the credentials'),
      list: Type.Array(candidate),
      next: nullable(Type.Integer({ description: 'the next portion; null if there is none' })),
    }),
    example: { body: { protocol: 'CTAP2', aaguid: '2fc0579f-8113-47ea-b116-bb5a8db9202a', station: 'line-3' } },
  },

  /** For a device that has no credential, or whose key was reset. */
  bindIdentity: {
    summary: 'Bind the new credential of a key to a registered device',
    description:
      'A device that has a credential keeps it: 1001, unless an ADMIN confirms with `replace` that its key was reset elsewhere. A credential that another device has: 2006, with both in `data`.',
    access: changers,
    params: Type.Object({ identityId }),
    body: Type.Object({
      deviceId: token({ description: 'id of the device', examples: ['DEV-1'] }),
      ...made,
      replace: Type.Optional(boolean('true: the key was reset elsewhere and has lost the credential that is stored')),
    }),
    data: identified,
    errors: [404, Code.deviceNotFound, Code.deviceDeactivated, Code.serialDuplicated],
    example: {
      params: { identityId: 'AAAA' },
      body: { deviceId: 'DEV-1', evidence: { method: 'fido', attestationObject: 'AAAA' }, numberSource: 'printed' },
    },
  },

  /** A credential can be erased, not copied. */
  proveIdentity: {
    summary: 'Verify the signature of a key with its credential',
    // A station sends one for each key that is plugged in.
    limit: 'query',
    description:
      'Without a touch: the key is recognized, and its station is remembered. With a touch: the journal and `identityProvedAt` of the device have it. The credential of another device than deviceId: 2006, with both in `data`. A signature that does not match, a challenge from before the last proof and a counter that went back are 1001.',
    access: changers,
    params: Type.Object({ identityId }),
    body: Type.Object({
      deviceId: Type.Optional(token({ description: 'the device that the key should be', examples: ['DEV-1'] })),
      action: Type.Optional(action),
      ...assertion,
      station,
    }),
    data: identified,
    errors: [404, Code.deviceNotFound, Code.serialDuplicated],
    example: {
      params: { identityId: 'AAAA' },
      body: { deviceId: 'DEV-1', credentialId: 'AAAA', authenticatorData: 'AAAA', signature: 'AAAA' },
    },
  },
});
