/** Claims of a key about itself, its evidence, and what the registry concludes from both. */
import { type Static, type TUnsafe, Type } from 'typebox';
import { base64url, boolean, line, NAMES, nullable, oneOf, shown, timestamp, whole } from './fields.ts';
import { aaguidShape, aaguidText, identityPolicies, proofGrades, proofMethods, requiredGrades } from './key-values.ts';
import { proofBounds } from './limits.ts';

const text = (description: string) => Type.Optional(line(proofBounds.claimLength, { description }));
const texts = (description: string) =>
  Type.Optional(Type.Array(line(proofBounds.claimLength), { maxItems: proofBounds.claimItems, description }));
const named = <V>(type: string, description: string) =>
  Type.Optional(
    Type.Unsafe<Record<string, V>>({
      type: 'object',
      maxProperties: proofBounds.claimItems,
      additionalProperties: { type },
      [NAMES]: proofBounds.claimLength,
      description,
    }) as TUnsafe<Record<string, V>>,
  );

/** The AAGUID of a FIDO authenticator: it names a model, never a unit. */
export const aaguid = line(36, {
  pattern: `^${aaguidText}$`,
  shape: aaguidShape,
  description: 'AAGUID: names a model of FIDO authenticators, never a unit',
  examples: ['2fc0579f-8113-47ea-b116-bb5a8db9202a'],
});

/** Claims of a key about itself, read without a touch or a PIN. They prove nothing. Absent: the key did not report it. */
export const claims = Type.Object(
  {
    aaguid: Type.Optional(aaguid),
    firmware: text('firmware version'),
    formFactor: text('form factor: `usb-a-keychain`, `usb-c-nano`, …'),
    fips: Type.Optional(boolean('whether the key reports that it is of a FIPS series')),
    partNumber: text('part number of the maker'),
    versionQualifier: text('qualifier of the firmware version: alpha, beta or final, and its iteration'),
    certifications: named<number>('integer', 'certifications with their levels, as the authenticator lists them'),
    attestationFormats: texts('formats in which the authenticator can attest'),
    options: named<boolean>('boolean', 'options of the authenticator'),
    trussedStatus: text('status of Trussed'),
    variant: text('hardware variant'),
    eid: text('EID of an eUICC'),
    euiccInfo: text('EUICCInfo of an eUICC, in hex'),
    atr: text('answer to reset of a card, in hex'),
    cplc: text('production data of a card, in hex'),
    product: text('manufacturer and model as the key reports them over USB'),
  },
  { description: 'what the key reports about itself; it proves nothing' },
);
/** Claims of a key about itself. */
export type Claims = Static<typeof claims>;

const scp11bEvidence = Type.Object({
  method: oneOf(['scp11b']),
  kvn: whole('version of the key of the card', { min: 1, max: 127 }),
  chain: Type.Array(base64url(proofBounds.certificate, 'certificate'), {
    minItems: 1,
    maxItems: proofBounds.chain,
    description: 'certificates of the card, leaf last',
  }),
  cardPublicKey: base64url(65, 'ephemeral public key of the card: an uncompressed point of P-256'),
  receipt: base64url(16, 'receipt of the card'),
});
/** A FIDO attestation. */
export const fidoEvidence = Type.Object({
  method: oneOf(['fido']),
  attestationObject: base64url(
    proofBounds.attestationObject,
    'attestation object: a CBOR map of fmt, authData, attStmt, or the response to makeCredential of CTAP2 without its status',
  ),
});
/** A U2F registration. */
export const u2fEvidence = Type.Object({
  method: oneOf(['u2f']),
  registration: base64url(proofBounds.u2fRegistration, 'response to U2F_REGISTER without the status word'),
});

/** Answer of a key to a challenge. The registry judges it, and keeps it as it was sent. */
export const evidence = Type.Union([scp11bEvidence, fidoEvidence, u2fEvidence], {
  description: 'what the key gave in answer to the challenge',
});
/** The answer of a key to a challenge. */
export type Evidence = Static<typeof evidence>;
/** Evidence of SCP11b: bytes are base64url. */
export type Scp11bEvidence = Static<typeof scp11bEvidence>;
/** Evidence of a FIDO attestation: bytes are base64url. */
export type FidoEvidence = Static<typeof fidoEvidence>;
/** Evidence of a U2F registration: bytes are base64url. */
export type U2fEvidence = Static<typeof u2fEvidence>;

/** The proof of a key: what is known about its genuineness. */
export const proof = Type.Object(
  {
    grade: oneOf(proofGrades, {
      description:
        'none: nothing is known; claimed: only what the key reports; model: the model is proved; unit: the model and this serial number are proved; failed: the evidence contradicts the key',
    }),
    method: nullable(oneOf(proofMethods, { description: 'how it was proved' })),
    model: nullable(
      shown(
        'model that the evidence proves; with grade claimed, that of the claimed AAGUID in the FIDO metadata, else what the key reports over USB',
        'YubiKey 5 Series with NFC',
      ),
    ),
    aaguid: nullable(shown('AAGUID that the evidence proves; with grade claimed, the one that the key claims')),
    firmware: nullable(shown('firmware that the evidence proves; with grade claimed, the one that the key claims')),
    serial: nullable(shown('serial number that the evidence itself proves')),
    root: nullable(shown('trust anchor to which the evidence leads: its label, else its SHA-256 fingerprint')),
    metadataNumber: nullable(Type.Integer({ description: 'number of the FIDO metadata that was used' })),
    provedAt: nullable(timestamp('when the evidence was received')),
    warnings: Type.Array(shown('what to know about this proof; begins with the id of an advisory if it is one'), {
      description: 'one sentence each; with grade failed, the first one explains why',
    }),
  },
  { description: 'what is known about the genuineness of the key' },
);
/** The proof of a key: what is known about its genuineness. */
export type Proof = Static<typeof proof>;

const leastFirmware = Type.Object({
  aaguid: Type.Optional(aaguid),
  model: Type.Optional(
    line(proofBounds.claimLength, { description: 'how the name of the model begins, in upper or lower case' }),
  ),
  version: line(32, {
    pattern: '^\\d+(\\.\\d+){0,3}$',
    shape: 'up to four numbers with dots, such as 5.7.0',
    description: 'minimum firmware version of these keys',
    examples: ['5.7.0'],
  }),
});

/** A policy: what a key must prove before it is registered. */
export const proofPolicy = Type.Object(
  {
    requiredGrade: oneOf(requiredGrades, {
      description: 'lowest accepted grade of a proof; none: no proof is required',
    }),
    allowedAaguids: Type.Array(aaguid, {
      maxItems: proofBounds.policyItems,
      description: 'AAGUIDs that may be registered: a key must prove its AAGUID; empty: any, also keys without one',
    }),
    leastFirmware: Type.Array(leastFirmware, {
      maxItems: proofBounds.policyItems,
      description:
        'minimum firmware by model: a key must prove its firmware, or that it is of another model; an item without aaguid and model applies to all keys',
    }),
    identity: Type.Optional(
      oneOf(identityPolicies, {
        description:
          'which keys are recognized by a credential that they make for this registry. required: every UKEY is registered with one; where-needed: those without a usable serial number; never: none may be. Absent: where-needed',
      }),
    ),
  },
  { description: 'what a key must prove before it is registered' },
);
/** A policy: what a key must prove before it is registered. */
export type ProofPolicy = Static<typeof proofPolicy>;
