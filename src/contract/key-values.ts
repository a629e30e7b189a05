/** The values that the interface fixes for keys: how they are reached, issued, proved and recognized. Plain data. */
import { namesIn } from './names.ts';

/** How the daemon talks to an attached key: HID over USB, PCSC through a smart card reader. */
export const keyTransports = ['HID', 'PCSC'] as const;
/** How a key can give evidence. */
export const evidenceMethods = ['scp11b', 'fido'] as const;

/** States of a key that proves itself. */
export const provingStates = ['running', 'touch'] as const;
/** A state of a key that proves itself. */
export type ProvingState = (typeof provingStates)[number];

/** Refusals of a key that is issued, as in drivers/hardware-error.ts. */
export const keyRefusals = namesIn(
  'excluded full no-credential not-allowed pin-blocked pin-invalid pin-not-set pin-policy pin-replug pin-required',
);

/** Kinds of failures of hardware, as in drivers/driver.ts. */
export const hardwareFailures = namesIn('unavailable no-permission removed busy mute timeout aborted protocol');

/**
 * Grades of the genuineness of a key. `none`: nothing. `claimed`: only what the key reports about itself. `model`: the
 * model is proved. `unit`: the model and this very serial number are proved. `failed`: the evidence contradicts the key.
 */
export const proofGrades = ['none', 'claimed', 'model', 'unit', 'failed'] as const;
/** A grade of proof. */
export type ProofGrade = (typeof proofGrades)[number];
/** The proof of a key of which nothing is known, without its warnings. */
export const unproved = {
  grade: 'none',
  method: null,
  model: null,
  aaguid: null,
  firmware: null,
  serial: null,
  root: null,
  metadataNumber: null,
  provedAt: null,
} as const;

/** The relying party of all credentials of devmgr. `.invalid` cannot be registered (RFC 2606), so they are of use nowhere. */
export const relyingParty = 'devmgr.invalid';
/** The relying party of the credentials by which a registry recognizes its keys. */
export const identityParty = (registryId: string): string => `${registryId}.${relyingParty}`;

/** Kinds of receipts: for a key that a person keeps, that a person returns on a day, or that is back. */
export const receiptKinds = ['handover', 'loan', 'return'] as const;
/** A kind of receipt. */
export type ReceiptKind = (typeof receiptKinds)[number];

/** How a key was proved. `fido-enterprise` is a FIDO attestation whose certificate names the serial number. */
export const proofMethods = ['claims', 'scp11b', 'fido', 'fido-enterprise', 'u2f'] as const;

/** Grades that a policy can require, from the weakest to the strongest. */
export const requiredGrades = ['none', 'claimed', 'model', 'unit'] as const;
/** A grade that a policy can require. */
export type RequiredGrade = (typeof requiredGrades)[number];

/** Purposes of a trust anchor: the certificates of secure channels, or FIDO attestations. */
export const trustPurposes = ['scp11b', 'fido'] as const;
/** A purpose of a trust anchor. */
export type TrustPurpose = (typeof trustPurposes)[number];

/** An AAGUID as a part of a pattern, and in words: a UUID in lower case. */
export const aaguidText = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
export const aaguidShape = 'an AAGUID: a UUID in lower case';

/** Identities of devices: a serial number, a credential that its key has made, or neither since its key was reset. */
export const identities = ['serial', 'credential', 'none'] as const;
/** Which keys make a credential for the registry: all, those without a usable serial number, or none. */
export const identityPolicies = ['required', 'where-needed', 'never'] as const;
/** Which keys make a credential for the registry. */
export type IdentityPolicy = (typeof identityPolicies)[number];
/** Where the serial number of a key with a credential is from. */
export const numberSources = ['key', 'printed', 'auto'] as const;
/** Actions for which a key with a credential of the registry signs. */
export const identityActions = ['issue', 'reset', 'receipt'] as const;
/** An action for which a key with a credential of the registry signs. */
export type IdentityAction = (typeof identityActions)[number];
