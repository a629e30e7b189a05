/**
 * The values that the interface fixes, as plain data. This module imports nothing: the command line reads it at every start,
 * and the schemas (which need TypeBox) are built from it.
 */
import { namesIn } from './names.ts';

/** Roles of users, from the most to the fewest permissions. VIEWER is read-only. */
export const roles = ['ADMIN', 'DEALER', 'VIEWER'] as const;
/** A role of a user. */
export type Role = (typeof roles)[number];
/** Roles that may change a device. */
export const changers = ['ADMIN', 'DEALER'] as const satisfies readonly Role[];
/** LOCAL is the role of the token that the daemon writes for programs of the same user on the same machine. */
export type CallerRole = Role | 'LOCAL';

/**
 * The e-mail address of users who were removed. The interface neither deletes nor renames a user: only this field can mark them,
 * and no mail can reach `.invalid` (RFC 2606).
 */
export const removedEmail = 'removed@devmgr.invalid';

/** Purposes of single-use codes. */
export const codePurposes = ['SESSION', 'STREAM'] as const;
/** A purpose of a single-use code. */
export type CodePurpose = (typeof codePurposes)[number];

/** Kinds of sessions that a login can ask for. */
export const sessionKinds = ['CONSOLE'] as const;

/** How the text of every service token begins. */
export const serviceTokenPrefix = 'devmgr_';

/** Kinds of providers at which keys are issued. */
export const providerTypes = ['entra', 'okta', 'webauthn', 'devmgr'] as const;
/** Kind of a provider at which keys are issued. */
export type ProviderType = (typeof providerTypes)[number];

/**
 * Permissions that a service token has only if it was created with them, whatever its role. `scim` (/scim/v2) and `decide` (decisions) need
 * no role.
 */
export const tokenPermissions = ['webhooks', 'policies', 'scim', 'decide'] as const;
/** A permission of a service token beside its role. */
export type TokenPermission = (typeof tokenPermissions)[number];

/** Where a person is from: added here, by an identity provider, from a directory, or from a file that an ADMIN imports. */
export const personSources = ['local', 'scim', 'directory', 'import'] as const;
/** Where a person is from. */
export type PersonSource = (typeof personSources)[number];

/** Where data of a person stays after an erasure. */
export const erasureLimits = [
  'backups',
  'home',
  'database-log',
  'forwarding',
  'webhooks',
  'stations',
  'journal',
  'accounts',
  'source',
  'tokens',
  'logs',
] as const;

/** Kinds of what a person can have, in the case of a leaver. */
export const caseKinds = [
  'device',
  'account',
  'session',
  'token',
  'passkey',
  'credential',
  'issue',
  'loan',
  'pin',
] as const;
/** A kind of what a person can have. */
export type CaseKind = (typeof caseKinds)[number];
/** The state of an item of a case. `kept`: an ADMIN has decided that it stays. */
export const caseStates = ['open', 'closed', 'kept'] as const;
/** How the case of a leaver ended: an ADMIN closed it, or the person is back. */
export const caseEnds = ['closed', 'returned'] as const;

/** Why a key may be used, or not: see the operation `decide`. */
export const decisionReasons = [
  'active',
  'inactive',
  'locked',
  'deactivated',
  'left',
  'unknown',
  'proof',
  'advisory',
] as const;
/** Why a key may be used, or not. */
export type DecisionReason = (typeof decisionReasons)[number];
/** Effects of a security advisory on a decision; the first one applies if a request has none. */
export const advisoryRules = ['allow', 'refuse'] as const;

/** Outcomes in the log of provisioning. */
export const provisioningOutcomes = ['added', 'updated', 'left', 'held', 'returned', 'refused'] as const;

/** Sources whose refused values are listed. */
export const provisioningSources = ['scim', 'directory', 'import'] as const satisfies readonly PersonSource[];
/** A source whose refused values are listed. */
export type ProvisioningSource = (typeof provisioningSources)[number];

/** Effects of an imported row on a person. `held`, `due`: the person leaves, and the ACTIVE devices wait for a release or a delay. */
export const importOutcomes = ['created', 'updated', 'unchanged', 'back', 'left', 'held', 'due'] as const;
/** An effect of an imported row on a person. */
export type ImportOutcome = (typeof importOutcomes)[number];

/** Actions on the ACTIVE devices of a person who leaves. */
export const leaverActions = ['lock', 'retire'] as const;
/** An action on the ACTIVE devices of a person who leaves. */
export type LeaverAction = (typeof leaverActions)[number];

/** Types of device: UKEY is a USB security key, SIMKEY a SIM-based key. */
export const deviceTypes = ['UKEY', 'SIMKEY'] as const;
/** A type of device. */
export type DeviceType = (typeof deviceTypes)[number];

/** States of a device. DEACTIVATED is final. */
export const deviceStatuses = ['INACTIVE', 'ACTIVE', 'LOCKED', 'DEACTIVATED'] as const;
/** A state of a device. */
export type DeviceStatus = (typeof deviceStatuses)[number];

/** Fields of a device that an update may repeat but not change: another value is refused with 1001. */
export const immutableFields = ['deviceType', 'serialNumber', 'manufacturer', 'model', 'status'] as const;

/** Operations that a batch can carry out on each of its devices. */
export const batchOperations = ['ACTIVATE', 'LOCK', 'UNLOCK', 'DEACTIVATE', 'GENERATE_CODE', 'UPDATE'] as const;
/** An operation of a batch. */
export type BatchOperation = (typeof batchOperations)[number];

/** Fields of a device in a list, in the order of the columns of CSV. */
export const deviceListFields = namesIn(
  'deviceId deviceType serialNumber manufacturer model status userId activationCode createdAt activatedAt lastUsedAt',
);

/** Path of the console for browsers. */
export const consolePath = '/console/';

/** How the CSV column of a tag is named: this, then the name of the tag. */
export const tagColumn = 'tag:';

/** The CSV column with the grade of a device's proof; empty without a proof. */
export const proofColumn = 'proof';

/** Values of `sortBy` in lists that sort by creation time only. Both names mean the same; the first is the default. */
export const creationSorts = ['createTime', 'createdAt'] as const;

/** Values of `sortBy` in the device list. */
export const deviceSorts = [
  ...creationSorts,
  'activatedAt',
  'lastUsedAt',
  'updatedAt',
  'deviceId',
  'serialNumber',
  'manufacturer',
  'model',
  'status',
  'deviceType',
] as const;
/** A value of `sortBy` in the device list. */
export type DeviceSort = (typeof deviceSorts)[number];

/** Formats of an export; the first is the default. */
export const exportFormats = ['ndjson', 'csv'] as const;
/** A format of an export. */
export type ExportFormat = (typeof exportFormats)[number];

/** Values of `sortOrder`; the first is the default. */
export const sortOrders = ['desc', 'asc'] as const;

/** Platforms and the extensions (lower case, without the dot) of their installer packages. */
export const platforms = {
  WINDOWS: ['exe', 'msi'],
  MACOS: ['dmg', 'pkg'],
  LINUX: ['deb', 'rpm', 'appimage'],
  ANDROID: ['apk', 'aab'],
  IOS: ['ipa'],
} as const;
/** A platform that installer packages are uploaded for. */
export type Platform = keyof typeof platforms;
/** The platforms, in the order of messages and documents. */
export const platformNames = Object.keys(platforms) as Platform[];

/** How the daemon talks to an attached key: HID over USB, PCSC through a smart card reader. */
export const keyTransports = ['HID', 'PCSC'] as const;
/** How a key can give evidence. */
export const evidenceMethods = ['scp11b', 'fido'] as const;

/** States of a key that proves itself. */
export const provingStates = ['running', 'touch'] as const;
/** A state of a key that proves itself. */
export type ProvingState = (typeof provingStates)[number];

/** Steps in which a key is issued. */
export const issueSteps = ['state', 'pin', 'credential', 'forget', 'rules', 'reset'] as const;

/** Stages in the record of the reset of a key. */
export const resetStages = ['begun', 'done', 'canceled'] as const;

/** Refusals of a key that is issued, as in drivers/hardware-error.ts. */
export const keyRefusals = namesIn(
  'excluded full no-credential not-allowed pin-blocked pin-invalid pin-not-set pin-policy pin-replug pin-required',
);

/** Kinds of failures of hardware, as in drivers/driver.ts. */
export const hardwareFailures = namesIn('unavailable no-permission removed busy mute timeout aborted protocol');

/** States of a hardware driver. */
export const driverStates = ['ready', 'unavailable'] as const;

/** Who can have made a change of the journal. */
export const actorKinds = ['user', 'token', 'daemon', 'directory', 'provider'] as const;
/** Who has made a change of the journal. */
export type ActorKind = (typeof actorKinds)[number];

/** Scopes of a run: what it reads of a directory. */
export const directoryRuns = ['ALL', 'CHANGES'] as const;
/** The scope of a run: what it reads of a directory. */
export type DirectoryRun = (typeof directoryRuns)[number];
/** Steps of a run for a person; `skipped`: for an entry that cannot be one. */
export const directorySteps = ['new', 'changed', 'left', 'held', 'back', 'skipped'] as const;

/** Where local accounts may sign in while single sign-on is on. */
export const localSources = ['ANYWHERE', 'LOOPBACK'] as const;

/** Why a sign-in at the provider failed. The console has words for each. */
export const ssoProblems = namesIn('away busy client denied disabled groups key other overage state token');
/** Why a sign-in at the provider failed. */
export type SsoProblem = (typeof ssoProblems)[number];

/** States of a webhook. */
export const webhookStates = ['active', 'retrying', 'disabled'] as const;

/** Codes with which the daemon closes a notification stream (RFC 6455, section 7.4). */
export const closeCodes = {
  /** The daemon is stopping; reconnect with `since`. */
  shuttingDown: 1001,
  /** The token expired or was revoked, its user was disabled or changed the password; log in again. */
  loggedOut: 4401,
  /** Something waited for `stream.slowSeconds` and the consumer took nothing; reconnect with `since`. */
  tooSlow: 4409,
} as const;

/** Bounds of a notification stream. */
export const stream = {
  /** Seconds between two pings. A connection without a pong by the next ping is ended. */
  pingSeconds: 30,
  /** Bytes that may wait in memory for one consumer; the rest stays in the journal. */
  bufferBytes: 1024 * 1024,
  /** Seconds for which a consumer may take nothing while something waits for it. */
  slowSeconds: 30,
  /** Header of the upgrade response: the id of the last event before the stream, to resume from if none arrives. */
  sinceHeader: 'X-Stream-Since',
} as const;

/** Symbols of activation codes: 32, without 0, 1, I and O. */
export const activationAlphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';

/** Dot-separated names, none of them empty: pre-release and build of Semantic Versioning. */
const versionParts = '[0-9A-Za-z\\-]+(\\.[0-9A-Za-z\\-]+)*';

/** Ids of devices, users, persons, versions and backups, in upper or lower case. A scanned id must name one thing. */
const idForm = '([Dd][Ee][Vv]|[Uu][Ss][Rr]|[Pp][Ee][Rr]|[Aa][Pp][Pp]|[Bb][Kk][Pp])-[0-9]+';

/** Patterns of text fields (JSON Schema, whole value), each with the words that complete "must be". */
export const textShapes = {
  serialNumber: {
    pattern: '^[A-Za-z0-9\\-_.:/]+$',
    shape: 'made of ASCII letters, digits and - _ . : / only',
  },
  newSerialNumber: {
    pattern: `^(?!${idForm}$)[A-Za-z0-9\\-_.:/]+$`,
    shape:
      'made of ASCII letters, digits and - _ . : / only, and not of the form of an id (DEV-, USR-, PER-, APP- or BKP- and digits)',
  },
  username: {
    pattern: '^[A-Za-z0-9\\-_.@]+$',
    shape: 'made of ASCII letters, digits and - _ . @ only',
  },
  email: { pattern: '^[^\\s@]+@[^\\s@]+$', shape: 'an e-mail address' },
  packageVersion: {
    pattern: `^\\d+(\\.\\d+){0,3}(-${versionParts})?(\\+${versionParts})?$`,
    shape: 'up to four numbers with dots, then - or + parts, such as 1.0.0 or 1.2.0-rc.1',
  },
} as const;

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

/** Coverage of statistics: manufacturers, hours and days of registrations, days of expiring codes and of unused devices. */
export const statisticsRange = {
  manufacturers: 20,
  /** Models, values of a tag and advisories that are counted apart: those with the most devices. */
  values: 100,
  hours: 48,
  days: 30,
  codesDays: 30,
  dueDays: 7,
  unusedDays: 90,
} as const;

/** Tags whose values are counted: lot, station and place of use. Another one needs a step of the store that counts it. */
export const countedTags = ['lot', 'site', 'station'] as const;
/** A tag whose values are counted. */
export type CountedTag = (typeof countedTags)[number];

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
/** Protocols of FIDO keys. */
export const fidoProtocols = ['CTAP2', 'U2F'] as const;
/** Steps in which an attached key is asked about its identity. */
export const identitySteps = ['make', 'find', 'prove', 'name'] as const;
/** Changes of the credential by which a key is recognized. */
export const identityChanges = ['bound', 'proved', 'lost'] as const;
