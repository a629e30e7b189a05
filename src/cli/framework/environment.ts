/** The environment variables of the program, for the manual page and the reference. */
import { fileBounds, type LimitScope, rateLimits, sessionDays } from '../../contract/limits.ts';
import { defaultHome, environment } from '../../contract/local.ts';

/** An environment variable, as the manual page and the reference describe it. */
interface Variable {
  readonly name: string;
  readonly words: string;
  /** Which part of the program reads it. A daemon that a command starts inherits the environment of the command. */
  readonly side: 'commands' | 'daemon' | 'both';
}

const limitWords: Readonly<Record<LimitScope, string>> = {
  login: 'logins per address',
  query: 'reads per user',
  modify: 'changes per user',
  upload: 'uploads per user',
  document: 'documents of the interface per address',
  signIn: 'steps of sign-ins with a key, at a provider and of terminals per address',
};

const limits = (Object.keys(limitWords) as LimitScope[]).map((scope): Variable => {
  const { count, seconds } = rateLimits[scope];
  return {
    name: environment.limits[scope],
    words: `limit of ${limitWords[scope]}, as COUNT/SECONDS or off (${count}/${seconds})${scope === 'login' ? '; off also turns off the limits on wrong passwords, confirmations and activation codes' : ''}`,
    side: 'daemon',
  };
});

const inGiB = (bytes: number): string => `${bytes / 2 ** 30}G`;

/** Variables of one side, each with its words. */
const of = (side: Variable['side'], words: Readonly<Record<string, string>>): Variable[] =>
  Object.entries(words).map(([name, text]) => ({ name, words: text, side }));

/** All variables, in the order of the reference. */
export const variables: readonly Variable[] = [
  ...of('both', {
    [environment.home]: `folder for all data of this user (${defaultHome('linux', {}, '~')}); --home overrides it`,
  }),
  ...of('commands', {
    [environment.server]: 'address of the registry, or several, separated by commas; --server overrides it',
    [environment.token]: 'token to use instead of the stored login: a service token, or that of a login',
    [environment.webhookSecret]: 'secret of the receiver of "watch --forward-to", if --secret-file is not set',
    [environment.labelPrinter]: 'printer of labels: HOST, HOST:PORT, lp or lp:QUEUE; --printer and --lp override it',
    DEVMGR_NO_KEYCHAIN: 'if not empty: store tokens in a file even if there is a keychain',
  }),
  ...of('daemon', {
    [environment.adminUsername]: 'name of the first administrator (admin); read only at the first start',
    [environment.adminPassword]: 'password of the first administrator (random); read only at the first start',
  }),
  ...limits,
  ...of('daemon', {
    [environment.sessionDays]: `days after which a login ends, however often its token is renewed, from ${sessionDays.min} to ${sessionDays.max} (${sessionDays.default})`,
    [environment.role]: 'what the daemon does: all, registry or station; --role overrides it (all)',
    [environment.node]: 'name of the daemon in responses, log and metrics; --node overrides it (the host name)',
    [environment.drain]:
      'seconds for which a stopping daemon is not ready but still serves requests; --drain overrides it (0)',
    [environment.publicUrl]: 'address at which people open the daemon in a browser; --public-url overrides it (none)',
    [environment.stepUp]:
      'sessions that need a recent sign-in to change users, tokens and policies: console, all or off; --step-up overrides it (console)',
    [environment.remoteIssuing]:
      'whether clients in the network may issue keys that are plugged into the machine of the daemon: on or off (off)',
    [environment.webhookAllow]:
      'networks, addresses and host names that webhooks can use without HTTPS or on an internal network, separated by commas; --webhook-allow overrides it (none)',
    [environment.forward]: 'where the daemon forwards the journal to, as a URL; --forward overrides it',
    [environment.forwardToken]: 'bearer token for an HTTPS receiver of the journal',
    [environment.forwardTokenFile]: 'file with that token, read for each request',
    [environment.forwardCa]:
      'PEM file with the certificates that a receiver of the journal may have, instead of those that Node.js trusts',
    [environment.store]:
      'where the registry is, as sqlite: or postgres://USER@HOST:PORT/DATABASE; --store overrides it (sqlite:)',
    [environment.secrets]:
      'folder of the keys, shared by the nodes of a registry; --secrets overrides it (the home folder)',
    [environment.storePasswordFile]: 'file with the password of the database, which no one else may read',
    PGPASSFILE: 'file with passwords of databases if the variable above is not set (~/.pgpass)',
    PGSSLMODE: 'disable, require, verify-ca or verify-full (verify-full; disable for a database on this machine)',
    PGSSLROOTCERT: 'PEM file with the certificate of the CA of the database',
    [environment.files.place]:
      'where files are stored, as file: or s3://BUCKET/PREFIX?endpoint=URL&region=NAME; --files overrides it (file:)',
    AWS_ACCESS_KEY_ID: 'id of the key for an object store',
    AWS_SECRET_ACCESS_KEY: 'the key for an object store',
    AWS_SESSION_TOKEN: 'token of a temporary key for an object store',
    AWS_SHARED_CREDENTIALS_FILE:
      'file with the keys for an object store if the variables above are not set, which no one else may read',
    AWS_PROFILE: 'section of that file (default)',
    AWS_REGION: 'region of the object store if its URL names none (us-east-1)',
    [environment.files.total]: `bytes of all stored files (K, M, G, T are units), or off (${inGiB(fileBounds.total)})`,
    [environment.files.reserve]:
      `free space of the disk that uploads leave for the registry, in bytes, or off (${inGiB(fileBounds.reserve.bytes)}, or ${fileBounds.reserve.share * 100} % of a disk below 20G)`,
    [environment.files.daily]:
      `files and bytes that one user may store in a day, as COUNT/BYTES, or off (${fileBounds.daily.count}/${inGiB(fileBounds.daily.bytes)})`,
    [environment.traffic]:
      'whether the traffic with keys and cards is logged: off, masked (without serial numbers) or full (off)',
  }),
  ...of('commands', {
    NO_COLOR: 'if not empty: write without colors',
    CLICOLOR_FORCE: 'if neither empty nor 0: write colors even without a terminal',
    DEVMGR_PAGER: 'pager for output that is longer than the screen; empty or cat: no pager (PAGER, or else less)',
    PAGER: 'the same, if DEVMGR_PAGER is not set',
    LC_ALL: 'locale: if it is not UTF-8, a terminal gets ASCII instead of drawn characters',
    LC_CTYPE: 'the same, if LC_ALL is not set',
    LANG: 'the same, if neither is set',
    BROWSER: 'command that "open" starts with a file, or several, separated by colons; %s is the file (xdg-open)',
    DISPLAY: 'display: on Linux "open" starts a browser only if this or WAYLAND_DISPLAY is set',
    WAYLAND_DISPLAY: 'the same, for Wayland',
    SSH_CONNECTION: 'if this or SSH_TTY is set, "open" prints the address instead of starting a browser',
    SSH_TTY: 'the same',
    XDG_RUNTIME_DIR: 'where "open" writes its file if only you can enter it (home)',
  }),
  ...of('both', {
    XDG_DATA_HOME: 'parent of the home folder on Linux (~/.local/share)',
  }),
  ...of('commands', {
    XDG_CONFIG_HOME: 'where daemon install writes its unit on Linux (~/.config)',
  }),
  ...of('both', {
    XDG_CACHE_HOME: 'parent of the folder devmgr with the compiled code of earlier runs, on Linux (~/.cache)',
    NODE_COMPILE_CACHE: 'another folder for the compiled code',
    NODE_DISABLE_COMPILE_CACHE: 'if set: keep no compiled code',
  }),
  ...of('daemon', {
    PCSCLITE_CSOCK_NAME: 'socket of pcscd (/run/pcscd/pcscd.comm)',
  }),
  ...of('both', {
    TMPDIR: 'where the single executable writes native modules to load them; the folder must allow execution',
  }),
];
