/** Receipts: a person touches a key, which signs what was issued, lent or returned. */
import { type Static, Type } from 'typebox';
import { assertion, signedAction } from './assertion.ts';
import { Code } from './codes.ts';
import { additions } from './define.ts';
import { deviceId, serialNumber } from './device-fields.ts';
import { boolean, line, maybe, nullable, oneOf, prose, shown, timestamp, token } from './fields.ts';
import { proofGrades, receiptKinds, relyingParty } from './key-values.ts';
import { proofBounds, receiptBounds, textLengths } from './limits.ts';
import { paged, pageQuery } from './paging.ts';
import { changers, roles } from './values.ts';

/** The text of a receipt, as the registry made it. */
const signedText = Type.String({
  minLength: 1,
  maxLength: receiptBounds.text,
  description: 'the text that the key signs: the SHA-256 of its UTF-8 is the client data hash',
});

/** A request to the hardware service for a signature. */
export const signing = Type.Object({
  serialNumber,
  text: signedText,
  credentials: Type.Array(assertion.credentialId, { minItems: 1, maxItems: receiptBounds.credentials }),
  relyingParty: Type.Optional(
    line(textLengths.username, { description: `relying party of the credentials; absent: ${relyingParty}` }),
  ),
});

const params = Type.Object({
  receiptId: token({ description: 'id of the receipt', examples: ['RCT-7KQM2XWDH9TBC4REPA3S'] }),
});
const listed = {
  receiptId: shown('id', 'RCT-7KQM2XWDH9TBC4REPA3S'),
  kind: oneOf(receiptKinds),
  deviceId,
  serialNumber: shown('serial number of the device'),
  lot: nullable(shown('lot of the device')),
  person: shown('user name of the person', 'ada.lovelace'),
  name: nullable(shown('full name of the person', 'Ada Lovelace')),
  date: timestamp('date of the text'),
  dueAt: nullable(timestamp('when a loan is due; null for other kinds')),
  signedAt: timestamp('when the registry received the signature'),
  closedBy: nullable(shown('the receipt that ended the loan: the next one of the device')),
};
const listedReceipt = Type.Object(listed);
/** A receipt in a list. */
export type ListedReceipt = Static<typeof listedReceipt>;
/** A receipt with everything that it takes to verify it offline. */
const receipt = Type.Object({
  ...listed,
  registryId: shown('id of the registry, which is in the text'),
  terms: shown('terms'),
  text: shown('the text that the key signed, in UTF-8'),
  relyingParty: shown('relying party of the credential', relyingParty),
  ...assertion,
  publicKey: shown('public key of the credential: PEM'),
  proof: Type.Object(
    {
      proofId: nullable(
        shown(
          'the proof with which the key made the credential; null: the registry recognizes the key by it (Identity)',
        ),
      ),
      grade: oneOf(proofGrades, { description: 'its grade when the receipt was signed' }),
      provedAt: timestamp('when the key has made it'),
      attestation: nullable(shown('what the key gave in answer to the challenge: JSON')),
      challenge: nullable(shown('that challenge; base64url')),
      clientData: nullable(
        shown(
          'client data of the browser that asked the key, in base64url: the signature covers its SHA-256, and its challenge is that of the text; null if no browser asked',
        ),
      ),
    },
    { description: 'where the public key is from' },
  ),
});
/** A receipt with everything that it takes to verify it offline. */
export type Receipt = Static<typeof receipt>;

/** A receipt that a key has to sign. */
export const startedReceipt = {
  receiptId: listed.receiptId,
  challenge: shown('SHA-256 of the text: the client data hash that the key signs; base64url'),
  text: shown('text that the key signs'),
  relyingParty: shown('relying party of the credentials', relyingParty),
  credentials: Type.Array(shown('id of a credential; base64url'), {
    description: 'credentials of the key that may sign; empty: the key has to be proved by FIDO first',
  }),
  problem: nullable(shown('why a proof would not help either; null if it may, or if the key has a credential')),
};

const states = [Code.deviceNotFound, Code.deviceLocked, Code.deviceDeactivated] as const;

/** Operations on receipts. */
export const receiptOperations = additions('Receipts', {
  /** Nothing is stored before the key has signed. */
  createReceipt: {
    summary: 'Get the text of a receipt that a key has to sign',
    description: `The text is valid for ${proofBounds.challengeSeconds / 60} minutes, for this caller only. handover and loan need an ACTIVE device; return also accepts one that is LOCKED or DEACTIVATED. The person is the one that the device is bound to.`,
    access: changers,
    limit: 'query',
    body: Type.Object({
      deviceId: token({ description: 'device id', examples: ['DEV-1'] }),
      kind: oneOf(receiptKinds, { description: 'what happens to the key' }),
      terms: prose(receiptBounds.terms, {
        description: 'what the person agrees to',
        examples: ['The key stays the property of Example Ltd.'],
      }),
      dueAt: maybe(
        line(40, {
          description:
            'when a loan ends, ISO 8601 with a zone: required for a loan, in the future; absent for other kinds',
          examples: ['2027-01-31T17:00:00Z'],
        }),
      ),
    }),
    data: Type.Object({ ...startedReceipt, expiresAt: timestamp('until when the signature is accepted') }),
    errors: [...states],
    example: { body: { deviceId: 'DEV-1', kind: 'handover', terms: 'The key stays the property of Example Ltd.' } },
  },

  /** A text that was signed before is refused with 1001. */
  submitReceipt: {
    summary: 'Store a receipt that a key has signed',
    description:
      'Accepts the signature of a credential that the key made in a proof with grade model or unit, or of the one by which the registry recognizes it (grade claimed). A return is signed with the credential of the receipt before it. If that receipt has another credential, a handover or loan with a new one needs grade unit, a key that was recognized by it before that receipt, or the role ADMIN. Every receipt closes the open loan of its device.',
    access: changers,
    params,
    body: Type.Object({ text: signedText, ...assertion, ...signedAction }),
    data: receipt,
    errors: [404, ...states, Code.serialDuplicated],
    example: {
      params: { receiptId: 'RCT-7KQM2XWDH9TBC4REPA3S' },
      body: { text: 'devmgr receipt 1\n…', credentialId: 'AAAA', authenticatorData: 'AAAA', signature: 'AAAA' },
    },
  },

  /** A page past the end is empty. */
  listReceipts: {
    summary: 'List receipts',
    description: 'overdue: open loans that are past due, of devices that are not DEACTIVATED.',
    access: roles,
    query: Type.Object({
      ...pageQuery(),
      deviceId: Type.Optional(token({ description: 'receipts of this device', examples: ['DEV-1'] })),
      overdue: Type.Optional(boolean('true: overdue loans only')),
    }),
    data: paged(listedReceipt),
    errors: [Code.deviceNotFound],
  },

  /** For programs, and for `devmgr receipts verify`, which needs no registry. */
  getReceipt: {
    summary: 'Show a receipt, to be verified offline',
    access: roles,
    params,
    data: receipt,
    errors: [404],
    example: { params: { receiptId: 'RCT-7KQM2XWDH9TBC4REPA3S' } },
  },
});
