import type { SsoSettings } from '../../../contract/sso.ts';
import { localSources, type Role, roles } from '../../../contract/values.ts';
import { usage } from '../../fault.ts';
import type { Context } from '../../framework/context.ts';
import { command, definedFields, givenTexts } from '../../framework/define.ts';
import { fileFlag, yesFlag } from '../../framework/flags.ts';
import { type CardRow, present } from '../../framework/present.ts';
import { secretFrom } from '../../framework/secret-file.ts';
import { demandYes } from '../../terminal/prompt.ts';
import { safe, textsIn } from '../../terminal/text.ts';
import { showFindings } from '../findings.ts';

const list = (values: readonly string[] | null | undefined, none: string): string =>
  textsIn(values).map(safe).join(', ') || none;

/** Shows the settings. */
function showSettings(context: Context, settings: SsoSettings, title: string, next?: string): Promise<void> {
  const { issuer, name, clientId, roles, groupsClaim, scopes, strong, localAccounts } = settings;
  const { from, names } = localAccounts;
  const rows: CardRow[] = [
    ['issuer', safe(issuer ?? '')],
    ['name', safe(name ?? '')],
    ['client', safe(clientId ?? '')],
    ['ADMIN', list(roles.ADMIN, 'no group')],
    ['DEALER', list(roles.DEALER, 'no group')],
    ['VIEWER', list(roles.VIEWER, 'no group')],
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
  return present(context, { data: settings, id: safe(issuer ?? 'off'), title, rows: shown, next });
}

/** Shows the settings: `GET /api/sso/settings`. */
export const ssoShow = command({
  examples: [
    { does: 'issuer, groups and roles', line: 'sso show' },
    { does: 'the groups of ADMIN, for a script', line: 'sso show --jq .roles.ADMIN[]' },
  ],
  async run(_, context) {
    const settings = await context.registry.call('showSsoSettings');
    await showSettings(context, settings, settings.enabled ? 'People sign in at a provider' : 'Single sign-on is off');
  },
});

/** Checks the provider: `POST /api/sso/test`. Exit code 1 if something is wrong. */
export const ssoTest = command({
  description:
    'Checks discovery, keys and clock from the daemon, and shows the addresses to register at the provider. It makes them from the address at which you reach the daemon: use the one that the users open.',
  examples: [{ does: 'whether the provider answers, and what to register there', line: 'sso test' }],
  async run(_, context) {
    const result = await context.registry.call('testSso');
    const { redirectUri, backchannelLogoutUri, grantTypes, scopes } = result.register;
    const more: CardRow[] = [
      ['redirect address', safe(redirectUri)],
      ['logout address', safe(backchannelLogoutUri)],
      ['grants', list(grantTypes, '')],
      ['scopes', list(scopes, '')],
    ];
    return showFindings(context, result, { title: 'The provider works', more });
  },
});

/** Ends single sign-on: `PUT /api/sso`. */
export const ssoRemove = command({
  description: 'Sign-in at the provider is turned off, and its sessions end. The accounts stay, but have no passwords.',
  flags: yesFlag,
  examples: [{ does: 'turn it off', line: 'sso remove' }],
  async run({ flags }, context) {
    if (!flags.yes && context.canAsk) await demandYes(context.out, 'Turn off single sign-on?');
    const settings = await context.registry.call('setSso', { body: { enabled: false } });
    await showSettings(context, settings, 'Single sign-on is off');
  },
});

/** Sets single sign-on up, or changes it: `PUT /api/sso`. */
export const ssoSet = command({
  description:
    'Settings that are not named do not change. An empty value removes a list: --strong-acr "".\n--role ROLE=GROUP gives a role to the members of a group at the provider; it replaces the earlier groups of that role. A person in several groups gets the highest role. A person in none of them cannot sign in.\nThe registry stores the secret encrypted. First register the addresses that devmgr sso test shows at the provider.',
  flags: {
    issuer: { value: 'URL', help: 'issuer of the provider, https://…' },
    'client-id': { value: 'ID', field: 'clientId', help: 'id of this registry at the provider' },
    'client-secret-file': {
      ...fileFlag('read the client secret from the first line of a file; - is standard input'),
      field: 'clientSecret',
    },
    name: { value: 'NAME', help: 'text of the sign-in button' },
    role: {
      value: 'ROLE',
      many: 'whole',
      field: 'roles',
      help: 'ROLE=GROUP: members of GROUP have ROLE; can be repeated',
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
  },
  examples: [
    {
      does: 'a provider, with groups for two roles',
      line: 'sso set --issuer https://login.example.com/realms/company --client-id devmgr --client-secret-file secret --role ADMIN=keys-admins --role DEALER=keys-desk',
    },
    { does: 'keep one local account for emergencies', line: 'sso set --local-account admin' },
  ],
  async run({ flags }, context) {
    const before = await context.registry.call('showSsoSettings');
    const { clientSecretFile, localFrom, localAccount, strongAcr, strongAmr } = flags;
    const { from, names = null } = before.localAccounts;
    const body = definedFields({
      enabled: true,
      issuer: flags.issuer ?? before.issuer,
      clientId: flags.clientId ?? before.clientId,
      clientSecret: await secretFrom(context, clientSecretFile),
      name: flags.name ?? before.name,
      roles: groupsOf(before.roles, flags.role),
      groupsClaim: flags.groupsClaim ?? before.groupsClaim,
      scopes: flags.scope.length > 0 ? orNull(givenTexts(flags.scope)) : before.scopes,
      strong: {
        acr: givenTexts(strongAcr) ?? before.strong.acr,
        amr: givenTexts(strongAmr) ?? before.strong.amr,
      },
      localAccounts: {
        from: localFrom ?? from,
        names: localAccount.length > 0 ? orNull(givenTexts(localAccount)) : names,
      },
    });
    const settings = await context.registry.call('setSso', { body });
    await showSettings(context, settings, 'People sign in at the provider', 'devmgr sso test');
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
