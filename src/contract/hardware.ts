/** Attached keys and their drivers, as the hardware service shows them. */
import { type Static, Type } from 'typebox';
import { assertion } from './assertion.ts';
import { additions } from './define.ts';
import { forEachText } from './device-description.ts';
import { deviceId, deviceStatus, deviceType } from './device-fields.ts';
import {
  boolean,
  bytesOf,
  count,
  line,
  maybe,
  nullable,
  oneOf,
  secret,
  shown,
  timestamp,
  token,
  whole,
} from './fields.ts';
import { identifiedKey, identifying } from './identity-shapes.ts';
import { evidenceMethods, hardwareFailures, keyRefusals, keyTransports, provingStates } from './key-values.ts';
import { bodyBounds, pinBounds, textLengths } from './limits.ts';
import { claims, evidence, proof } from './proof.ts';
import { signing } from './receipts.ts';
import { roles } from './values.ts';
import { attestation, storedOnKey } from './webauthn.ts';

/** A physical key that is plugged into the machine of the service. */
export const key = Type.Object({
  keyId: shown(
    'identifies one attachment of one key; a key that is unplugged and plugged in again gets a new one',
    'hid-1f3a9c',
  ),
  deviceType,
  serialNumber: nullable(shown('null if no serial number can be read: see problem', 'UK-2026-000001')),
  serialSource: nullable(shown('how the serial number was read', 'usb-descriptor')),
  ...forEachText(() => nullable(shown('as the key reports it'))),
  transport: oneOf(keyTransports),
  reader: nullable(shown('name of the PC/SC reader')),
  vendorId: nullable(shown('USB vendor id, four hex digits', '096e')),
  productId: nullable(shown('USB product id, four hex digits', '0850')),
  attachedAt: timestamp('when it was plugged in'),
  simulated: boolean('true for a key that exists in software only'),
  problem: nullable(shown('why no serial number can be read and what to do')),
  claims,
  proving: nullable(
    oneOf(provingStates, {
      description: 'running: it is proving what it is, or is being issued; touch: it waits to be touched for that',
    }),
  ),
  proof: nullable(proof),
  device: nullable(
    Type.Object({ deviceId, status: deviceStatus }, { description: 'null if the serial number is not registered' }),
  ),
});
/** An attached key. `device` is its registration; null if its serial number is unknown or not registered. */
export type Key = Static<typeof key>;

/** State of one hardware driver. */
export const driverStatus = Type.Object({
  name: shown('driver', 'hid'),
  state: oneOf(['ready', 'unavailable']),
  detail: shown('what is watched, or what is missing and how to fix it'),
});
/** State of one hardware driver. `detail` is a sentence for people. */
export type DriverStatus = Static<typeof driverStatus>;

/** Characters and bytes of a PIN (FIDO CTAP 2.1, 6.5.1). */
const pinText = secret({ min: 1, max: pinBounds.most }, { description: 'PIN of the key: 4 to 63 bytes of UTF-8' });

/** Characters of creation options: with a list of credentials, they are long. */
const MAX_OPTIONS = 16_384;
/** Credentials that a key is asked for at once. */
const MAX_ASKED = 64;

/** State of the PIN of the key. */
const pinState = Type.Object({
  isSet: Type.Boolean(),
  retries: nullable(count('wrong entries that are left before the key blocks its PIN; null if none is set')),
  needsReplug: boolean('the key must be plugged in again before it accepts another entry'),
  minLength: count('minimum length of a PIN, in characters'),
  refusesSimple: boolean('whether the key refuses PINs that it finds too simple'),
  canKeepRules: boolean('whether it keeps rules: a minimal length, and that the PIN is changed'),
  mustChange: boolean('the person must change the PIN before the first sign-in'),
  freeCredentials: nullable(count('credentials that the key can still store; null if it does not report them')),
});

/** Common part of the operations on one key. */
const ofKey = {
  access: ['ADMIN', 'DEALER', 'LOCAL'],
  params: Type.Object({ keyId: token({ description: 'as in `GET /api/hardware/keys`' }) }),
  errors: [404],
} as const;

/** Operations on attached keys. */
export const hardwareOperations = additions('Hardware', {
  /** Keys are listed in the order in which they were plugged in. */
  listKeys: {
    summary: 'List the keys that are plugged into this machine',
    access: [...roles, 'LOCAL'],
    data: Type.Object({ list: Type.Array(key), drivers: Type.Array(driverStatus) }),
  },

  /** Returns evidence for `POST /api/proofs/{proofId}`: the registry judges it. */
  proveKey: {
    summary: 'Have an attached key prove what it is',
    description:
      'The response is sent when the key has answered, after 30 seconds at the latest. During that time `GET /api/hardware/keys` shows in `proving` whether the key waits to be touched. A closed request cancels the proof. Sends the key no PIN and nothing that changes it. A key answers SCP11b only once each time it is plugged in.',
    ...ofKey,
    body: Type.Object({
      method: Type.Optional(
        oneOf(evidenceMethods, { description: 'absent: scp11b if the key has it, else fido, which needs a touch' }),
      ),
      serialNumber: line(textLengths.serialNumber, {
        description: 'serial number that the evidence is about; that of the key, if it reports one',
      }),
      challenge: bytesOf(32, 'challenge of the registry'),
      registryId: line(64, { description: 'id of the registry' }),
      ephemeralPublicKey: bytesOf(65, 'ephemeral public key of the registry, an uncompressed point of P-256'),
    }),
    data: Type.Object({
      claims,
      evidence: Type.Optional(evidence),
      failure: nullable(oneOf(hardwareFailures, { description: 'why the key gave no evidence; null if it gave some' })),
      problem: nullable(shown('why the key gave no evidence, and what to do')),
    }),
    example: {
      params: { keyId: 'hid-1f3a9c' },
      body: {
        serialNumber: '12345678',
        challenge: 'w3qgN5Uo0b2VtDkYpZx7s1cRjH8eLmA4fTiQyKuWgXo',
        registryId: 'f0k2vQ',
        ephemeralPublicKey: `B${'A'.repeat(86)}`,
      },
      data: {
        claims: { aaguid: '2fc0579f-8113-47ea-b116-bb5a8db9202a', firmware: '5.7.4', formFactor: 'usb-a-keychain' },
        evidence: {
          method: 'scp11b',
          kvn: 1,
          chain: ['MIIB'],
          cardPublicKey: 'BAAA',
          receipt: 'AAECAwQFBgcICQoLDA0ODw',
        },
        failure: null,
        problem: null,
      },
    },
  },

  /** The only operation that sends a PIN to a key, or stores something on it. */
  issueKey: {
    summary: 'Issue an attached key',
    description:
      'state: reports what the key reports about its PIN, and whether it has one of the credentials. pin: sets the PIN of a key that has none; one that is set is never replaced. credential: enters the PIN once and has the key store a credential for the creation options of a provider, which needs a touch; without a PIN if the options do not require user verification. forget: removes such a credential from the key. rules: minPinLength is what a PIN has at least from now on, and with changePin the PIN has to be changed before it opens anything else; some keys cannot keep that. reset: erases all credentials and the PIN, and needs a touch. It is sent only within 10 seconds after the daemon has seen the key being plugged in, whatever the key itself allows. The PIN is neither stored nor logged. A closed request cancels what waits for a touch. Refused with 2007 over the network or through a proxy, unless the operator of the daemon allows that (DEVMGR_REMOTE_ISSUING).',
    ...ofKey,
    body: Type.Object({
      step: oneOf(['state', 'pin', 'credential', 'forget', 'rules', 'reset']),
      serialNumber: line(textLengths.serialNumber, { description: 'serial number of the key' }),
      pin: Type.Optional(pinText),
      changePin: Type.Optional(boolean('for rules; by default true without minPinLength')),
      minPinLength: Type.Optional(whole('for rules: characters', { min: pinBounds.least, max: pinBounds.most })),
      origin: Type.Optional(line(1000, { description: 'for credential: the origin of the provider' })),
      credentials: Type.Optional(
        Type.Array(storedOnKey, { maxItems: MAX_ASKED, description: 'for state: credentials that the key may have' }),
      ),
      credentialId: Type.Optional(line(1400, { description: 'for forget: id of the credential, as base64url' })),
      options: Type.Optional(
        line(MAX_OPTIONS, { description: 'for credential: the creation options of the provider, as JSON in a text' }),
      ),
    }),
    data: Type.Object({
      state: nullable(pinState),
      hasAny: maybe(
        boolean(
          'for state: whether the key has one of the credentials; for credential: whether it reports the new one without its PIN; null if it does not report it',
        ),
      ),
      response: nullable(attestation),
      failure: nullable(oneOf(hardwareFailures, { description: 'why the key did not do it; null if it did' })),
      refusal: nullable(oneOf(keyRefusals, { description: 'what the key itself refuses' })),
      problem: nullable(shown('why the key did not do it, and what to do')),
    }),
    example: {
      params: { keyId: 'hid-1f3a9c' },
      body: { step: 'state', serialNumber: '12345678' },
      data: {
        state: {
          isSet: true,
          retries: 8,
          needsReplug: false,
          minLength: 4,
          refusesSimple: false,
          canKeepRules: true,
          mustChange: false,
          freeCredentials: 25,
        },
        response: null,
        failure: null,
        refusal: null,
        problem: null,
      },
    },
  },

  /** Sends the key no PIN, and nothing that stays on it. Asks only for credentials that registries of devmgr have made. */
  identifyKey: {
    summary: 'Make, find or use the credential by which a registry recognizes an attached key',
    description:
      'find: which of the credentials the key has, without a touch. make: a new credential, after a touch. prove: a signature with one of the credentials, after a touch. name: the key is the device with this serial number; without one, the name is taken back. A key that has a name is listed with that serial number until it is unplugged, with `serialSource` credential, and KEY_ATTACHED is sent again. See [Identity](#identity).',
    ...ofKey,
    // Each attached key takes up to three requests, the largest with thousands of credentials.
    limit: 'query',
    bodyValues: bodyBounds.manyValues,
    body: identifying,
    data: Type.Object({
      ...identifiedKey,
      failure: nullable(oneOf(hardwareFailures, { description: 'why the key did not do it; null if it did' })),
      problem: nullable(shown('why the key did not do it, and what to do')),
    }),
    example: {
      params: { keyId: 'hid-1f3a9c' },
      body: {
        step: 'find',
        relyingParty: '0f1e2d3c4b5a69788796a5b4c3d2e1f0.devmgr.invalid',
        challenge: 'w3qgN5Uo0b2VtDkYpZx7s1cRjH8eLmA4fTiQyKuWgXo',
        credentials: ['AAAA'],
      },
    },
  },

  /** Returns what `POST /api/receipts/{receiptId}` takes. Signs texts of receipts only. */
  signReceipt: {
    summary: 'Have an attached key sign the text of a receipt',
    description:
      'The response is sent when the key was touched, after 30 seconds at the latest; see the proof of a key. The key signs only with a credential that it made for devmgr.',
    ...ofKey,
    body: signing,
    data: Type.Object({
      assertion: nullable(Type.Object(assertion, { description: 'what the key signed; null if it did not' })),
      failure: nullable(oneOf(hardwareFailures, { description: 'why the key did not sign; null if it did' })),
      problem: nullable(shown('why the key did not sign, and what to do')),
    }),
    example: {
      params: { keyId: 'hid-1f3a9c' },
      body: { serialNumber: '12345678', text: 'devmgr receipt 1\n…', credentials: ['AAAA'] },
    },
  },
});
