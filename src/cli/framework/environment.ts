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

/** All variables, in the order of the reference. */
export const variables: readonly Variable[] = [
  {
    name: environment.home,
    words: `folder for all data of this user (${defaultHome('linux', {}, '~')}); --home overrides it`,
    side: 'both',
  },
  {
    name: environment.server,
    words: 'address of the registry, or several with commas between; --server overrides it',
    side: 'commands',
  },
  {
    name: environment.token,
    words: 'token to use instead of the stored login: a service token, or that of a login',
    side: 'commands',
  },
  {
    name: environment.webhookSecret,
    words: 'secret of the receiver of "watch --forward-to", if --secret-file is not set',
    side: 'commands',
  },
  {
    name: environment.labelPrinter,
    words: 'printer of labels: HOST, HOST:PORT, lp or lp:QUEUE; --printer and --lp override it',
    side: 'commands',
  },
  {
    name: 'DEVMGR_NO_KEYCHAIN',
    words: 'if not empty: store tokens in a file even if there is a keychain',
    side: 'commands',
  },
  {
    name: environment.adminUsername,
    words: 'name of the first administrator (admin); read only at the first start',
    side: 'daemon',
  },
  {
    name: environment.adminPassword,
    words: 'password of the first administrator (random); read only at the first start',
    side: 'daemon',
  },
  ...limits,
  {
    name: environment.sessionDays,
    words: `days after which a login ends, however often its token is renewed, from ${sessionDays.min} to ${sessionDays.max} (${sessionDays.default})`,
    side: 'daemon',
  },
  {
    name: environment.role,
    words: 'what the daemon does: all, registry or station; --role overrides it (all)',
    side: 'daemon',
  },
  {
    name: environment.node,
    words: 'name of the daemon in responses, log and metrics; --node overrides it (the host name)',
    side: 'daemon',
  },
  {
    name: environment.drain,
    words: 'seconds for which a stopping daemon is not ready but still serves requests; --drain overrides it (0)',
    side: 'daemon',
  },
  {
    name: environment.publicUrl,
    words: 'address at which people open the daemon in a browser; --public-url overrides it (none)',
    side: 'daemon',
  },
  {
    name: environment.stepUp,
    words:
      'sessions that need a recent sign-in to change users, tokens and policies: console, all or off; --step-up overrides it (console)',
    side: 'daemon',
  },
  {
    name: environment.webhookAllow,
    words:
      'networks, addresses and host names that webhooks may use without HTTPS, and inside, with commas; --webhook-allow overrides it (none)',
    side: 'daemon',
  },
  {
    name: environment.forward,
    words: 'where the daemon forwards the journal to, as a URL; --forward overrides it',
    side: 'daemon',
  },
  {
    name: environment.forwardToken,
    words: 'bearer token for an HTTPS receiver of the journal',
    side: 'daemon',
  },
  {
    name: environment.forwardTokenFile,
    words: 'file with that token, read for each request',
    side: 'daemon',
  },
  {
    name: environment.forwardCa,
    words:
      'PEM file with the certificates that a receiver of the journal may have, instead of those that Node.js trusts',
    side: 'daemon',
  },
  {
    name: environment.store,
    words: 'where the registry is, as sqlite: or postgres://USER@HOST:PORT/DATABASE; --store overrides it (sqlite:)',
    side: 'daemon',
  },
  {
    name: environment.secrets,
    words: 'folder of the keys, shared by the nodes of a registry; --secrets overrides it (the home folder)',
    side: 'daemon',
  },
  {
    name: environment.storePasswordFile,
    words: 'file with the password of the database, which no one else may read',
    side: 'daemon',
  },
  {
    name: 'PGPASSFILE',
    words: 'file with passwords of databases if the variable above is not set (~/.pgpass)',
    side: 'daemon',
  },
  {
    name: 'PGSSLMODE',
    words: 'disable, require, verify-ca or verify-full (verify-full; disable for a database on this machine)',
    side: 'daemon',
  },
  { name: 'PGSSLROOTCERT', words: 'PEM file with the certificate of the CA of the database', side: 'daemon' },
  {
    name: environment.files.place,
    words:
      'where files are stored, as file: or s3://BUCKET/PREFIX?endpoint=URL&region=NAME; --files overrides it (file:)',
    side: 'daemon',
  },
  { name: 'AWS_ACCESS_KEY_ID', words: 'id of the key for an object store', side: 'daemon' },
  { name: 'AWS_SECRET_ACCESS_KEY', words: 'the key for an object store', side: 'daemon' },
  { name: 'AWS_SESSION_TOKEN', words: 'token of a temporary key for an object store', side: 'daemon' },
  {
    name: 'AWS_SHARED_CREDENTIALS_FILE',
    words: 'file with the keys for an object store if the variables above are not set, which no one else may read',
    side: 'daemon',
  },
  { name: 'AWS_PROFILE', words: 'section of that file (default)', side: 'daemon' },
  { name: 'AWS_REGION', words: 'region of the object store if its URL names none (us-east-1)', side: 'daemon' },
  {
    name: environment.files.total,
    words: `bytes of all stored files (K, M, G, T are units), or off (${inGiB(fileBounds.total)})`,
    side: 'daemon',
  },
  {
    name: environment.files.reserve,
    words: `free space of the disk that uploads leave for the registry, in bytes, or off (${inGiB(fileBounds.reserve.bytes)}, or ${fileBounds.reserve.share * 100} % of a disk below 20G)`,
    side: 'daemon',
  },
  {
    name: environment.files.daily,
    words: `files and bytes that one user may store in a day, as COUNT/BYTES, or off (${fileBounds.daily.count}/${inGiB(fileBounds.daily.bytes)})`,
    side: 'daemon',
  },
  {
    name: environment.traffic,
    words: 'whether the traffic with keys and cards is logged: off, masked (without serial numbers) or full (off)',
    side: 'daemon',
  },
  { name: 'NO_COLOR', words: 'if not empty: write without colors', side: 'commands' },
  {
    name: 'CLICOLOR_FORCE',
    words: 'if neither empty nor 0: write colors even without a terminal',
    side: 'commands',
  },
  {
    name: 'DEVMGR_PAGER',
    words: 'command that shows output longer than the screen, on a terminal; empty or cat: none. Else PAGER (less)',
    side: 'commands',
  },
  { name: 'PAGER', words: 'the same, if DEVMGR_PAGER is not set', side: 'commands' },
  {
    name: 'LC_ALL',
    words: 'locale: if it is not UTF-8, a terminal gets ASCII instead of drawn characters',
    side: 'commands',
  },
  { name: 'LC_CTYPE', words: 'the same, if LC_ALL is not set', side: 'commands' },
  { name: 'LANG', words: 'the same, if neither is set', side: 'commands' },
  {
    name: 'BROWSER',
    words: 'command that "open" starts with a file, or several with colons between; %s is the file (xdg-open)',
    side: 'commands',
  },
  {
    name: 'DISPLAY',
    words: 'display: on Linux "open" starts a browser only if this or WAYLAND_DISPLAY is set',
    side: 'commands',
  },
  { name: 'WAYLAND_DISPLAY', words: 'the same, for Wayland', side: 'commands' },
  {
    name: 'SSH_CONNECTION',
    words: 'if this or SSH_TTY is set, "open" prints the address instead of starting a browser',
    side: 'commands',
  },
  { name: 'SSH_TTY', words: 'the same', side: 'commands' },
  { name: 'XDG_RUNTIME_DIR', words: 'where "open" writes its file if only you can enter it (home)', side: 'commands' },
  { name: 'XDG_DATA_HOME', words: 'parent of the home folder on Linux (~/.local/share)', side: 'both' },
  { name: 'XDG_CONFIG_HOME', words: 'where daemon install writes its unit on Linux (~/.config)', side: 'commands' },
  {
    name: 'XDG_CACHE_HOME',
    words: 'parent of the folder devmgr for compiled code of earlier runs, on Linux (~/.cache)',
    side: 'both',
  },
  { name: 'NODE_COMPILE_CACHE', words: 'another folder for the compiled code', side: 'both' },
  { name: 'NODE_DISABLE_COMPILE_CACHE', words: 'if set: keep no compiled code', side: 'both' },
  {
    name: 'PCSCLITE_CSOCK_NAME',
    words: 'socket of pcscd (/run/pcscd/pcscd.comm)',
    side: 'daemon',
  },
  {
    name: 'TMPDIR',
    words: 'where the single executable writes native modules to load them; the folder must allow execution',
    side: 'both',
  },
];
