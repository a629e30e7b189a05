// Which folder may import which: one table, each rule with its reason. `node scripts/import-boundaries.ts` checks it.
// A path that ends with `/` is a folder; `*` stands for one name.

/** Files in `from`, those in `except` left out, import nothing of `never` (but for `but`), or with `only` nothing else. */
export interface Rule {
  readonly from: readonly string[];
  readonly except?: readonly string[];
  readonly never?: readonly string[];
  readonly but?: readonly string[];
  readonly only?: readonly string[];
  /** The rule is about imports at the top of a file alone: `await import()` and types are free. */
  readonly atStart?: true;
  readonly because: string;
}

/** The folders that are shipped. */
export const product: readonly string[] = ['bin/', 'src/', 'daemon/', 'drivers/', 'console/'];

/** Paths below a folder, from their names with a space between them. */
const below = (folder: string, names: string): readonly string[] => names.split(' ').map(name => folder + name);

/** The modules of the contract that are plain data. */
const plainContract = below(
  'src/contract/',
  'codes.ts csv.ts device-description.ts device-filters.ts endpoints.ts names.ts ids.ts key-values.ts limits.ts local.ts person-values.ts text.ts values.ts',
);

/** The folders of the daemon below its subjects; each may import those before it. */
const layers = ['base', 'store', 'requests', 'home', 'background', 'http'] as const;

/** Where subjects meet HTTP: the tables of their operations, their starts, and the stream. */
const meetingHttp = [
  ...['routes.ts', 'start.ts', 'http.ts', 'http-error.ts'].map(name => `daemon/*/${name}`),
  ...below('daemon/', 'sign-in/site.ts notifications/websocket.ts notifications/stream-admission.ts'),
];

/** The subjects of the daemon, each with the files of other subjects that it imports. `daemon/start/services.ts` starts them. */
export const subjects: Readonly<Record<string, readonly string[]>> = {
  accounts: [],
  devices: below('accounts/', 'guessing.ts passwords.ts'),
  'sign-in': below('accounts/', 'guessing.ts lookups.ts passwords.ts present.ts service-tokens.ts tokens.ts user.ts'),
  files: below('devices/', 'decisions.ts lookups.ts records.ts rules.ts tables.ts'),
  notifications: ['devices/lookups.ts', 'sign-in/codes.ts'],
  proofs: below(
    'devices/',
    'advisories.ts claims.ts client-data.ts decisions.ts firmware.ts judges.ts proof.ts records.ts tables.ts',
  ),
  identity: [
    ...below('devices/', 'client-data.ts judges.ts lookups.ts records.ts rules.ts tables.ts'),
    ...below('proofs/', 'challenges.ts'),
    ...below(
      'proofs/judge/',
      'authenticator-data.ts certificate.ts credential.ts fido-signature.ts made.ts malformed.ts rules.ts',
    ),
  ],
  'single-sign-on': [
    ...below('accounts/', 'present.ts tokens.ts user.ts'),
    ...below('devices/', 'judges.ts'),
    ...below('sign-in/', 'codes.ts judges.ts passkey.ts policies.ts signed-challenges.ts site.ts user-code.ts'),
  ],
  people: [
    ...below('accounts/', 'service-token.ts service-tokens.ts tables.ts user-rules.ts user.ts'),
    ...below('devices/', 'decisions.ts judges.ts records.ts rules.ts tables.ts'),
    ...below('files/', 'backup.ts tables.ts'),
  ],
  scim: below('people/', 'decisions.ts leavers.ts lookups.ts policy.ts records.ts refused.ts'),
  directory: [
    'accounts/user.ts',
    ...below('people/', 'leaver-brake.ts decisions.ts leavers.ts lookups.ts policy.ts records.ts refused.ts'),
  ],
  issuing: [
    ...below('devices/', 'judges.ts lookups.ts records.ts'),
    ...below('sign-in/', 'client-data.ts passkeys.ts policies.ts'),
    'identity/records.ts',
    'people/lookups.ts',
    ...below('proofs/judge/', 'authenticator-data.ts credential.ts'),
  ],
  receipts: [
    ...below('devices/', 'decisions.ts judges.ts lookups.ts proof.ts records.ts tables.ts'),
    ...below('proofs/', 'judge/credential.ts judge/types.ts judging.ts records.ts trusted.ts'),
    ...below('people/', 'erasure-records.ts lookups.ts'),
  ],
  decisions: below('devices/', 'decisions.ts judges.ts proof.ts records.ts'),
  holders: [
    ...below('devices/', 'decisions.ts lookups.ts records.ts'),
    ...below('sign-in/', 'judges.ts site.ts'),
    'issuing/start.ts',
    'receipts/service.ts',
  ],
  webhooks: ['notifications/frames.ts'],
  forwarding: [],
  console: [],
};

/** Subjects that every registry has. Each of the others can be left out, with those that need it: `npm run left-out` tries it. */
const kept = ['accounts', 'devices', 'sign-in', 'files', 'notifications'];
export const optional: readonly string[] = Object.keys(subjects).filter(name => !kept.includes(name));
const optionalFolders = optional.map(name => `daemon/${name}/`);

/** Engines that store a registry or its files outside of the home, each with its folders. They can be left out, too. */
export const engines: Readonly<Record<string, readonly string[]>> = {
  'store/postgres': ['daemon/store/postgres/', 'daemon/*/postgres/'],
  'files/s3': ['daemon/files/s3/'],
};

/** A package that only `places` import. */
const knownBy = (places: readonly string[], packages: readonly string[], because: string): Rule => ({
  from: product,
  except: places,
  never: packages.map(name => `npm:${name}`),
  because,
});

/** A layer imports the layers before it, and no subject. */
const layerRules = layers.map(
  (layer, index): Rule => ({
    from: [`daemon/${layer}/`],
    never: ['daemon/'],
    but: layers.slice(0, index + 1).map(name => `daemon/${name}/`),
    because: `imports go subjects → ${layers.toReversed().join(' → ')}: what subjects share knows none of them`,
  }),
);

/** A subject imports the layers, and of other subjects the files that the table names. */
const subjectRules = Object.entries(subjects).map(
  ([subject, files]): Rule => ({
    from: [`daemon/${subject}/`],
    never: ['daemon/'],
    but: [`daemon/${subject}/`, ...layers.map(name => `daemon/${name}/`), ...below('daemon/', files.join(' '))].filter(
      place => place !== 'daemon/',
    ),
    because: `the table of subjects names what ${subject} imports of others, so that one can be read, or left out, alone`,
  }),
);

/** `npm:` is any package, `npm:x` the package x, `node:` any built-in module, `node:x` the module x. */
export const rules: readonly Rule[] = [
  {
    from: product,
    never: ['tests/', 'benchmarks/', 'scripts/', 'docs/'],
    because: 'the program is shipped without its tests and tools',
  },
  {
    from: ['src/', 'daemon/', 'drivers/'],
    never: ['bin/'],
    because: 'bin joins the command line and the daemon; nothing imports it',
  },
  {
    from: ['src/'],
    never: ['daemon/', 'drivers/'],
    because: 'the command line knows the daemon only by its HTTP interface; bin/ joins the two',
  },
  {
    from: ['daemon/'],
    never: ['src/'],
    but: ['src/contract/', 'src/delivery/'],
    because: 'the daemon and the command line share the contract and the engine that delivers events',
  },
  {
    from: ['src/delivery/'],
    only: ['src/delivery/', 'src/contract/local.ts', 'npm:p-limit'],
    because: 'the daemon and the command line deliver events with it: positions, requests and time are passed in',
  },
  {
    from: ['drivers/'],
    only: ['drivers/', 'npm:', 'node:'],
    because: 'drivers are usable without the daemon and the command line',
  },
  {
    from: ['src/contract/'],
    except: ['src/contract/webhooks/', 'src/contract/receipts/'],
    only: ['src/contract/', 'npm:typebox', 'npm:yaml'],
    because: 'the contract is data and types: no I/O, and nothing of the code that uses it',
  },
  {
    from: ['src/enrollment/'],
    only: ['src/enrollment/', 'src/tables/', 'src/contract/'],
    because: 'the command line and the console enroll by the same rules: no I/O, no screen',
  },
  {
    from: ['src/tables/'],
    only: ['src/tables/', 'src/contract/', 'npm:sax'],
    because: 'one reader of files for the command line and the console: bytes in, rows out, no I/O',
  },
  {
    from: ['src/fleet/'],
    only: ['src/fleet/', 'src/contract/'],
    because: 'the command line and the console count and plan by the same rules: no I/O, no screen',
  },
  {
    from: ['console/'],
    only: [
      'console/',
      ...below('src/', 'contract/ enrollment/ fleet/ tables/ delivery/retry.ts delivery/schedules.ts delivery/wait.ts'),
      ...below('npm:', 'preact @preact/signals @simplewebauthn/browser uqr @noble/hashes lucide'),
      ...below('npm:@zag-js/', 'preact menu tooltip toast combobox'),
    ],
    because:
      'the console runs in a browser and knows the daemon by the contract alone; it shares the rules of enrollment, of reports, of cleanup and of retries',
  },
  {
    from: ['bin/', 'src/', 'daemon/', 'drivers/'],
    never: ['console/'],
    because: 'the daemon serves the files of the console and runs none of it',
  },
  {
    from: ['src/contract/webhooks/'],
    only: ['src/contract/', 'npm:standardwebhooks', 'node:crypto'],
    because: 'both sides sign webhooks with it: text in, text out, no I/O',
  },
  {
    from: ['src/contract/receipts/'],
    only: ['src/contract/', 'npm:typebox', 'node:crypto'],
    because: 'the registry and the command line check receipts with it: text and bytes in, a verdict out, no I/O',
  },
  {
    from: plainContract,
    only: plainContract,
    because: 'the command line loads these modules at every start: TypeBox takes longer to load than a command to run',
  },
  {
    from: ['src/cli/client/'],
    never: below('src/cli/', 'main.ts commands/ session/ settings/ terminal/ framework/ jobs/'),
    because: 'imports go commands → client → contract; the client returns what a command shows',
  },
  {
    from: ['src/client-package/'],
    only: ['src/client-package/', 'src/cli/client/', 'src/cli/fault.ts', 'src/contract/'],
    because: 'the package is the client of the command line behind types, without the rest of the command line',
  },
  {
    from: ['src/cli/session/'],
    never: below('src/cli/', 'main.ts commands/ terminal/ framework/ jobs/'),
    because: 'a session finds the server and the token; it neither prints nor prompts',
  },
  {
    from: ['src/cli/terminal/'],
    never: below('src/cli/', 'main.ts commands/ client/ session/ settings/ framework/ jobs/'),
    because: 'the terminal shows the values it receives and fetches none',
  },
  {
    from: ['src/cli/framework/pickers/'],
    never: ['src/cli/session/', 'src/cli/settings/'],
    because: 'imports go commands → pickers → client and terminal; a picker offers values and changes nothing',
  },
  {
    from: ['src/cli/settings/'],
    never: below('src/cli/', 'main.ts commands/ client/ session/ framework/ jobs/'),
    because: 'settings are read before a client or a command exists',
  },
  {
    from: ['src/cli/commands/daemon/service/'],
    only: ['src/cli/commands/daemon/service/', 'src/contract/', 'node:'],
    because: 'service definitions are made from plain values, so that any machine can test them',
  },
  {
    from: ['src/cli/framework/', 'src/cli/jobs/'],
    never: ['src/cli/main.ts', 'src/cli/commands/'],
    because: 'imports go main → commands → jobs → framework: what commands share knows none of them',
  },
  {
    from: ['src/cli/commands/'],
    never: ['src/cli/main.ts'],
    because: 'main runs the commands; a command that imports main could run itself',
  },
  ...layerRules,
  ...subjectRules,
  {
    from: ['daemon/'],
    except: [...optionalFolders, ...below('daemon/start/', 'services.ts subjects.ts')],
    never: optionalFolders,
    because:
      'a subject is left out with its folder and its lines in daemon/start/services.ts and daemon/start/subjects.ts',
  },
  {
    from: ['daemon/*/decisions.ts', 'daemon/*/records.ts'],
    never: ['node:', 'npm:', 'daemon/*/service.ts', 'daemon/*/routes.ts', 'daemon/*/start.ts', 'daemon/*/work.ts'],
    but: ['node:crypto'],
    because: 'decisions and records do no I/O: everything that they judge is passed in',
  },
  {
    from: ['daemon/proofs/judge/'],
    // The drivers read what keys claim with the same reader of CBOR, and the same table of form factors.
    only: [
      ...below('daemon/', 'proofs/judge/ proofs/records.ts'),
      ...below('daemon/devices/', 'advisories.ts claims.ts client-data.ts firmware.ts proof.ts'),
      'src/contract/',
      'node:crypto',
      ...below('drivers/protocols/', 'cbor.ts form-factors.ts malformed.ts'),
    ],
    because:
      'the judge of proofs does no I/O: evidence, trust and time are passed in, so that any verdict can be repeated',
  },
  {
    from: ['daemon/store/'],
    only: [
      ...below('daemon/', 'store/ base/'),
      ...below('src/', 'contract/ delivery/retry.ts delivery/schedules.ts delivery/wait.ts'),
      'npm:better-sqlite3',
      'npm:pg',
      'node:',
    ],
    because: 'the store keeps rows and decides nothing: subjects are passed to it as data',
  },
  {
    from: ['daemon/store/write/', 'daemon/store/read/'],
    only: ['daemon/store/', 'daemon/base/', 'src/contract/'],
    because: 'what a change means, and what is read, is stated once for all engines: no I/O, no engine, no SQL client',
  },
  {
    from: ['daemon/'],
    except: ['daemon/start/', 'daemon/http/', ...meetingHttp],
    never: ['daemon/http/', 'npm:fastify'],
    because:
      'HTTP ends in daemon/http and in the routes of subjects: services return values and refuse with business codes',
  },
  {
    from: ['daemon/'],
    except: ['daemon/start/', 'daemon/http/', ...meetingHttp, 'daemon/files/s3/client.ts'],
    never: ['node:http', 'node:https'],
    because: 'HTTP ends in daemon/http, and requests to other systems have one transport, daemon/base/outgoing.ts',
  },
  {
    from: ['daemon/'],
    except: ['daemon/start/store-engine.ts', 'daemon/store/sqlite/', 'daemon/*/sqlite/'],
    never: ['daemon/store/sqlite/'],
    // The lock of the home folder, which is not part of the registry; and the type of what subjects state for the engine.
    but: below('daemon/store/sqlite/', 'file-lock.ts subject.ts'),
    because:
      'everything stores through the interfaces in daemon/store; only daemon/start/store-engine.ts chooses the engine',
  },
  ...Object.values(engines).map(
    (folders): Rule => ({
      from: ['daemon/'],
      except: ['daemon/start/engines.ts', 'daemon/*/index.ts', ...folders],
      never: folders,
      because: 'an engine is left out with its folders and the lines of daemon/start/engines.ts and of subjects',
    }),
  ),
  {
    from: ['daemon/start/engines.ts', 'daemon/*/index.ts'],
    never: Object.values(engines).flat(),
    atStart: true,
    because: 'a daemon with SQLite and a folder of files does not load the clients of PostgreSQL and of object stores',
  },
  {
    from: ['daemon/http/'],
    never: ['drivers/', 'npm:better-sqlite3'],
    because: 'a route reads a request, calls a service and writes the response',
  },
  {
    from: ['daemon/'],
    except: ['daemon/start/', 'daemon/maintenance/'],
    never: ['daemon/start/', 'daemon/maintenance/'],
    because: 'daemon/start is the composition root: it joins the parts, and no part imports the whole',
  },
  {
    from: ['daemon/'],
    except: ['daemon/start/run.ts', 'daemon/hardware/drivers.ts', 'daemon/proofs/judge/'],
    never: ['drivers/hid/', 'drivers/pcsc/', 'drivers/simulated/', 'drivers/protocols/'],
    because: 'the daemon knows the Driver interface (drivers/driver.ts); daemon/start chooses the drivers',
  },
  {
    from: ['drivers/protocols/'],
    never: ['drivers/hid/', 'drivers/pcsc/', 'drivers/simulated/', 'node:fs', 'node:child_process', 'node:net'],
    because: 'a protocol talks over the connection it receives, so that it is tested on bytes without hardware',
  },
  knownBy(
    ['daemon/store/sqlite/'],
    ['better-sqlite3'],
    'only daemon/store/sqlite knows SQLite: another store must be able to replace it',
  ),
  knownBy(
    ['daemon/store/postgres/'],
    ['pg'],
    'only daemon/store/postgres knows PostgreSQL: another store must be able to replace it',
  ),
  knownBy(
    ['drivers/hid/'],
    ['node-hid', 'usb'],
    'only drivers/hid loads the native USB modules, and it works without them',
  ),
  knownBy(['drivers/pcsc/'], ['pcsc-mini'], 'only drivers/pcsc loads the native PC/SC module, and it works without it'),
  {
    from: product,
    except: ['drivers/pcsc/', 'src/cli/terminal/reader-left.ts'],
    never: ['node:ffi'],
    because: 'node:ffi is experimental, and not in every Node: what uses it works without it',
  },
  knownBy(
    ['daemon/base/outgoing.ts'],
    ['undici'],
    'requests have one transport: daemon/base/outgoing.ts, and src/cli/client/transport.ts in the command line',
  ),
  {
    from: ['daemon/base/outgoing.ts'],
    never: ['npm:undici'],
    atStart: true,
    because: 'a daemon that sends no requests does not load undici, which takes 46 ms',
  },
  knownBy(
    ['src/cli/settings/'],
    ['conf'],
    'only src/cli/settings knows how settings are stored: it takes the lock that conf does not',
  ),
  knownBy(
    ['src/cli/settings/'],
    ['@napi-rs/keyring'],
    'only src/cli/settings knows where tokens are stored, and it works without a keychain',
  ),
  knownBy(
    ['daemon/start/', 'daemon/http/', ...meetingHttp],
    ['fastify'],
    'only daemon/http, the routes of subjects, and daemon/start know Fastify',
  ),
  {
    from: product,
    never: ['npm:node-hid', 'npm:usb', 'npm:pcsc-mini', 'npm:@napi-rs/keyring'],
    atStart: true,
    because: 'a native module is loaded when it is used: if it is missing, the rest must run',
  },
];
