/** Schemas of the identity of a key: a credential that it has made for this registry, by which it is recognized. */
import { type Static, Type } from 'typebox';
import { assertion, identityId } from './assertion.ts';
import * as f from './device-fields.ts';
import { boolean, bytesOf, line, maybe, nullable, oneOf, shown, timestamp } from './fields.ts';
import { numberSources } from './key-values.ts';
import { identityBounds, proofBounds, textLengths } from './limits.ts';
import { aaguid, type FidoEvidence, fidoEvidence, type U2fEvidence, u2fEvidence } from './proof.ts';

/** The station of a key. */
export const station = maybe(
  line(textLengths.tokenName, { description: 'name of the station that has the key', examples: ['line-3'] }),
);
/** The firmware that a key reports. */
export const firmware = maybe(line(proofBounds.claimLength, { description: 'firmware that the key reports' }));
const evidence = Type.Union([fidoEvidence, u2fEvidence], {
  description: 'what the key gave when it made the credential, as in a proof',
});

/** The output of a key that has made its credential. */
export type IdentityEvidence = FidoEvidence | U2fEvidence;

/** The credential that a key has made, and the circumstances. */
export const made = {
  evidence,
  transports: Type.Optional(
    Type.Array(line(identityBounds.transport), {
      maxItems: identityBounds.transports,
      description: 'transports as the key claims them: usb, nfc',
    }),
  ),
  aaguid: maybe(aaguid),
  firmware,
  station,
  numberSource: oneOf(numberSources, {
    description:
      'where the serial number is from. key: the key reports it; printed: it was scanned or typed; auto: `number` of the challenge',
  }),
};

/** The credential of a new device, as a part of its registration. */
export const newIdentity = Type.Object(
  { identityId, ...made },
  { description: 'the credential by which the key is recognized: see Identity' },
);
/** The credential of a new device, as a part of its registration. */
export type NewIdentity = Static<typeof newIdentity>;

/** A credential that an attached key is asked for, and its device. */
export const candidate = Type.Object({
  credentialId: shown('id of the credential; base64url'),
  deviceId: f.deviceId,
  serialNumber: shown('serial number of the device'),
});
/** A credential that an attached key is asked for, and its device. */
export type IdentityCandidate = Static<typeof candidate>;

/** The device of a key. */
export const identified = Type.Object({
  deviceId: f.deviceId,
  serialNumber: shown('serial number of the device'),
  touched: boolean('whether the key was touched: only then it is recorded as proved'),
  provedAt: nullable(timestamp('when the key last proved, with a touch, that it is the key of this device')),
});

/** A request to the hardware service about the identity of a key. */
export const identifying = Type.Object({
  step: oneOf(['make', 'find', 'prove', 'name']),
  relyingParty: line(textLengths.username, {
    pattern: '^[0-9a-f]{32}\\.devmgr\\.invalid$',
    shape: 'a relying party of devmgr',
    description: 'relyingParty of the challenge or the candidates',
  }),
  challenge: Type.Optional(bytesOf(32, 'challenge of the registry')),
  credentials: Type.Optional(
    Type.Array(assertion.credentialId, {
      maxItems: Math.max(...identityBounds.portions),
      description:
        'for find: candidates; for prove: the credential of the device; for make: none of these may be on the key',
    }),
  ),
  serialNumber: maybe(f.serialNumber),
});

/** The output of the key. */
export const identifiedKey = {
  evidence: Type.Optional(evidence),
  credentialId: nullable(shown('for find and prove: the credential that the key has; null if it has none of them')),
  assertion: nullable(
    Type.Object(assertion, { description: 'for prove, and for find with CTAP2: what the key signed; null if nothing' }),
  ),
};
