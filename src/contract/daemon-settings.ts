/**
 * The settings of the daemon. From a row follow the flag of the commands that start a daemon, the options of `run`, the setting of the
 * daemon with its checks, and the line of the reference. No I/O.
 */
import { fileBounds, type LimitScope, rateLimits, sessionDays } from './limits.ts';
import { daemonRoles, defaultHost, defaultPort, stepUpModes } from './local.ts';

/** A setting, or a variable that only its reader knows. In its texts, `%` stands for what applies if it is not set. */
export interface SettingRow {
  /** Help of the flag, whose name is the key of the row with hyphens; after `no-` if the row is on by default. */
  readonly help?: string;
  /** Name of the value in the help. A flag without one turns the setting on or off. */
  readonly value?: string;
  readonly offer?: 'file';
  readonly variable?: string;
  /** Meaning of the variable. */
  readonly words?: string;
  /** Bounds of a whole number. */
  readonly whole?: { readonly min: number; readonly max: number };
  /** The words that the setting can be; the first one applies if it is not set. */
  readonly choices?: readonly [string, ...string[]];
  readonly many?: true;
  /** Its value is in no report. */
  readonly isSecret?: true;
  readonly default?: string | number | boolean;
  /** Text for what applies if there is no default of its own. */
  readonly otherwise?: string;
}

/** A variable, its meaning, and a text for what applies without it. */
const variable = (name: string, words: string, otherwise?: string) => ({
  variable: name,
  words,
  ...(otherwise !== undefined && { otherwise }),
});

const secret = (...words: Parameters<typeof variable>) => ({ ...variable(...words), isSecret: true }) as const;

const limit = (scope: LimitScope, name: string, counted: string, more = '') =>
  variable(
    name,
    `limit of ${counted}, as COUNT/SECONDS or off (%)${more}`,
    `${rateLimits[scope].count}/${rateLimits[scope].seconds}`,
  );

const inGiB = (bytes: number): string => `${bytes / 2 ** 30}G`;

/** The settings in the order of the help and of the reference. A group of rows is one setting, which the daemon puts together. */
export const daemonSettings = {
  admin: {
    username: variable(
      'DEVMGR_ADMIN_USERNAME',
      'name of the first administrator (%); read only at the first start',
      'admin',
    ),
    password: secret(
      'DEVMGR_ADMIN_PASSWORD',
      'password of the first administrator (%); read only at the first start',
      'random',
    ),
  },
  limits: {
    login: limit(
      'login',
      'DEVMGR_LIMIT_LOGIN',
      'logins per address',
      '; off also turns off the limits on wrong passwords, confirmations and activation codes',
    ),
    query: limit('query', 'DEVMGR_LIMIT_QUERY', 'reads per user'),
    modify: limit('modify', 'DEVMGR_LIMIT_MODIFY', 'changes per user'),
    upload: limit('upload', 'DEVMGR_LIMIT_UPLOAD', 'uploads per user'),
    document: limit('document', 'DEVMGR_LIMIT_DOCUMENT', 'documents of the interface per address'),
    signIn: limit(
      'signIn',
      'DEVMGR_LIMIT_SIGN_IN',
      'sign-in steps (with a key, at a provider, of a terminal) per address',
    ),
    decide: limit('decide', 'DEVMGR_LIMIT_DECIDE', 'requests for decisions per user or service token'),
    unknownKey: limit(
      'unknownKey',
      'DEVMGR_LIMIT_UNKNOWN_KEY',
      'unknown keys in requests for decisions per service token',
    ),
    holder: limit('holder', 'DEVMGR_LIMIT_HOLDER', 'requests of the role HOLDER per user'),
  } satisfies Readonly<Record<LimitScope, SettingRow>>,
  /** Days after a login for which its token can be renewed. */
  sessionDays: {
    ...variable(
      'DEVMGR_SESSION_DAYS',
      `days after which a login ends, however often its token is renewed, from ${sessionDays.min} to ${sessionDays.max}`,
    ),
    whole: sessionDays,
    default: sessionDays.default,
  },
  host: { value: 'HOST', help: 'address to listen on (default: %)', default: defaultHost },
  /** 0 takes a free port. */
  port: {
    value: 'PORT',
    help: 'port to listen on (default: %); 0 picks a free one',
    whole: { min: 0, max: 65_535 },
    default: defaultPort,
  },
  role: {
    value: 'ROLE',
    help: 'what the daemon serves: a registry, the keys of a station, or both (default: %)',
    ...variable('DEVMGR_ROLE', 'what the daemon does: all, registry or station'),
    choices: daemonRoles,
  },
  /** Name of the daemon among those of its registry. */
  node: {
    value: 'NAME',
    help: 'name of this daemon in responses, log and metrics (default: %)',
    ...variable('DEVMGR_NODE', 'name of the daemon in responses, log and metrics', 'the host name'),
  },
  /** Seconds at a stop for which requests are served while the health reports that the daemon is not ready. */
  drain: {
    value: 'SECONDS',
    help: 'seconds for which a daemon that is stopping still serves requests, while health reports not ready (default: %)',
    ...variable('DEVMGR_DRAIN', 'seconds for which a stopping daemon is not ready but still serves requests'),
    whole: { min: 0, max: 3600 },
    default: 0,
  },
  simulateKeys: {
    value: 'N',
    help: 'add N simulated keys, which are marked as simulated',
    whole: { min: 0, max: 1000 },
    default: 0,
  },
  /** PEM files: both or neither. */
  tlsCert: { value: 'FILE', offer: 'file', help: 'certificate chain for HTTPS (PEM)' },
  tlsKey: { value: 'FILE', offer: 'file', help: 'private key of the certificate (PEM)' },
  insecureHttp: { help: 'serve a network over HTTP, without TLS', default: false },
  /** CIDRs of the proxies whose X-Forwarded-For header is trusted. */
  trustProxy: { value: 'CIDR', help: 'trust X-Forwarded-For from this network', many: true },
  allowHost: { value: 'NAME', help: 'another host name that clients can use', many: true },
  console: { help: 'do not serve the console for browsers', default: true },
  /** Networks (CIDR), addresses and host names that webhooks may post to besides public addresses. */
  webhookAllow: {
    value: 'NETWORK',
    help: 'network, address or host name that webhooks can use without HTTPS or on an internal network (default: %)',
    ...variable(
      'DEVMGR_WEBHOOK_ALLOW',
      'networks, addresses and host names that webhooks can use without HTTPS or on an internal network, separated by commas',
      'none',
    ),
    many: true,
  },
  publicUrl: {
    value: 'URL',
    help: 'address that people open in a browser, if the daemon is behind a proxy or at another port; security keys are registered for it',
    ...variable('DEVMGR_PUBLIC_URL', 'address at which people open the daemon in a browser', 'none'),
  },
  stepUp: {
    value: 'WHERE',
    help: 'sessions that need a recent sign-in to change users, tokens and policies (default: %)',
    ...variable(
      'DEVMGR_STEP_UP',
      'sessions that need a recent sign-in to change users, tokens and policies: console, all or off',
    ),
    choices: stepUpModes,
  },
  /** Whether clients in the network may issue the keys of this machine. */
  remoteIssuing: {
    ...variable(
      'DEVMGR_REMOTE_ISSUING',
      'whether clients in the network may issue keys that are plugged into the machine of the daemon: on or off',
    ),
    choices: ['off', 'on'],
  },
  forward: {
    value: 'URL',
    help: 'forward the journal: syslog+tcp://, syslog+tls://, syslog+unix:// or https://',
    ...variable('DEVMGR_AUDIT_FORWARD', 'where the daemon forwards the journal to, as a URL'),
  },
  forwarding: {
    token: secret('DEVMGR_AUDIT_FORWARD_TOKEN', 'bearer token for an HTTPS receiver of the journal'),
    tokenFile: variable('DEVMGR_AUDIT_FORWARD_TOKEN_FILE', 'file with that token, read for each request'),
    ca: variable(
      'DEVMGR_AUDIT_FORWARD_CA',
      'PEM file with the certificates that a receiver of the journal may have, instead of those that Node.js trusts',
    ),
  },
  store: {
    value: 'URL',
    help: 'keep the registry in PostgreSQL: postgres://USER@HOST:PORT/DATABASE',
    ...variable('DEVMGR_STORE', 'where the registry is, as sqlite: or postgres://USER@HOST:PORT/DATABASE', 'sqlite:'),
  },
  /** Folder of the keys; null for the home. */
  secrets: {
    value: 'DIR',
    offer: 'file',
    help: 'keep the keys in this folder, outside the home folder',
    ...variable('DEVMGR_SECRETS', 'folder of the keys, shared by the nodes of a registry', 'the home folder'),
  },
  database: {
    passwordFile: variable(
      'DEVMGR_STORE_PASSWORD_FILE',
      'file with the password of the database, which no one else may read',
    ),
    passFile: variable('PGPASSFILE', 'file with passwords of databases if the variable above is not set', '~/.pgpass'),
    sslMode: variable(
      'PGSSLMODE',
      'disable, require, verify-ca or verify-full',
      'verify-full; disable for a database on this machine',
    ),
    sslRootCert: variable('PGSSLROOTCERT', 'PEM file with the certificate of the CA of the database'),
  },
  /** Where files are stored; null for the folder in the home. */
  files: {
    value: 'URL',
    help: 'store files in an object store: s3://BUCKET/PREFIX?endpoint=URL&region=NAME',
    ...variable(
      'DEVMGR_FILES',
      'where files are stored, as file: or s3://BUCKET/PREFIX?endpoint=URL&region=NAME',
      'file:',
    ),
  },
  objectStore: {
    keyId: variable('AWS_ACCESS_KEY_ID', 'id of the key for an object store'),
    secretKey: secret('AWS_SECRET_ACCESS_KEY', 'the key for an object store'),
    sessionToken: secret('AWS_SESSION_TOKEN', 'token of a temporary key for an object store'),
    credentialsFile: variable(
      'AWS_SHARED_CREDENTIALS_FILE',
      'file with the keys for an object store if the variables above are not set, which no one else may read',
    ),
    profile: variable('AWS_PROFILE', 'section of that file', 'default'),
    region: variable('AWS_REGION', 'region of the object store if its URL names none', 'us-east-1'),
  },
  fileBounds: {
    total: variable(
      'DEVMGR_FILES_TOTAL',
      'bytes of all stored files (K, M, G, T are units), or off',
      inGiB(fileBounds.total),
    ),
    reserve: variable(
      'DEVMGR_FILES_RESERVE',
      'free space of the disk that uploads leave for the registry, in bytes, or off',
      `${inGiB(fileBounds.reserve.bytes)}, or ${fileBounds.reserve.share * 100} % of a disk below 20G`,
    ),
    daily: variable(
      'DEVMGR_FILES_DAILY',
      'files and bytes that one user may store in a day, as COUNT/BYTES, or off',
      `${fileBounds.daily.count}/${inGiB(fileBounds.daily.bytes)}`,
    ),
  },
  /** Whether APDUs and reports are logged: not at all, with possible serial numbers masked, or in full. */
  traffic: {
    ...variable(
      'DEVMGR_TRAFFIC',
      'whether the traffic with keys and cards is logged: off, masked (without serial numbers) or full',
    ),
    choices: ['off', 'masked', 'full'],
  },
  /** Vendor or vendor:product ids (hex) of additional USB keys. */
  ukeyMatch: {
    value: 'VID:PID',
    help: 'also treat these USB devices as keys (hex; VID or VID:PID)',
    many: true,
  },
} as const satisfies Readonly<Record<string, SettingRow | Readonly<Record<string, SettingRow>>>>;

type Rows = typeof daemonSettings;
/** Settings that have a flag. */
export type FlagKey = { [K in keyof Rows]: Rows[K] extends { readonly help: string } ? K : never }[keyof Rows];

/** The value of a setting, as a flag gives it. */
type FlagValue<R> = R extends { readonly many: true }
  ? readonly string[]
  : R extends { readonly value: string }
    ? R extends { readonly whole: object }
      ? number
      : string
    : boolean;
/** The settings that a command gives. Null or absent takes them from the environment. */
export type GivenSettings = { readonly [K in FlagKey]?: FlagValue<Rows[K]> | null | undefined };
