import { tokenIds } from '../../../contract/ids.ts';
import { paging, serviceTokenDays } from '../../../contract/limits.ts';
import type { ServiceToken } from '../../../contract/tokens.ts';
import { type Role, roles } from '../../../contract/values.ts';
import { need } from '../../ask.ts';
import type { Client } from '../../client/client.ts';
import { pagesOf } from '../../client/pages.ts';
import type { Context } from '../../context.ts';
import { command, definedFields } from '../../define.ts';
import { Fault, usage } from '../../fault.ts';
import { pageFlags } from '../../flags.ts';
import { listFlags } from '../../format.ts';
import { present } from '../../present.ts';
import { presentPage } from '../../present-list.ts';
import type { Column } from '../../terminal/column.ts';
import { confirm } from '../../terminal/prompt.ts';
import { safe } from '../../terminal/text.ts';
import { localTime } from '../../terminal/when.ts';

const DEFAULT_DAYS = 90;

/** Creates a service token: `POST /api/tokens`. Standard output gets the token alone, so that it can go to a file. */
export const tokensAdd = command({
  description:
    'Writes the token to standard output, once: the registry stores only a digest of it. Send it to a file that only you can read, and use it with login --token-file, or as DEVMGR_TOKEN.\nA service token does what its role allows, except to change users, passwords and tokens.',
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
  },
  examples: [
    { does: 'a token for a station, into a file of its own', line: 'tokens add line-3 --role DEALER >line-3.token' },
    {
      does: 'valid for a year, from one network',
      line: 'tokens add labels --role VIEWER --expires-in-days 365 --allowed-from 10.20.0.0/16',
    },
  ],
  async run({ args, flags }, context) {
    const { out, globals, registry } = context;
    const hint = 'devmgr tokens add NAME --role ROLE';
    const name = await need(context, args[0], { flag: 'the name of the token', question: 'Name', hint });
    const question = { flag: '--role', question: 'Role', hint: `use one of ${roles.join(', ')}`, choices: roles };
    const role = (await need(context, flags.role, question)) as Role;
    const { expiresInDays, allowedFrom } = flags;
    const body = { name, role, expiresInDays, ...(allowedFrom.length ? { allowedFrom: [...allowedFrom] } : {}) };
    const data = await registry.call('createToken', { body });
    if (globals.json) return out.document(data);
    await out.text(`${safe(data.token)}\n`);
    out.notice(
      `${safe(data.tokenId)} ${safe(data.name)} (${safe(data.role)}) is valid until ${localTime(data.expiresAt)}. The token is not shown again.`,
    );
  },
});

const tokenFields = [
  'tokenId',
  'name',
  'role',
  'createdBy',
  'createdAt',
  'expiresAt',
  'lastUsedAt',
  'revokedAt',
  'allowedFrom',
] as const satisfies readonly (keyof ServiceToken)[];

/** Lists service tokens: `GET /api/tokens/list`. */
export const tokensList = command({
  isPaged: true,
  flags: { ...pageFlags('tokens'), ...listFlags(tokenFields) },
  examples: [
    { does: 'tokens with role, expiry and last use', line: 'tokens list' },
    {
      does: 'names of tokens that were never used',
      line: 'tokens list --json | jq -r ".list[] | select(.lastUsedAt == null) | .name"',
    },
  ],
  async run({ flags }, context) {
    const query = definedFields<{ page?: number; size?: number }>({ page: flags.page, size: flags.size });
    const data = await context.registry.call('listTokens', { query });
    const listing = {
      fields: tokenFields,
      chosen: flags.fields,
      columns,
      id: (token: ServiceToken) => token.tokenId,
    };
    return presentPage(context, data, listing, { what: 'tokens', none: 'There is no service token.' });
  },
});

const networksOf = ({ allowedFrom }: ServiceToken): string | null => allowedFrom?.join(' ') ?? null;

const stateOf = ({ revokedAt, expiresAt }: ServiceToken): 'revoked' | 'expired' | 'valid' =>
  revokedAt !== null ? 'revoked' : Date.parse(expiresAt) <= Date.now() ? 'expired' : 'valid';

const columns: Column<ServiceToken>[] = [
  { title: 'TOKEN', value: token => token.tokenId },
  { title: 'NAME', value: token => token.name, shorten: 'end' },
  { title: 'ROLE', value: token => token.role },
  { title: 'STATE', value: stateOf, style: token => (stateOf(token) === 'valid' ? null : 'red') },
  { title: 'UNTIL', value: token => localTime(token.expiresAt) },
  { title: 'LAST USED', value: token => (token.lastUsedAt === null ? null : localTime(token.lastUsedAt)), drop: 1 },
  { title: 'FROM', value: networksOf, shorten: 'end', drop: 2 },
  { title: 'CREATED BY', value: token => token.createdBy, shorten: 'end', drop: 3 },
];

/** Revokes a service token: `POST /api/tokens/{tokenId}/revoke`. */
export const tokensRevoke = command({
  description: 'Permanent: the token is refused from the next request on, and its notification streams end.',
  args: [
    {
      name: 'TOKEN',
      help: 'id or name of the token, never the token itself; asked for at a terminal',
      optional: true,
      offer: 'token',
    },
  ],
  flags: {},
  examples: [
    { does: 'by name', line: 'tokens revoke line-3' },
    { does: 'by id', line: 'tokens revoke TOK-1' },
  ],
  async run({ args }, context) {
    const tokenId = args[0] === undefined ? await picked(context) : await findToken(context.registry, args[0]);
    const data = await context.registry.call('revokeToken', { params: { tokenId } });
    await present(context, {
      data,
      id: data.tokenId,
      title: `${safe(data.tokenId)} ${safe(data.name)} is revoked`,
      rows: [
        ['role', safe(data.role)],
        ['last used', data.lastUsedAt === null ? 'never' : localTime(data.lastUsedAt)],
        ['revoked', data.revokedAt === null ? null : localTime(data.revokedAt)],
      ],
    });
  },
});

/** One of the valid tokens. A person confirms it: two rows of a list are easily confused. */
async function picked(context: Context): Promise<string> {
  const { pickToken } = await import('../../pickers/listed.ts');
  const { tokenId, name } = await pickToken(context, 'tokens revoke');
  if (await confirm(context.out, `Revoke ${name}?`)) return tokenId;
  throw usage('not confirmed: nothing was changed');
}

/** The id of a token that is named by id, or by the name that it has while it is not revoked. */
async function findToken(registry: Client, name: string): Promise<string> {
  if (tokenIds.parse(name) !== null) return name;
  const read = (page: number) => registry.call('listTokens', { query: { page, size: paging.maxSize } });
  for await (const { list } of pagesOf(read, token => token.tokenId)) {
    const found = list.find(token => token.name === name && token.revokedAt === null);
    if (found) return found.tokenId;
  }
  // Perhaps the token itself was typed: it must not appear in an error.
  throw new Fault('absent', 'no service token with that name is valid', 'see: devmgr tokens list');
}
