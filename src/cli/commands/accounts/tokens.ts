import { tokenIds } from '../../../contract/ids.ts';
import { serviceTokenDays } from '../../../contract/limits.ts';
import { namesIn } from '../../../contract/names.ts';
import type { ServiceToken } from '../../../contract/tokens.ts';
import { type Role, roles, type TokenPermission, tokenPermissions } from '../../../contract/values.ts';
import type { Client } from '../../client/client.ts';
import { nullIfRefused } from '../../client/failures.ts';
import { itemsOf } from '../../client/pages.ts';
import { Fault } from '../../fault.ts';
import { need } from '../../framework/ask.ts';
import type { Context } from '../../framework/context.ts';
import { command, definedFields, givenTexts } from '../../framework/define.ts';
import { type FlagShapes, pageFlags } from '../../framework/flags.ts';
import { listFlags } from '../../framework/format.ts';
import { present } from '../../framework/present.ts';
import { pageQuery, presentPage } from '../../framework/present-list.ts';
import type { Column } from '../../terminal/column.ts';
import { confirm, demandYes } from '../../terminal/prompt.ts';
import { safe, textsIn } from '../../terminal/text.ts';
import { localTime } from '../../terminal/when.ts';

const DEFAULT_DAYS = 90;

/** Flags of commands that create a token. */
export const tokenFlags = {
  'expires-in-days': {
    value: 'N',
    aliases: ['days'],
    whole: serviceTokenDays,
    default: DEFAULT_DAYS,
    help: `days for which the token is valid, at most ${serviceTokenDays.max}`,
  },
  'allowed-from': { value: 'CIDR', many: true, help: 'networks from which the token is accepted; by default any' },
} as const satisfies FlagShapes;

/** The purpose of a new token. Empty lists are left out. */
interface TokenToCreate {
  readonly name: string;
  readonly role: Role;
  readonly expiresInDays: number;
  readonly allowedFrom?: readonly string[];
  readonly may: readonly TokenPermission[];
}

/** Creates a service token: `POST /api/tokens`. */
export const createToken = ({ registry }: Context, { allowedFrom = [], may, ...token }: TokenToCreate) =>
  registry.call('createToken', {
    body: definedFields({ ...token, allowedFrom: givenTexts(allowedFrom), may: givenTexts(may) }),
  });

/** Writes a new token to standard output alone, so that it can go to a file. */
export async function writeToken(
  { out, globals }: Context,
  data: Awaited<ReturnType<typeof createToken>>,
): Promise<void> {
  if (globals.json) return out.document(data);
  await out.text(`${safe(data.token)}\n`);
  await out.prose(
    `${safe(data.tokenId)} ${safe(data.name)} (${safe(data.role)}) is valid until ${localTime(data.expiresAt)}. The token is not shown again.`,
  );
}

/** Adds a token for a program. */
export const tokensAdd = command({
  description:
    'Writes the token to standard output, once: the registry stores only a digest of it. Redirect it to a file that only you can read, and use it with login --token-file, or as DEVMGR_TOKEN.\nA service token can do what its role allows, but cannot change users, passwords and tokens. To read and change webhooks and policies it needs --may, which cannot be changed later.',
  args: [{ name: 'NAME', help: 'name of the token, such as the station that uses it', optional: true }],
  flags: {
    role: { value: 'ROLE', choices: roles, help: 'permissions of the token' },
    ...tokenFlags,
    may: {
      value: 'PERMISSION',
      many: true,
      choices: tokenPermissions,
      help: 'what the token can do besides its role (default: nothing); scim: provision persons at /scim/v2; decide: ask whether keys may be used; record-use: with decide, count each allowed key as a use; ssh: read SSH keys of persons. A VIEWER with one of these four can do nothing else',
    },
  },
  examples: {
    'a token for a station, into a file of its own': 'tokens add line-3 --role DEALER >line-3.token',
    'valid for a year, from one network':
      'tokens add labels --role VIEWER --expires-in-days 365 --allowed-from 10.20.0.0/16',
    'for a program that manages webhooks': 'tokens add alerts --role ADMIN --may webhooks >alerts.token',
    'for a host that asks for SSH keys': 'tokens add host-1 --role VIEWER --may ssh >host-1.token',
    'for a door that asks whether keys may be used':
      'tokens add front-door --role VIEWER --may decide >front-door.token',
  },
  async run({ args, flags }, context) {
    const hint = 'devmgr tokens add NAME --role ROLE';
    const name = await need(context, args[0], { flag: 'the name of the token', question: 'Name', hint });
    const role = await need(context, flags.role, { flag: '--role', question: 'Role', choices: roles });
    const { expiresInDays, allowedFrom, may } = flags;
    await writeToken(context, await createToken(context, { name, role, expiresInDays, allowedFrom, may }));
  },
});

const tokenFields = namesIn(
  'tokenId name role createdBy createdAt expiresAt lastUsedAt revokedAt allowedFrom may',
) satisfies readonly (keyof ServiceToken)[];

/** Lists service tokens: `GET /api/tokens/list`. */
export const tokensList = command({
  flags: { ...pageFlags('tokens'), ...listFlags(tokenFields) },
  examples: {
    'tokens with role, expiry and last use': 'tokens list',
    'those that may manage webhooks': `tokens list --jq '.list[] | select(.may | index("webhooks")) | .name'`,
    'names of tokens that were never used':
      'tokens list --json | jq -r ".list[] | select(.lastUsedAt == null) | .name"',
  },
  async run({ flags }, context) {
    const data = await context.registry.call('listTokens', { query: pageQuery(flags) });
    const listing = { fields: tokenFields, columns, id: 'tokenId' } as const;
    return presentPage(context, data, listing, { what: 'tokens', none: 'There is no service token.' });
  },
});

/** A server of an earlier version sends no permissions. */
const permissionsOf = ({ may }: ServiceToken): string | null => textsIn(may).join(' ') || null;

const networksOf = ({ allowedFrom }: ServiceToken): string | null => allowedFrom?.join(' ') ?? null;

function stateOf({ revokedAt, expiresAt, ownerLost }: ServiceToken): 'revoked' | 'expired' | 'no owner' | 'valid' {
  if (revokedAt !== null) return 'revoked';
  if (Date.parse(expiresAt) <= Date.now()) return 'expired';
  return ownerLost ? 'no owner' : 'valid';
}

const columns: Column<ServiceToken>[] = [
  { title: 'TOKEN', value: token => token.tokenId },
  { title: 'NAME', value: token => token.name, shorten: 'end' },
  { title: 'ROLE', value: token => token.role },
  { title: 'MAY', value: permissionsOf, shorten: 'end' },
  { title: 'STATE', value: stateOf, style: token => (stateOf(token) === 'valid' ? null : 'red') },
  { title: 'UNTIL', value: token => localTime(token.expiresAt) },
  { title: 'LAST USED', value: token => localTime(token.lastUsedAt), drop: 1 },
  { title: 'FROM', value: networksOf, shorten: 'end', drop: 2 },
  // A server of an earlier version sends no owner.
  { title: 'OWNER', value: token => token.owner ?? null, shorten: 'end', drop: 3 },
  { title: 'CREATED BY', value: token => token.createdBy, shorten: 'end', drop: 4 },
];

/** Takes a service token over: `POST /api/tokens/{tokenId}/adopt`. */
export const tokensAdopt = command({
  description:
    'A service token ends with the account of its owner: it is refused while the account is disabled, or if its person has left. This makes you its owner, so that the program that uses it continues. The token itself does not change: if the earlier owner may have a copy, create another token and revoke this one.',
  args: [{ name: 'TOKEN', help: 'id or name of the token, never the token itself', offer: 'token' }],
  examples: { 'the token of an administrator who has left': 'tokens adopt line-3' },
  async run({ args: [name = ''] }, context) {
    const tokenId = await findToken(context.registry, name);
    const data = await context.registry.call('adoptToken', { params: { tokenId } });
    await present(context, {
      data,
      id: data.tokenId,
      title: `${safe(data.tokenId)} ${safe(data.name)} is yours`,
      rows: [
        ['role', safe(data.role)],
        ['created by', safe(data.createdBy)],
        ['valid until', localTime(data.expiresAt)],
      ],
    });
  },
});

/** Revokes a service token: `POST /api/tokens/{tokenId}/revoke`. */
export const tokensRevoke = command({
  description:
    'This cannot be undone. The token is refused from the next request on, and its notification streams end. Webhooks that it has created still receive events: they are listed, and at a terminal you are asked whether to remove them.',
  args: [
    {
      name: 'TOKEN',
      help: 'id or name of the token, never the token itself; asked for at a terminal',
      optional: true,
      offer: 'token',
    },
  ],
  flags: { 'remove-made': { help: 'also remove the webhooks that the token has created' } },
  examples: {
    'by name': 'tokens remove line-3',
    'by id': 'tokens remove TOK-1',
    'a stolen token, with the webhooks that the thief has created': 'tokens remove TOK-1 --remove-made',
  },
  async run({ args, flags }, context) {
    const tokenId = args[0] === undefined ? await picked(context) : await findToken(context.registry, args[0]);
    const data = await context.registry.call('revokeToken', { params: { tokenId } });
    // A server of an earlier version does not know them.
    const webhooks = textsIn(data.made?.webhooks);
    await present(context, {
      data,
      id: data.tokenId,
      title: `${safe(data.tokenId)} ${safe(data.name)} is revoked`,
      rows: [
        ['role', safe(data.role)],
        ['last used', data.lastUsedAt === null ? 'never' : localTime(data.lastUsedAt)],
        ['revoked', localTime(data.revokedAt)],
        ['its webhooks', webhooks.length > 0 ? safe(webhooks.join(' ')) : null],
      ],
    });
    if (webhooks.length === 0) return;
    if (flags.removeMade || (await isRemovalWanted(context, webhooks))) return removeWebhooks(context, webhooks);
    const { out } = context;
    out.notice(`Webhooks that the token has created still receive events: ${safe(webhooks.join(', '))}`);
    out.notice(`Remove them: devmgr tokens remove ${safe(data.tokenId)} --remove-made`);
  },
});

const isRemovalWanted = async (context: Context, webhooks: readonly string[]): Promise<boolean> =>
  context.canAsk && confirm(context.out, `Remove the webhooks that it has created (${webhooks.join(', ')})?`);

async function removeWebhooks({ registry, out }: Context, webhooks: readonly string[]): Promise<void> {
  for (const webhookId of webhooks) {
    // Another person may have removed it at the same time.
    const removed = await nullIfRefused(registry.call('removeWebhook', { params: { webhookId } }), 404);
    if (removed !== null) out.notice(`${safe(webhookId)} is removed`);
  }
}

/** One of the valid tokens. A person confirms it: two rows of a list are easily confused. */
async function picked(context: Context): Promise<string> {
  const { pickToken } = await import('../../framework/pickers/listed.ts');
  const { tokenId, name } = await pickToken(context);
  await demandYes(context.out, `Revoke ${name}?`);
  return tokenId;
}

/** The id of a token that is named by id, or by the name that it has while it is not revoked. */
async function findToken(registry: Client, name: string): Promise<string> {
  if (tokenIds.parse(name) !== null) return name;
  for await (const token of itemsOf(registry, 'listTokens'))
    if (token.name === name && token.revokedAt === null) return token.tokenId;
  // Perhaps the token itself was typed: it must not appear in an error.
  throw new Fault('absent', 'no service token with that name is valid', 'see: devmgr tokens list');
}
