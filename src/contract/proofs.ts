/** Operations with which keys are proved: a challenge, its answer, and judging stored answers again. */
import { Type } from 'typebox';
import { additions, adminOnly } from './define.ts';
import * as f from './device-fields.ts';
import { boolean, count, maybe, nullable, oneOf, shown, timestamp, token } from './fields.ts';
import { evidenceMethods } from './key-values.ts';
import { bodyBounds, proofBounds } from './limits.ts';
import { claims, evidence, proof } from './proof.ts';
import { changers } from './values.ts';

const bytes = (description: string) => shown(`${description}; base64url without padding`);

/** Proofs of keys. */
export const proofOperations = additions('Proofs', {
  /** Each challenge can be answered once. It is not stored: any node can check it. */
  createProofChallenge: {
    summary: 'Get a challenge that a key has to answer',
    description: `The challenge is valid for ${proofBounds.challengeSeconds / 60} minutes, once, and for this caller only.`,
    access: changers,
    limit: 'query',
    data: Type.Object({
      proofId: shown('identifies the challenge'),
      challenge: bytes('32 random bytes that the key signs'),
      registryId: shown('id of this registry, which the key signs too'),
      ephemeralPublicKey: bytes('public key for SCP11b: an uncompressed point of P-256'),
      expiresAt: timestamp('until when it can be answered'),
      method: nullable(
        oneOf(evidenceMethods, {
          description:
            'method for a new key, so that its answer can meet the policy: only FIDO proves an AAGUID, and one answer is judged. Null: the strongest method of the key',
        }),
      ),
    }),
  },

  /** A verdict is a success, whatever its grade. */
  submitProof: {
    summary: 'Answer a challenge with what a key has sent',
    description:
      'Returns the verdict: 200 also if the grade is failed. If the serial number is registered, the device has the proof from then on, except that claims alone do not replace evidence; if not, a registration within a day takes it. A challenge that has expired, was answered before or was given to another caller is refused with 1001.',
    access: changers,
    params: Type.Object({ proofId: token({ description: 'id of the challenge' }) }),
    bodyValues: bodyBounds.manyValues,
    body: Type.Object({
      serialNumber: f.serialNumber,
      manufacturer: maybe(f.manufacturer),
      model: maybe(f.model),
      claims,
      forReceipt: Type.Optional(
        boolean('true: the key makes a credential for receipts. A device whose proof has grade model or unit keeps it'),
      ),
      // Null counts as absent, as for every optional field.
      evidence: Type.Optional(evidence),
    }),
    data: Type.Object({
      serialNumber: shown('serial number'),
      deviceId: nullable(f.deviceId),
      proof,
      rule: nullable(shown('rule that the evidence breaks', 'scp11b-receipt')),
      reason: nullable(shown('why, in a sentence')),
    }),
    errors: [404],
    example: { params: { proofId: 'AAAA' }, body: { serialNumber: 'UK-2026-000001', claims: { firmware: '5.7.4' } } },
  },

  /** One portion of the registry; a client repeats it until `next` is null. */
  judgeProofsAgain: {
    summary: 'Judge stored evidence again',
    description: `After a change of trust. Judges up to ${proofBounds.judgedAtOnce} devices with evidence, by ascending deviceId; each verdict that changes has an entry in the journal.`,
    ...adminOnly,
    body: Type.Object({
      after: Type.Optional(
        Type.Integer({ minimum: 0, default: 0, description: 'next of the previous response; 0 to begin' }),
      ),
    }),
    data: Type.Object({
      judged: count('devices whose evidence was judged'),
      changed: count('devices whose proof has changed'),
      next: nullable(Type.Integer({ description: '`after` of the next request; null if all were judged' })),
    }),
    example: { body: { after: 0 } },
  },
});
