import type { SsoSettings } from '../../../contract/sso.ts';
import { localSources, type Role, roles } from '../../../contract/values.ts';
import { failure, usage } from '../../fault.ts';
import type { Context } from '../../framework/context.ts';
import { command, definedFields, givenTexts } from '../../framework/define.ts';
import { type FlagShapes, type FlagValues, fileFlag } from '../../framework/flags.ts';
import { type CardRow, present, type Result } from '../../framework/present.ts';
import { secretFrom } from '../../framework/secret-file.ts';
import { safe, textsIn } from '../../terminal/text.ts';
import { showFindings } from '../findings.ts';

const list = (values: readonly string[] | null | undefined, none: string): string =>
  textsIn(values).map(safe).join(', ') || none;

/** The settings, to be shown. */
function resultOf(settings: SsoSettings, title: string, next?: string): Result {
  const { issuer, name, clientId, roles, groupsClaim, scopes, strong, localAccounts } = settings;
  const { from, names } = localAccounts;
  const rows: CardRow[] = [
    ['issuer', safe(issuer ?? '')],
    ['name', safe(name ?? '')],
    ['client', safe(clientId ?? '')],
    ['ADMIN', list(roles.ADMIN, 'no group')],
    ['DEALER', list(roles.DEALER, 'no group')],
    ['VIEWER', list(roles.VIEWER, 'no group')],
    ['HOLDER', settings.holders ? 'persons of the registry in none of the groups' : 'no one'],
    ['groups in', safe(groupsClaim)],
    ['scopes', list(scopes, 'the usual ones')],
    [
      'strong sign-ins',
      list([...strong.acr.map(acr => `acr ${acr}`), ...strong.amr.map(amr => `amr ${amr}`)], 'not named'),
    ],
    [
      'local accounts',
      `${names ? list(names, 'none') : 'all'}${from === 'LOOPBACK' ? ', on the machine of the daemon' : ''}`,
    ],
  ];
  const shown = settings.enabled ? rows : [];
  return { data: settings, id: safe(issuer ?? 'off'), title, rows: shown, next };
}

/** Shows the settings: `GET /api/sso/settings`. */
export async function showSso({ registry }: Context): Promise<Result> {
  const settings = await registry.call('showSsoSettings');
  return resultOf(settings, settings.enabled ? 'People sign in at a provider' : 'Single sign-on is off');
}

/** Checks the provider, and shows the addresses to register there: `POST /api/sso/test`. */
export async function testSso(context: Context): Promise<number> {
  const result = await context.registry.call('testSso');
  const { redirectUri, backchannelLogoutUri, grantTypes, scopes } = result.register;
  const more: CardRow[] = [
    ['redirect address', safe(redirectUri)],
    ['logout address', safe(backchannelLogoutUri)],
    ['grants', list(grantTypes, '')],
    ['scopes', list(scopes, '')],
  ];
  return showFindings(context, result, { title: 'The provider works', more });
}

/** Ends single sign-on: `PUT /api/sso`. Its sessions end; the accounts stay, but have no passwords. */
export async function removeSso({ registry }: Context): Promise<Result> {
  return resultOf(await registry.call('setSso', { body: { enabled: false } }), 'Single sign-on is off');
}

const ssoFlags = {
  issuer: { value: 'URL', help: 'issuer of the provider, https://…' },
  'client-id': { value: 'ID', field: 'clientId', help: 'id of this registry at the provider' },
  'client-secret-file': {
    ...fileFlag('read the client secret from the first line of a file; - is standard input'),
    field: 'clientSecret',
  },
  role: {
    value: 'ROLE',
    many: 'whole',
    field: 'roles',
    help: 'ROLE=GROUP: members of GROUP have ROLE; can be repeated',
  },
  holders: {
    value: 'ON',
    choices: ['on', 'off'],
    help: 'on: persons of the registry who are in none of the groups sign in as HOLDER and see their own keys',
  },
  'groups-claim': { value: 'CLAIM', field: 'groupsClaim', help: 'claim with the groups (default: groups)' },
  scope: {
    value: 'SCOPE',
    many: true,
    empty: true,
    field: 'scopes',
    help: 'scopes to request instead of the usual ones',
  },
  'strong-acr': {
    value: 'ACR',
    many: true,
    empty: true,
    field: 'strong',
    help: 'acr values of sign-ins that count as recent and as done with a security key',
  },
  'strong-amr': { value: 'AMR', many: true, empty: true, field: 'strong', help: 'amr values of such sign-ins' },
  'local-from': {
    value: 'WHERE',
    choices: localSources,
    field: 'localAccounts',
    help: 'where local accounts can sign in from; LOOPBACK: only the machine of the daemon',
  },
  'local-account': {
    value: 'NAME',
    many: true,
    empty: true,
    field: 'localAccounts',
    help: 'the only local accounts that can sign in',
  },
} as const satisfies FlagShapes;

/** Changes: flags, and the name and the secret. */
interface SsoChanges extends Partial<FlagValues<typeof ssoFlags>> {
  readonly name?: string | undefined;
  readonly clientSecret?: string | undefined;
}

/** Sets single sign-on up, or changes it: `PUT /api/sso`. */
export async function setSso({ registry }: Context, before: SsoSettings, flags: SsoChanges): Promise<Result> {
  const { scope = [], localAccount = [], strongAcr = [], strongAmr = [], role = [] } = flags;
  const { from, names = null } = before.localAccounts;
  const body = definedFields({
    enabled: true,
    issuer: flags.issuer ?? before.issuer,
    clientId: flags.clientId ?? before.clientId,
    clientSecret: flags.clientSecret,
    name: flags.name ?? before.name,
    roles: groupsOf(before.roles, role),
    holders: flags.holders === undefined ? before.holders : flags.holders === 'on',
    groupsClaim: flags.groupsClaim ?? before.groupsClaim,
    scopes: scope.length > 0 ? orNull(givenTexts(scope)) : before.scopes,
    strong: { acr: givenTexts(strongAcr) ?? before.strong.acr, amr: givenTexts(strongAmr) ?? before.strong.amr },
    localAccounts: {
      from: flags.localFrom ?? from,
      names: localAccount.length > 0 ? orNull(givenTexts(localAccount)) : names,
    },
  });
  const settings = await registry.call('setSso', { body });
  return resultOf(settings, 'People sign in at the provider', 'devmgr providers test oidc');
}

/** The settings before sign-in is added; refuses if there is a provider already. */
export async function ssoToAdd({ registry }: Context): Promise<SsoSettings> {
  const before = await registry.call('showSsoSettings');
  if (before.enabled)
    throw failure(`people sign in at ${safe(before.issuer ?? '')} already`, 'change it: devmgr providers update oidc');
  return before;
}

const help =
  '--role ROLE=GROUP gives a role to the members of a group at the provider; it replaces the earlier groups of that role. A person in several groups gets the highest role. A person in none of them cannot sign in.\nThe registry stores the secret encrypted. Register the addresses that devmgr providers test oidc shows at the provider.';

/** Adds the provider at which people sign in. */
export const oidcAdd = command({
  description: `People sign in at this provider by OpenID Connect. A registry has at most one.\n${help}`,
  args: [{ name: 'NAME', help: 'name of the provider, and text of the sign-in button' }],
  flags: ssoFlags,
  examples: {
    'a provider, with groups for two roles':
      'providers add oidc company --issuer https://login.example.com/realms/company --client-id devmgr --client-secret-file secret --role ADMIN=keys-admins --role DEALER=keys-desk',
  },
  async run({ args: [name], flags }, context) {
    const before = await ssoToAdd(context);
    const clientSecret = await secretFrom(context, flags.clientSecretFile);
    await present(context, await setSso(context, before, { ...flags, name, clientSecret }));
  },
});

/** Changes single sign-on, or sets it up. */
export const oidcUpdate = command({
  description: `Settings that are not named do not change. An empty value removes a list: --strong-acr "".\n${help}`,
  flags: { ...ssoFlags, name: { value: 'NAME', help: 'name of the provider, and text of the sign-in button' } },
  examples: {
    'keep one local account for emergencies': 'providers update oidc --local-account admin',
    'before the secret expires': 'providers update oidc --client-secret-file secret',
  },
  async run({ flags }, context) {
    const before = await context.registry.call('showSsoSettings');
    const clientSecret = await secretFrom(context, flags.clientSecretFile);
    await present(context, await setSso(context, before, { ...flags, clientSecret }));
  },
});

const orNull = (texts: string[] | undefined): string[] | null => (texts?.length ? texts : null);

function groupsOf(before: SsoSettings['roles'], pairs: readonly string[]): SsoSettings['roles'] {
  const named = new Map<Role, string[]>();
  for (const pair of pairs) {
    const at = pair.indexOf('=');
    const role = roles.find(name => name === pair.slice(0, Math.max(at, 0)).trim().toUpperCase());
    if (!role) throw usage(`--role "${pair}" is not ROLE=GROUP`, 'for example --role ADMIN=keys-admins');
    const group = pair.slice(at + 1).trim();
    named.set(role, [...(named.get(role) ?? []), ...(group === '' ? [] : [group])]);
  }
  return { ...before, ...Object.fromEntries(named) };
}
