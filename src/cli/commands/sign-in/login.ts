import { join, resolve } from 'node:path';
import type { DataOf } from '../../../contract/define.ts';
import { homeFiles } from '../../../contract/local.ts';
import type { Routes } from '../../../contract/routes.ts';
import type { Client } from '../../client/client.ts';
import { expiryOf } from '../../client/token.ts';
import { usage } from '../../fault.ts';
import { need, readPassword } from '../../framework/ask.ts';
import type { Context } from '../../framework/context.ts';
import { command } from '../../framework/define.ts';
import { fileFlag, passwordFlags } from '../../framework/flags.ts';
import { present } from '../../framework/present.ts';
import { firstAdmin, firstPasswordFile } from '../../session/first-password.ts';
import { forgetLogin, type Login, localIdentity, storeLogin } from '../../settings/credentials.ts';
import { knownServers, type Met } from '../../settings/known-servers.ts';
import { storeSetting } from '../../settings/profiles.ts';
import { addressesOf, hasSeveralAddresses, isLocalServer, isLoopback } from '../../settings/settings.ts';
import { safe } from '../../terminal/text.ts';
import { localTime, relative } from '../../terminal/when.ts';
import { readToken } from './token-login.ts';

/** Logs in and stores the token: `POST /api/auth/login`. With --token-file it stores a token that exists. */
export const login = command({
  description:
    'Stores the token in the keychain of the operating system, or in a file that only you can read. The token is renewed while it is used.\nWith --token-file it stores a service token, which needs no password and is not renewed.\nWith --web it shows an address and a code. Open the address in a browser, sign in, type the code and approve this terminal.\nWith --sso you sign in at your identity provider, in your browser. Without a display, over SSH or with --no-browser, it shows an address and a code of the provider instead. If the provider has no codes, use --web.\nThe server given with --server is stored in the profile, with its identity. If another server answers at that address, it gets no password and no token.',
  args: [{ name: 'USERNAME', help: 'user name', optional: true }],
  flags: {
    username: { value: 'NAME', short: 'u', aliases: ['user'], help: 'user name, instead of USERNAME' },
    ...passwordFlags,
    'token-file': {
      ...fileFlag('read the token from the first line of a file; - is standard input'),
      conflicts: ['username', 'password-stdin', 'password-file'],
    },
    web: {
      help: 'sign in with a browser, for example with a security key, and approve this terminal there',
      conflicts: ['username', 'password-stdin', 'password-file', 'token-file'],
    },
    sso: {
      help: 'sign in at your identity provider, in a browser',
      conflicts: ['username', 'password-stdin', 'password-file', 'token-file', 'web'],
    },
    'no-browser': { help: 'with --sso: show an address and a code, even if there is a browser' },
    'accept-new-server': { help: 'accept a server whose identity is not the one in this profile' },
  },
  makesProfile: () => true,
  examples: {
    'asks for the password': 'login admin',
    'with a browser, for example with a security key': 'login --web',
    'at your identity provider': 'login --sso',
    'in a script': 'login --username admin --password-file ./password',
    'a station, with a service token': 'login --token-file line-3.token',
    'a registry with several addresses': 'login admin --server https://a.example.com,https://b.example.com',
    'another server, in its own profile': 'login admin --server https://registry.example.com --profile work',
  },
  async run({ args, flags }, context) {
    const [named] = args;
    if (flags.tokenFile !== undefined) {
      if (named !== undefined) throw usage('--token-file takes no user name: the token identifies the user');
      return logInWithToken(context, flags.tokenFile, flags.acceptNewServer);
    }
    if (flags.web && named !== undefined) throw usage('--web takes no user name: you sign in in the browser');
    if (flags.sso && named !== undefined) throw usage('--sso takes no user name: you sign in at the provider');
    if (flags.web || flags.sso) return logInElsewhere(context, flags.acceptNewServer, flags);
    if (named !== undefined && flags.username !== undefined && named !== flags.username)
      throw usage(`both "${named}" and --username ${flags.username} name a user`, 'omit one of them');
    if (!flags.passwordStdin && flags.passwordFile === undefined) await showFirstPassword(context);
    const known = flags.username ?? named ?? context.settings.username ?? undefined;
    const username = await need(context, known, { flag: '--username', question: 'User name' });
    const password = await readPassword(context, flags, `Password of ${username}`);
    await presentLogin(context, await logIn(context, username, password, flags.acceptNewServer), renewed);
  },
});

const renewed = '; renewed while it is used';

/** Data of a login to store and show. */
type Grant = Pick<DataOf<Routes['login']>, 'token' | 'expireTime' | 'user' | 'mustRegisterKey' | 'registrationUntil'>;

async function presentLogin(context: Context, data: Omit<Grant, 'token'>, renewal: string): Promise<void> {
  await present(context, {
    data,
    id: data.user.id,
    title: `Logged in as ${safe(data.user.username)} (${safe(data.user.role)})`,
    rows: [
      ['server', await serverOf(context)],
      ['valid until', `${localTime(data.expireTime)} (${relative(data.expireTime)}${renewal})`],
    ],
  });
  if (data.mustRegisterKey && !context.out.json)
    context.out.notice(
      data.registrationUntil === undefined
        ? 'This account must sign in with a security key. Register one: devmgr open'
        : `An ADMIN has allowed this account to register one security key until ${localTime(data.registrationUntil)}. Register it: devmgr open. If you did not ask for that, report it.`,
    );
}

/** Waits for a person in a browser, in the console or at the provider. */
async function logInElsewhere(
  context: Context,
  acceptNewServer: boolean,
  { sso, browser }: { readonly sso: boolean; readonly browser: boolean },
): Promise<void> {
  const logInThere = sso
    ? (await import('./sso-login.ts')).logInAtProvider
    : (await import('./web-login.ts')).logInByBrowser;
  const data = await logInWith(context, acceptNewServer, registry => logInThere(context, registry, browser));
  await presentLogin(context, data, renewed);
}

/** Scope of a login: all addresses, if there are several. */
const serverOf = async ({ settings, registry }: Context): Promise<string> =>
  hasSeveralAddresses(settings.server) ? settings.server : registry.address();

/** For the first login after an installation. The password itself is not shown: this may be on a shared screen. */
async function showFirstPassword(context: Context): Promise<void> {
  const { settings, registry, out, env } = context;
  // A daemon that this command has to start may write the file only now.
  if (isLocalServer(settings)) await registry.address();
  const file = firstPasswordFile(settings);
  if (file !== null && !out.json) out.notice(`The first password of ${safe(firstAdmin(env))} is in ${file}`);
}

/** Stores a token that exists, after the server has accepted it. */
async function logInWithToken(context: Context, file: string, acceptNewServer: boolean): Promise<void> {
  const token = await readToken(context, file);
  const { expireTime, user } = await logInWith(context, acceptNewServer, async registry => {
    const { data: me } = await registry.send({ operation: 'getOwnUser', token, retry: 'none' });
    const { id, username, role, email } = me;
    return { token, expireTime: me.expiresAt ?? expiryOf(token) ?? '', user: { id, username, role, email } };
  });
  await presentLogin(context, { expireTime, user }, '');
}

/** Logs in with a password. */
export const logIn = (context: Context, username: string, password: string, acceptNewServer = false) =>
  logInWith(context, acceptNewServer, registry => registry.call('login', { body: { username, password } }));

/** Has a server that may get a password grant a login, and stores the token and how to reach and recognize the server. */
async function logInWith<T extends Grant>(
  context: Context,
  acceptNewServer: boolean,
  grant: (registry: Client) => Promise<T>,
): Promise<T> {
  await warnIfUnencrypted(context);
  const { registry, met } = await meet(context, acceptNewServer);
  const data = await grant(registry);
  const { token, expireTime, user } = data;
  await keepLogin(context, { token, expireTime, username: user.username }, met);
  return data;
}

async function keepLogin(context: Context, login: Login, met: readonly Met[]): Promise<void> {
  const { settings, out } = context;
  const keeper = await storeLogin(settings, context.identity(), login);
  for (const { address, known } of met) if (known !== null) await knownServers.store(settings, address, known);
  await rememberServer(context);
  if (!context.globals.json)
    await out.prose(
      keeper === 'keychain'
        ? 'The token is stored in the keychain.'
        : `The token is stored in ${join(settings.home, homeFiles.credentials)}${process.platform === 'win32' ? '' : ' (only you can read it)'}.`,
    );
  if (settings.token !== null && !context.globals.json) out.notice('DEVMGR_TOKEN is set and overrides this login.');
}

/** A server that may get a password. */
interface Meeting {
  readonly registry: Client;
  /** Identity to store, by the name of its login. */
  readonly met: readonly Met[];
}

/**
 * Refuses a server that is not the one the profile knows, unless it is to be accepted. On the Unix socket in the home there can
 * be no other.
 */
async function meet(context: Context, acceptNewServer: boolean): Promise<Meeting> {
  const { settings, registry } = context;
  if (hasSeveralAddresses(settings.server)) {
    const { meetAll } = await import('../../framework/several-servers.ts');
    return meetAll(context, acceptNewServer);
  }
  if (registry.socketPath !== null) return { registry, met: [] };
  const { demandKnown, meetServer } = await import('../../session/server-identity.ts');
  const known = knownServers.read(settings, context.identity());
  if (known === null || acceptNewServer)
    return { registry, met: [{ address: context.identity(), known: await meetServer(registry) }] };
  await demandKnown(registry, known, context.acceptHint);
  return { registry, met: [] };
}

/** An address without a scheme means plain HTTP. */
async function warnIfUnencrypted({ out, globals, registry, settings }: Context): Promise<void> {
  const first = await registry.address();
  if (globals.json) return;
  for (const address of hasSeveralAddresses(settings.server) ? addressesOf(settings.server) : [first]) {
    if (!address.startsWith('http:') || isLoopback(address)) continue;
    out.warn(
      `${safe(address)} is not encrypted: others on the network can read the password and the token. Use https:// if you can.`,
    );
  }
}

/** Without this, the next command would not find the server that was named for this login. */
async function rememberServer(context: Context): Promise<void> {
  const { settings, globals } = context;
  if (settings.serverFrom === 'flag')
    await storeSetting(
      settings.home,
      settings.profile,
      'server',
      context.identity() === localIdentity ? null : settings.server,
    );
  if (globals.ca !== undefined) await storeSetting(settings.home, settings.profile, 'ca', resolve(globals.ca));
}

/** Deletes the stored token. The token itself stays valid until it expires. */
export const logout = command({
  description:
    'Deletes the token of this profile and server only. To end all your logins on every machine, use devmgr users logout.',
  examples: { 'delete the token of this profile and server': 'logout' },
  async run(_, context) {
    const { settings, out } = context;
    const identity = context.identity();
    const loggedOut = await forgetLogin(settings, identity);
    const name = hasSeveralAddresses(settings.server) ? settings.server : identity;
    const server = name === localIdentity ? 'the local daemon' : name;
    if (context.globals.json) await out.document({ loggedOut, server: name, profile: settings.profile });
    else out.notice(loggedOut ? `Logged out of ${server}.` : `You were not logged in to ${server}.`);
    if (settings.token !== null && !context.globals.json) out.notice('DEVMGR_TOKEN is still set.');
  },
});

/** Shows the logged-in user or service token: `GET /api/users/me`. */
export const whoami = command({
  examples: {
    'user, role and server': 'whoami',
    'only the role': 'whoami --json | jq -r .role',
  },
  async run(_, context) {
    const data = await context.registry.call('getOwnUser');
    const { settings } = context;
    await present(context, {
      data,
      id: data.id,
      title: `${safe(data.username)} (${safe(data.role)})`,
      rows: [
        ['id', safe(data.id)],
        ['e-mail', safe(data.email)],
        [
          'valid until',
          data.expiresAt === undefined ? null : `${localTime(data.expiresAt)} (${relative(data.expiresAt)})`,
        ],
        ['server', await context.registry.address()],
        ['profile', settings.profile],
        ['home', settings.home],
        ['token from', settings.token === null ? 'the stored login' : 'DEVMGR_TOKEN'],
      ],
    });
  },
});
