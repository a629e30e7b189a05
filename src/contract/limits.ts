/** Rate limits, sizes, lengths and paging bounds. They are stated here only. */

/** At most `count` requests in a fixed window of `seconds`, which starts with the first request. */
export interface Limit {
  readonly count: number;
  readonly seconds: number;
}

/** Login, documents and sign-in steps count per client address, others per user or token. The interface publishes the first four. */
export const rateLimits = {
  login: { count: 5, seconds: 60 },
  query: { count: 100, seconds: 60 },
  modify: { count: 30, seconds: 60 },
  upload: { count: 10, seconds: 3600 },
  document: { count: 120, seconds: 60 },
  /** An office may have one address, and a sign-in has several steps. */
  signIn: { count: 1200, seconds: 60 },
  /** A door asks each time a key is used. */
  decide: { count: 6000, seconds: 60 },
  /** Unknown keys in the questions of one service token: a token that exceeds this is guessing serial numbers. */
  unknownKey: { count: 100, seconds: 3600 },
  /** One person at a page, with few keys. */
  holder: { count: 60, seconds: 60 },
} satisfies Readonly<Record<string, Limit>>;

/** The window in which a request counts. */
export type LimitScope = keyof typeof rateLimits;

const MiB = 1024 * 1024;

/** Decisions: questions of a request, devices of a user, seconds for which an answer may be kept, longest names of keys in characters. */
export const decisionBounds = { questions: 100, devices: 100, seconds: 5, sshKey: 4096, certificate: 128 } as const;

/** Largest inputs, in bytes except the numbers of items. An input of exactly this size is accepted. */
export const sizes = {
  /** JSON body. */
  body: MiB,
  /** JSON body of a batch. */
  batchBody: 16 * MiB,
  /** Number of registrations in a batch. */
  batchItems: 10_000,
  /** Number of devices that a batch changes. */
  batchUpdateItems: 1000,
  /** Installer package. */
  package: 2 ** 31,
  /** Backup of a device. */
  backup: 64 * MiB,
} as const;

/**
 * Bounds of a JSON body: members of one object, characters in the name of a member, members and elements in all, and of
 * the body of a batch, a policy or evidence, and levels of nesting. They are counted as written: a name that occurs twice counts twice.
 */
export const bodyBounds = { members: 256, name: 60, values: 2000, manyValues: 50_000, depth: 64 } as const;

/** Longest texts, in characters (code points) after trimming. */
export const textLengths = {
  serialNumber: 64,
  /** Of a device, and the user name of a person. */
  userId: 128,
  username: 64,
  email: 254,
  manufacturer: 200,
  model: 200,
  reason: 200,
  version: 64,
  versionName: 200,
  note: 1000,
  changelog: 10_000,
  tokenName: 64,
  /** `token:` and a name. */
  actor: 70,
} as const;

/** Most tags of a device, and the longest value of one in characters. */
export const tagBounds = { perDevice: 16, valueLength: 128 } as const;

/** Most characters and words of a search of devices. */
export const searchBounds = { length: 200, words: 8 } as const;

/** Defaults of `page` and `size`, and their largest values. Both start at 1. */
export const paging = { page: 1, size: 20, maxSize: 100, maxPage: 1_000_000_000_000 } as const;

/** How many events one request returns: the default and the largest number. */
export const eventPage = { default: 100, max: 1000 } as const;

/** Longest use of a device that one request records: 366 days, in seconds. */
export const longestUse = 366 * 86_400;

/** Days for which an activation code is valid. */
export const activationCodeDays = { min: 1, max: 3650, default: 365 } as const;

/** Seconds for which a token is valid, after a login and for the role LOCAL. */
export const tokenSeconds = 24 * 60 * 60;

/** Seconds for which a single-use code is valid. */
export const signInCodeSeconds = 30;

/** Days after a login for which its token can be renewed. */
export const sessionDays = { min: 1, max: 3650, default: 30 } as const;

/** Days for which a service token is valid. */
export const serviceTokenDays = { min: 1, max: 365 } as const;

/** Persons: longest texts in characters, most groups of the registry and of one person, and most persons of one release. */
export const personBounds = {
  name: 200,
  externalId: 256,
  groups: 5000,
  groupsOfPerson: 256,
  released: 1000,
  /** User names in a query. */
  named: 100,
} as const;

/** Bounds of PINs that stations make: recipients, characters of one, of a sealed PIN, and digits of a random one. */
export const pinBounds = {
  recipients: 8,
  recipient: 62,
  sealed: 8192,
  earlier: 16,
  digits: { least: 4, most: 16, usual: 8 },
  least: 4,
  most: 63,
} as const;

/** Bounds of providers at which keys are issued: how many, characters, and seconds of a `Retry-After`. */
export const providerBounds = {
  providers: 16,
  name: 64,
  url: 1000,
  secret: 4096,
  reconciled: 200,
  waitSeconds: 300,
} as const;

/**
 * A directory: longest texts in characters, most groups, the longest pause between two runs in minutes, persons that a report
 * shows, and entries of a directory.
 */
export const directoryBounds = {
  text: 1000,
  attribute: 64,
  groupName: personBounds.name,
  groups: 64,
  nestedGroups: 1000,
  ca: 65_536,
  minutes: 1440,
  shown: 1000,
  entries: 200_000,
} as const;

/**
 * The brake for leavers: those are held whose devices are more than this share of all ACTIVE devices, and at least this many,
 * together with those of the leavers within this time.
 */
export const leaverBrake = { share: 0.05, least: 10, minutes: 10 } as const;

/** Requests of one SCIM token that a daemon carries out at once, and those that wait; more are refused with 429. */
export const scimBounds = { atOnce: 4, waiting: 100 } as const;

/** Refused provisioning requests that are kept: how many of each source, for how long, and most characters of a text. */
export const refusedBounds = { kept: 200, days: 30, text: 200 } as const;

/** Entries of the journal that the log of provisioning shows, beside what was refused. */
export const provisioningLog = { entries: 500 } as const;

/** Undo of a batch: persons, accounts and devices of one request, entries that are searched, and most entries of a batch. */
export const undoBounds = { portion: 200, searched: 1_000_000, entries: 100_000 } as const;

/** Cases of leavers: hours after which an open item is overdue, and most items that a case shows. */
export const caseBounds = { overdueHours: 24, items: 2000, kept: 1000 } as const;

/** Most devices, and most entries of the journal, in the report about a person. */
export const reportBounds = { devices: 1000, events: 10_000 } as const;

/** Longest delay between leaving and the locks, in hours: 90 days. */
export const leaverDelayHours = 2160;

/** Comparison with providers: persons that are shown and stored, and users that are read of one provider. */
export const driftBounds = { shown: 1000, users: 500_000 } as const;

/** Longest times before an erasure by policy, and until copies outside of the registry are gone, in days: ten years. */
export const retentionDays = 3650;

/** Days after which a key that was sent counts as overdue, unless the policy has others. */
export const arrivalDays = 14;

/** Networks that a service token may be limited to. */
export const MAX_NETWORKS = 32;

/** Length of a new password in characters. */
export const passwordLength = { min: 8, max: 200 } as const;

/** How long the response to a request with an Idempotency-Key is stored, and the longest key in characters. */
export const idempotency = { hours: 24, maxKey: 128 } as const;

/** Exports that one daemon sends at the same time: to a user or service token, to all VIEWERs together, to all. */
export const exportBounds = { each: 1, viewers: 2, all: 4 } as const;

/** Uploads that one daemon receives at the same time, from one caller and from all. If it may open few files: `connectionBounds`. */
export const uploadBounds = { each: 16, all: 64 } as const;

/** Seconds for which a client may take nothing of an export or a download. */
export const stallSeconds = 30;

const GiB = 1024 * MiB;

/** Bounds of all stored files, packages and backups, if no setting replaces them. */
export const fileBounds = {
  /** Bytes of all files together. */
  total: 500 * GiB,
  /** Free space of the disk that uploads leave: this many bytes, or this share of a smaller disk. */
  reserve: { bytes: GiB, share: 0.05 },
  /** Files and bytes of one user in a day. */
  daily: { count: 10_000, bytes: 100 * GiB },
} as const;

/**
 * Proofs of keys. Sizes in bytes, lengths in characters, `challengeSeconds` is how long a challenge is valid. The registry keeps the last
 * `keptPerSerial` answers of a serial number; those of serial numbers that are not registered for `unregisteredHours`, and at most
 * `unregisteredTotal` of them.
 */
export const proofBounds = {
  claimLength: 512,
  claimItems: 32,
  certificate: 4096,
  chain: 8,
  attestationObject: 16 * 1024,
  u2fRegistration: 4096,
  challengeSeconds: 5 * 60,
  policyItems: 256,
  trustFile: 32 * MiB,
  trustLabel: 100,
  aaguidsOfAnchor: 64,
  certificates: 1000,
  keptPerSerial: 4,
  unregisteredHours: 24,
  unregisteredTotal: 10_000,
  judgedAtOnce: 1000,
} as const;

/** Receipts. Lengths in characters, of bytes in bytes. */
export const receiptBounds = {
  terms: 1000,
  text: 4000,
  credentialId: 1023,
  credentials: 8,
  authenticatorData: 37,
  /** ECDSA with P-256 in DER. */
  signature: 72,
} as const;

/** Identities of keys: candidates in each of the three portions, of which a key checks 256 in about a second, and transports of a key. */
export const identityBounds = { portions: [256, 1024, 4096], transports: 8, transport: 32 } as const;

/** Security keys of users: how many each may have, for how long a challenge is valid, and the longest parts of an answer in characters. */
export const passkeyBounds = {
  perUser: 16,
  allowedHours: 24,
  challengeSeconds: 3 * 60,
  id: 1400,
  clientData: 8192,
  attestationObject: 22_000,
  authenticatorData: 8192,
  signature: 8192,
  transports: 8,
  transport: 32,
} as const;

/** Logins of terminals, approved in a browser: validity of a request, pace of a terminal, longest name in characters. */
export const terminalLogin = { seconds: 5 * 60, pollSeconds: 2, nameLength: 100 } as const;

/**
 * Single sign-on: longest texts in characters; names of one list; seconds of a sign-in at the provider, of a code for a terminal,
 * between two checks of a session in use, and for which a logout token is accepted after its issue; sessions of one person.
 */
export const ssoBounds = {
  text: 200,
  url: 1000,
  name: 64,
  secret: 1000,
  token: 16_384,
  names: 64,
  signInSeconds: 6 * 60,
  codeSeconds: 24 * 3600,
  checkSeconds: 25,
  logoutSeconds: 600,
  knownDays: 90,
  sessions: 20,
} as const;

/** Most keys that the page of a HOLDER shows: the newest. */
export const holderBounds = { devices: 200 } as const;

/** How old the last sign-in may be for operations that need a recent one. */
export const stepUpSeconds = 10 * 60;

/** Webhooks: number of endpoints, longest address and secret in characters, and how many attempts of an endpoint are kept. */
export const webhookBounds = { endpoints: 32, url: 1000, secret: 100, attempts: 50 } as const;
