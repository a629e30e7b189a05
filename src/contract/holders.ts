/** The people who hold the keys: what the role HOLDER sees and does, with no keys but theirs. */
import { type Static, Type } from 'typebox';
import { assertion } from './assertion.ts';
import { Code } from './codes.ts';
import { additions } from './define.ts';
import * as f from './device-fields.ts';
import { eventTypes } from './event-types.ts';
import { base64url, nullable, oneOf, shown, timestamp, token, whole } from './fields.ts';
import { receiptKinds } from './key-values.ts';
import { eventPage, passkeyBounds, proofBounds, receiptBounds } from './limits.ts';
import { startedReceipt } from './receipts.ts';
import { holderSteps } from './values.ts';

const ofHolder = { access: ['HOLDER'], limit: 'holder' } as const;
const params = Type.Object({ deviceId: token({ description: 'id of an own device', examples: ['DEV-1'] }) });
const optionalTime = (what: string) =>
  nullable(timestamp(`${what}; null if it was not, or before it became the key of the person`));

/**
 * An own key. It has nothing that others have written: a note or a reason may name someone else. Nor has it what was before it became
 * the key of the person: times are null then, and credentials that were issued before do not count.
 */
const ownDevice = Type.Object({
  deviceId: f.deviceId,
  deviceType: f.deviceType,
  serialNumber: shown('serial number', 'UK-2026-000001'),
  manufacturer: shown('maker', 'Feitian'),
  model: shown('model', 'ePass K9'),
  status: f.deviceStatus,
  activatedAt: optionalTime('when it was activated'),
  lockedAt: optionalTime('when it was locked'),
  shippedAt: optionalTime('when it was last sent'),
  receivedAt: optionalTime('when its arrival was confirmed'),
  signsInAt: Type.Array(shown('name of a provider', 'Entra ID'), {
    description: 'providers that accept a credential of the key that was issued to the person',
  }),
  next: oneOf(holderSteps, {
    description:
      'what to do next. receive: confirm its arrival with a touch; help: it is locked, the service desk helps; return: it is out of use; none: it works',
  }),
});
/** An own key. */
export type OwnDevice = Static<typeof ownDevice>;

/** An event of an own key, without the person who caused it and without texts of others. */
const ownEvent = Type.Object({
  id: whole('position of the event in the journal, ascending', { min: 1 }),
  type: oneOf(eventTypes),
  timestamp: timestamp('when it happened'),
  data: Type.Object(
    { deviceId: f.deviceId, deviceType: f.deviceType, kind: Type.Optional(oneOf(receiptKinds)) },
    { description: '`kind`: of a receipt' },
  ),
});

const signature = {
  receiptId: Type.Optional(token({ description: '`receiptId` of the start', examples: ['RCT-7KQM2XWDH9TBC4REPA3S'] })),
  text: Type.Optional(
    Type.String({ minLength: 1, maxLength: receiptBounds.text, description: '`text` of the start, as it was' }),
  ),
  credentialId: Type.Optional(assertion.credentialId),
  authenticatorData: Type.Optional(assertion.authenticatorData),
  signature: Type.Optional(assertion.signature),
  clientData: Type.Optional(
    base64url(passkeyBounds.clientData, '`clientDataJSON` of a browser that asked the key; absent if none did'),
  ),
};

/** Operations of people on their own keys. */
export const holderOperations = additions('Own keys', {
  /** A person has few keys: the list is whole. */
  listOwnDevices: {
    summary: 'List your own keys',
    ...ofHolder,
    data: Type.Object({ list: Type.Array(ownDevice) }),
  },

  /** From the entry on by which the device became that of the person. */
  listOwnDeviceEvents: {
    summary: 'List the events of an own key, the newest first',
    ...ofHolder,
    params,
    query: Type.Object({
      before: Type.Optional(whole('only events with a lower id', { min: 1 })),
      limit: Type.Optional(whole('most events', { min: 1, max: eventPage.max, default: eventPage.default })),
    }),
    data: Type.Object({ list: Type.Array(ownEvent) }),
    errors: [Code.deviceNotFound],
  },

  /** Harmless if it is repeated. Only the service desk unlocks the key. */
  reportLost: {
    summary: 'Report an own key lost: it is locked',
    description:
      'Locks the key and has its credentials removed at every provider, as `lock` does. The event DEVICE_LOST tells the service desk. A key that is already locked stays locked; the event is sent once for each lock.',
    ...ofHolder,
    params,
    body: Type.Object({ reason: f.reason }),
    data: Type.Object({
      deviceId: f.deviceId,
      status: f.deviceStatus,
      lockedAt: optionalTime('when it was locked'),
    }),
    errors: [Code.deviceNotFound, Code.deviceDeactivated],
    example: { body: { reason: 'left on a train' } },
  },

  /** Both steps of a receipt of the kind handover. */
  confirmReceived: {
    summary: 'Confirm with a touch that an own key has arrived',
    description: `Without \`receiptId\` it returns the text that the key signs, as \`POST /api/receipts\` does, valid for ${proofBounds.challengeSeconds / 60} minutes. With it, and what the key has signed, it stores the receipt as \`POST /api/receipts/{receiptId}\` does, and \`receivedAt\` is set. 1001 if the key is not on its way.`,
    ...ofHolder,
    params,
    body: Type.Object(signature),
    bodyOptional: true,
    data: Type.Object({
      ...startedReceipt,
      browser: nullable(
        Type.Object(
          { relyingParty: shown('name of the page', 'registry.example.com'), credentials: startedReceipt.credentials },
          {
            description:
              'credentials of the key that a browser at this address can ask (`navigator.credentials.get` with `challenge`): keys that sign in to the registry; null if it has none',
          },
        ),
      ),
      expiresAt: nullable(timestamp('until when the signature is accepted; null once the receipt is stored')),
      receivedAt: nullable(timestamp('when the receipt was stored; null at the start')),
    }),
    errors: [404, Code.deviceNotFound, Code.deviceLocked, Code.deviceDeactivated],
    example: {
      body: {
        receiptId: 'RCT-7KQM2XWDH9TBC4REPA3S',
        text: 'devmgr receipt 1\n…',
        credentialId: 'AAAA',
        authenticatorData: 'AAAA',
        signature: 'AAAA',
      },
    },
  },
});
