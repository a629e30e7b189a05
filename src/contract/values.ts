/**
 * The values that the interface fixes, as plain data; those for persons and keys are in files of their own. The command line reads them
 * at every start, and the schemas (which need TypeBox) are built from them.
 */
import { namesIn } from './names.ts';

/** Roles of users, from the most to the fewest permissions. VIEWER is read-only. */
export const roles = ['ADMIN', 'DEALER', 'VIEWER'] as const;
/** A role that can be given to users and service tokens. */
export type Role = (typeof roles)[number];
/**
 * Roles of accounts. HOLDER is given to no one: it is that of people who have signed in at the provider of single sign-on, are persons
 * of the registry, and have no other role there.
 */
export const accountRoles = [...roles, 'HOLDER'] as const;
/** A role of an account. */
export type AccountRole = (typeof accountRoles)[number];
/** Roles that may change a device. */
export const changers = ['ADMIN', 'DEALER'] as const satisfies readonly Role[];
/** LOCAL is the role of the token that the daemon writes for programs of the same user on the same machine. */
export type CallerRole = AccountRole | 'LOCAL';

/**
 * The e-mail address of users who were removed. The interface neither deletes nor renames a user: only this field can mark them,
 * and no mail can reach `.invalid` (RFC 2606).
 */
export const removedEmail = 'removed@devmgr.invalid';

/** Purposes of single-use codes. */
export const codePurposes = ['SESSION', 'STREAM'] as const;
/** A purpose of a single-use code. */
export type CodePurpose = (typeof codePurposes)[number];

/** How the text of every service token begins. */
export const serviceTokenPrefix = 'devmgr_';

/** Kinds of providers at which keys are issued. */
export const providerTypes = ['entra', 'okta', 'webauthn', 'devmgr', 'ssh'] as const;
/** Kind of a provider at which keys are issued. */
export type ProviderType = (typeof providerTypes)[number];
/** Whether the provider is this registry itself: it needs no secret. */
export const isOwnType = (type: ProviderType): type is 'devmgr' | 'ssh' => type === 'devmgr' || type === 'ssh';

/**
 * Permissions that a service token has only if it was created with them, whatever its role. `scim` (/scim/v2), `decide` (decisions) and
 * `ssh` (SSH keys of persons) need no role; `record-use` adds to `decide`.
 */
export const tokenPermissions = ['webhooks', 'policies', 'scim', 'decide', 'ssh', 'record-use'] as const;
/** A permission of a service token beside its role. */
export type TokenPermission = (typeof tokenPermissions)[number];
/** Permissions that need no role: a service token with one of them and the lowest role, VIEWER, can do nothing else. */
export const permissionsWithoutRole: readonly TokenPermission[] = ['scim', 'decide', 'ssh', 'record-use'];

/** Why a key may be used, or not: see the operation `decide`. */
export const decisionReasons = namesIn('active inactive locked deactivated left unknown proof advisory');
/** Why a key may be used, or not. */
export type DecisionReason = (typeof decisionReasons)[number];
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

/** The languages of the console. Browsers that ask for neither get the first. */
export const consoleLanguages = ['en', 'de'] as const;
/** A language of the console, as ISO 639 and the attribute `lang` name it. */
export type ConsoleLanguage = (typeof consoleLanguages)[number];
/** The cookie in which a browser keeps the language that its person has chosen. It is sent to the console's pages alone. */
export const languageCookie = 'devmgr-language';

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

/** Who can have made a change of the journal. */
export const actorKinds = ['user', 'token', 'daemon', 'directory', 'provider'] as const;
/** Who has made a change of the journal. */
export type ActorKind = (typeof actorKinds)[number];

/** Where local accounts may sign in while single sign-on is on. */
export const localSources = ['ANYWHERE', 'LOOPBACK'] as const;

/** What the tests of single sign-on and of the directory look at. The console has words for each. */
export const ssoChecks = [
  'settings',
  'discovery',
  'keys',
  'clock',
  'PKCE',
  'device code',
  'back-channel logout',
  'client secret',
] as const;
export const directoryChecks = namesIn('connection server sign-in pages changes entries attributes');
/** What a test of a provider looks at. */
export type ProviderCheckName = (typeof ssoChecks)[number] | (typeof directoryChecks)[number];

/** Why a sign-in at the provider failed. The console has words for each. */
export const ssoProblems = namesIn('away busy client denied disabled groups key other overage state token');
/** Why a sign-in at the provider failed. */
export type SsoProblem = (typeof ssoProblems)[number];

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
 * What holders do next with a key. receive: confirm with a touch that it has arrived; help: it is locked, the service desk helps;
 * return: it is out of use; none: it works.
 */
export const holderSteps = ['none', 'receive', 'help', 'return'] as const;
/** What holders do next with a key. */
export type HolderStep = (typeof holderSteps)[number];

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
