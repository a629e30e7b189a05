import { serviceTokenDays } from '../../../../contract/limits.ts';
import { namesIn } from '../../../../contract/names.ts';
import type { ServiceToken } from '../../../../contract/tokens.ts';
import { roles, tokenPermissions } from '../../../../contract/values.ts';
import { need } from '../../../framework/ask.ts';
import { command, definedFields, givenTexts } from '../../../framework/define.ts';
import { pageFlags } from '../../../framework/flags.ts';
import { listFlags } from '../../../framework/format.ts';
import { pageQuery, presentPage } from '../../../framework/present-list.ts';
import type { Column } from '../../../terminal/column.ts';
import { safe, textsIn } from '../../../terminal/text.ts';
import { localTime } from '../../../terminal/when.ts';

const DEFAULT_DAYS = 90;

/** Creates a service token: `POST /api/tokens`. Standard output gets the token alone, so that it can go to a file. */
export const tokensAdd = command({
  description:
    'Writes the token to standard output, once: the registry stores only a digest of it. Redirect it to a file that only you can read, and use it with login --token-file, or as DEVMGR_TOKEN.\nA service token can do what its role allows, but cannot change users, passwords and tokens. To read and change webhooks and policies it needs --may, which cannot be changed later.',
  args: [{ name: 'NAME', help: 'name of the token, such as the station that uses it', optional: true }],
  flags: {
    role: { value: 'ROLE', choices: roles, help: 'permissions of the token' },
    'expires-in-days': {
      value: 'N',
      aliases: ['days'],
      whole: serviceTokenDays,
      default: DEFAULT_DAYS,
      help: `days for which the token is valid, at most ${serviceTokenDays.max}`,
    },
    'allowed-from': { value: 'CIDR', many: true, help: 'networks from which the token is accepted; by default any' },
    may: {
      value: 'PERMISSION',
      many: true,
      choices: tokenPermissions,
      help: 'what the token can do besides its role (default: nothing); scim: provision persons at /scim/v2',
    },
  },
  examples: [
    { does: 'a token for a station, into a file of its own', line: 'tokens add line-3 --role DEALER >line-3.token' },
    {
      does: 'valid for a year, from one network',
      line: 'tokens add labels --role VIEWER --expires-in-days 365 --allowed-from 10.20.0.0/16',
    },
    {
      does: 'for a program that manages webhooks',
      line: 'tokens add alerts --role ADMIN --may webhooks >alerts.token',
    },
  ],
  async run({ args, flags }, context) {
    const { out, globals, registry } = context;
    const hint = 'devmgr tokens add NAME --role ROLE';
    const name = await need(context, args[0], { flag: 'the name of the token', question: 'Name', hint });
    const role = await need(context, flags.role, { flag: '--role', question: 'Role', choices: roles });
    const { expiresInDays } = flags;
    const [allowedFrom, may] = [givenTexts(flags.allowedFrom), givenTexts(flags.may)];
    const body = definedFields({ name, role, expiresInDays, allowedFrom, may });
    const data = await registry.call('createToken', { body });
    if (globals.json) return out.document(data);
    await out.text(`${safe(data.token)}\n`);
    await out.prose(
      `${safe(data.tokenId)} ${safe(data.name)} (${safe(data.role)}) is valid until ${localTime(data.expiresAt)}. The token is not shown again.`,
    );
  },
});

const tokenFields = namesIn(
  'tokenId name role createdBy createdAt expiresAt lastUsedAt revokedAt allowedFrom may',
) satisfies readonly (keyof ServiceToken)[];

/** Lists service tokens: `GET /api/tokens/list`. */
export const tokensList = command({
  flags: { ...pageFlags('tokens'), ...listFlags(tokenFields) },
  examples: [
    { does: 'tokens with role, expiry and last use', line: 'tokens list' },
    {
      does: 'those that may manage webhooks',
      line: `tokens list --jq '.list[] | select(.may | index("webhooks")) | .name'`,
    },
    {
      does: 'names of tokens that were never used',
      line: 'tokens list --json | jq -r ".list[] | select(.lastUsedAt == null) | .name"',
    },
  ],
  async run({ flags }, context) {
    const data = await context.registry.call('listTokens', { query: pageQuery(flags) });
    const listing = { fields: tokenFields, columns, id: 'tokenId' } as const;
    return presentPage(context, data, listing, { what: 'tokens', none: 'There is no service token.' });
  },
});

/** A server of an earlier version sends no permissions. */
const permissionsOf = ({ may }: ServiceToken): string | null => textsIn(may).join(' ') || null;

const networksOf = ({ allowedFrom }: ServiceToken): string | null => allowedFrom?.join(' ') ?? null;

const stateOf = ({ revokedAt, expiresAt }: ServiceToken): 'revoked' | 'expired' | 'valid' =>
  revokedAt !== null ? 'revoked' : Date.parse(expiresAt) <= Date.now() ? 'expired' : 'valid';

const columns: Column<ServiceToken>[] = [
  { title: 'TOKEN', value: token => token.tokenId },
  { title: 'NAME', value: token => token.name, shorten: 'end' },
  { title: 'ROLE', value: token => token.role },
  { title: 'MAY', value: permissionsOf, shorten: 'end' },
  { title: 'STATE', value: stateOf, style: token => (stateOf(token) === 'valid' ? null : 'red') },
  { title: 'UNTIL', value: token => localTime(token.expiresAt) },
  { title: 'LAST USED', value: token => localTime(token.lastUsedAt), drop: 1 },
  { title: 'FROM', value: networksOf, shorten: 'end', drop: 2 },
  { title: 'CREATED BY', value: token => token.createdBy, shorten: 'end', drop: 3 },
];
