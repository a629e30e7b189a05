import type { SsoSettings } from '../../../../contract/sso.ts';
import type { Context } from '../../../framework/context.ts';
import { command } from '../../../framework/define.ts';
import { yesFlag } from '../../../framework/flags.ts';
import { type CardRow, present } from '../../../framework/present.ts';
import { demandYes } from '../../../terminal/prompt.ts';
import { safe, textsIn } from '../../../terminal/text.ts';
import { showFindings } from '../../findings.ts';

const list = (values: readonly string[] | null | undefined, none: string): string =>
  textsIn(values).map(safe).join(', ') || none;

/** Shows the settings. */
export function showSettings(context: Context, settings: SsoSettings, title: string, next?: string): Promise<void> {
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
    'Checks discovery, keys and clock from the daemon, and shows the addresses to register at the provider. They are made from the address at which you reach the daemon: use the one that the users open.',
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
