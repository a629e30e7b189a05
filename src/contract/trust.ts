/** Trust anchors and policies: what the registry trusts when it judges keys, and what it requires of them. */
import { type Static, Type } from 'typebox';
import { Code } from './codes.ts';
import { additions, adminOnly, replacedPolicy, shownPolicy } from './define.ts';
import { line, maybe, nullable, oneOf, shown, timestamp, token } from './fields.ts';
import { aaguidText, trustPurposes } from './key-values.ts';
import { bodyBounds, proofBounds } from './limits.ts';
import { proofPolicy } from './proof.ts';
import { roles } from './values.ts';

/** Trust anchors, and the intermediates between them and the evidence. */
export const trustedCertificate = Type.Object({
  fingerprint: Type.String({
    pattern: '^[0-9a-f]{64}$',
    description: 'SHA-256 of the certificate in lower-case hex',
    examples: ['62760c6a6ef91679f454c8902b80fd009825b3f25da90f1fbace2ec6586cd5a8'],
  }),
  label: shown('name that it was imported with; may be empty'),
  purpose: oneOf(trustPurposes, { description: 'what it vouches for' }),
  kind: oneOf(['anchor', 'intermediate'] as const, {
    description: 'an anchor is trusted on its own; an intermediate completes chains',
  }),
  subject: shown('subject of the certificate'),
  notAfter: timestamp('when it expires'),
  aaguids: Type.Array(Type.String(), { description: 'FIDO models that it vouches for; empty: U2F keys, or SCP11b' }),
  importedBy: nullable(shown('user name of the ADMIN who imported it')),
  importedAt: timestamp('when it was imported'),
});
/** A certificate that the registry trusts. */
export type TrustedCertificateItem = Static<typeof trustedCertificate>;

const metadata = nullable(
  Type.Object(
    {
      number: Type.Integer({ description: 'number of the BLOB; it never goes down' }),
      nextUpdate: shown('date on which the next one is due', '2026-12-01'),
      entries: Type.Integer({ description: 'number of models' }),
      importedBy: nullable(shown('user name of the ADMIN who imported it')),
      importedAt: timestamp('when it was imported'),
    },
    { description: 'FIDO metadata; null if none was imported' },
  ),
);

const listed = Type.Object({ metadata, certificates: Type.Array(trustedCertificate) });
/** Everything that the registry trusts. */
export type TrustList = Static<typeof listed>;

/** Trust, and the policy of proofs. */
export const trustOperations = additions('Trust', {
  /** Idempotent: a certificate that is trusted already keeps its place and gets the given purpose and label. */
  importTrust: {
    summary: 'Import FIDO metadata or certificates',
    description:
      'The file is a FIDO metadata BLOB, which replaces the present one, or certificates in PEM or DER. Self-issued certificates become anchors, others intermediates. Metadata with a lower number than the present one is refused. A file that cannot be read or is not trusted is refused with 4002.',
    ...adminOnly,
    stepUp: true,
    limit: 'upload',
    form: Type.Object({
      purpose: maybe(oneOf(trustPurposes, { description: 'what the certificates vouch for; scp11b if absent' })),
      label: maybe(line(proofBounds.trustLabel, { description: 'name of the certificates' })),
      aaguids: maybe(
        line(proofBounds.aaguidsOfAnchor * 37, {
          pattern: `^${aaguidText}(,${aaguidText})*$`,
          shape: 'AAGUIDs in lower case, comma-separated',
          description: 'FIDO models that the certificates vouch for',
        }),
      ),
    }),
    file: { field: 'file', maxBytes: proofBounds.trustFile, description: 'the BLOB or the certificates' },
    data: Type.Object({
      metadata,
      certificates: Type.Array(trustedCertificate, { description: 'the certificates of the file' }),
      warnings: Type.Array(shown('what to know')),
    }),
    errors: [Code.uploadFailed],
    example: { form: { purpose: 'scp11b', label: 'Example Vendor' } },
  },

  /** Certificates are sorted by fingerprint. */
  listTrust: {
    summary: 'List what the registry trusts',
    access: roles,
    data: listed,
  },

  /** Verdicts stay as they are until the evidence is judged again. */
  removeTrust: {
    summary: 'Stop trusting a certificate or the FIDO metadata',
    description: 'Verdicts do not change until the stored evidence is judged again.',
    ...adminOnly,
    stepUp: true,
    params: Type.Object({
      fingerprint: token({ description: 'SHA-256 of the certificate in hex, or `metadata`', examples: ['metadata'] }),
    }),
    data: Type.Object({ fingerprint: shown('what was removed'), removed: Type.Boolean() }),
    errors: [404],
    example: { params: { fingerprint: 'metadata' } },
  },

  /** Nothing is required before a policy is set. */
  showProofPolicy: {
    summary: 'Show what a key must prove to be registered',
    ...shownPolicy(proofPolicy),
  },

  /** Replaces the whole policy. Registered devices do not change. */
  setProofPolicy: {
    summary: 'Set what a key must prove to be registered',
    description:
      'Replaces the whole policy. A registration that does not fulfil it is refused with 1001, which names the rule and the fact. A fact that is not proved does not meet a rule about it. Registered devices do not change.',
    ...replacedPolicy(proofPolicy),
    bodyValues: bodyBounds.manyValues,
    example: { body: { requiredGrade: 'model', allowedAaguids: [], leastFirmware: [] } },
  },
});
