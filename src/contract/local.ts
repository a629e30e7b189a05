/** Conventions of the daemon and the command line on one machine: addresses, files of the home folder, environment. No I/O. */

/** The daemon listens on loopback unless a host is given. */
export const defaultHost = '127.0.0.1';
/** TCP port of the daemon unless one is given. */
export const defaultPort = 7470;

const LOOPBACK_NAME = /^(?:localhost|::1|\[::1\]|127(?:\.(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)){3})$/;
/** Whether a host name or address (without port) always means this machine. */
export const isLoopbackName = (name: string): boolean => LOOPBACK_NAME.test(name);
/** Whether a client reaches this machine at the host of a URL. Names below localhost count: clients do not ask a name server for them. */
export const isThisMachine = (host: string): boolean => isLoopbackName(host) || host.endsWith('.localhost');

/** Files and folders in the home folder. */
export const homeFiles = {
  /** SQLite database of the registry. */
  database: 'devmgr.db',
  /** Installer packages and backups. */
  blobs: 'blobs',
  /** Key that signs tokens (0600). */
  signingKey: 'signing-key',
  /** Key that chains the journal (0600). */
  journalKey: 'journal-key',
  /** Keys that `journalKey` has replaced, for verification only (0600). */
  journalKeysEarlier: 'journal-keys-earlier',
  /** The key that is to replace `journalKey`; absent except during the replacement (0600). */
  journalKeyNext: 'journal-key-next',
  /** Signed heads of the journal (0600). */
  journalHeads: 'journal-heads',
  /** Held while files in a shared folder of secrets are changed. */
  secretsLock: 'secrets.lock',
  /** Ed25519 key by which clients recognize the registry (0600). */
  instanceKey: 'instance-key',
  /** Password of the first administrator until it is changed (0600). */
  initialPassword: 'initial-admin-password',
  /** Token of role LOCAL (0600). */
  localToken: 'local-token',
  /** `DaemonInfo` of the running daemon; absent if none runs. */
  daemonInfo: 'daemon.json',
  /** Unix socket of the running daemon (0600). */
  socket: 'daemon.sock',
  /** Held while a daemon runs. */
  lock: 'daemon.lock',
  /** How far the journal was forwarded. */
  auditForward: 'audit-forward.json',
  /** How the command line started the daemon last: its port and flags (0600). */
  daemonStart: 'daemon-start.json',
  /** Log of a daemon that runs in the background. */
  log: 'daemon.log',
  /** Profiles of the command line. */
  config: 'config.json',
  /** Tokens of the command line if there is no keychain (0600). */
  credentials: 'credentials.json',
  /** Identities of the servers that the command line has logged in to (0600). */
  knownServers: 'known-servers.json',
  /** Folder with what commands for many devices have changed (0600). */
  changes: 'changes',
} as const;

/** Content of `homeFiles.daemonInfo`. */
export interface DaemonInfo {
  readonly pid: number;
  readonly url: string;
  /** Path of the Unix socket; null if the daemon has none. */
  readonly socket: string | null;
  readonly version: string;
  /** ISO 8601 UTC. */
  readonly startedAt: string;
  /** Absent in files of earlier versions, as what follows. */
  readonly role?: DaemonRole;
  /** Name of the daemon. */
  readonly node?: string;
  /** Where the registry and the files are, without passwords; null for those in the home. */
  readonly store?: string | null;
  readonly files?: string | null;
  /** Seconds for which a stopping daemon still serves requests. */
  readonly drainSeconds?: number;
}

/** Text that a server signs to prove its identity: its id, the client's nonce, and the address at which the request arrived. */
export const provenText = (proof: {
  readonly instanceId: string;
  readonly nonce: string;
  readonly address: string;
}): string => `devmgr instance 1\n${proof.instanceId}\n${proof.nonce}\n${proof.address}\n`;

/** The end of a connection as text, `127.0.0.1:7470` or `[::1]:7470`; `unix` if it has no address. */
export function connectionEnd(address: string | undefined, port: number | undefined): string {
  if (address === undefined || port === undefined) return 'unix';
  // A socket for both protocols shows an IPv4 address in its IPv6 form.
  const plain = address.replace(/^::ffff:/i, '').split('%', 1)[0]!;
  return plain.includes(':') ? `[${plain}]:${port}` : `${plain}:${port}`;
}

/** The line that `daemon run --json` writes when it accepts requests. */
export interface ListeningLine {
  readonly event: 'listening';
  readonly url: string;
}

/**
 * The task of a daemon. `registry`: stores devices, without looking for keys. `station`: shows the keys of its machine to the
 * programs on it, without a registry. `all`: both.
 */
export const daemonRoles = ['all', 'registry', 'station'] as const;
export type DaemonRole = (typeof daemonRoles)[number];

/** In which sessions some operations need a recent sign-in: in those of the console, in those of all people, in none. */
export const stepUpModes = ['console', 'all', 'off'] as const;
export type StepUpMode = (typeof stepUpModes)[number];

/** The variables of a process. */
export type Env = Readonly<Record<string, string | undefined>>;

/** Environment variables of the command line; `home` is also one of the daemon, whose others are in `daemonSettings`. */
export const environment = {
  home: 'DEVMGR_HOME',
  server: 'DEVMGR_SERVER',
  token: 'DEVMGR_TOKEN',
  webhookSecret: 'DEVMGR_WEBHOOK_SECRET',
  labelPrinter: 'DEVMGR_LABEL_PRINTER',
} as const;

/**
 * The home folder if none is given: `$XDG_DATA_HOME/devmgr` or `~/.local/share/devmgr`, on macOS
 * `~/Library/Application Support/devmgr`, on Windows `%LOCALAPPDATA%\devmgr`. Null if the environment has no home.
 */
export function defaultHome(
  platform: string,
  env: Readonly<Record<string, string | undefined>>,
  userHome: string | undefined,
): string | null {
  if (platform === 'win32')
    return env.LOCALAPPDATA ? `${env.LOCALAPPDATA}\\devmgr` : userHome ? `${userHome}\\AppData\\Local\\devmgr` : null;
  if (env.XDG_DATA_HOME?.startsWith('/')) return `${env.XDG_DATA_HOME}/devmgr`;
  if (!userHome) return null;
  return platform === 'darwin' ? `${userHome}/Library/Application Support/devmgr` : `${userHome}/.local/share/devmgr`;
}
