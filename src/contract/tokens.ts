import { type Static, Type } from 'typebox';
import { additions, administration, adminOnly } from './define.ts';
import { boolean, EACH, line, maybe, nullable, oneOf, shown, timestamp, token, whole } from './fields.ts';
import { tokenIds, webhookIds } from './ids.ts';
import { MAX_NETWORKS, serviceTokenDays, textLengths } from './limits.ts';
import { paged, pageQuery } from './paging.ts';
import { roles, tokenPermissions } from './values.ts';

const networks = Type.Array(Type.String(), {
  minItems: 1,
  maxItems: MAX_NETWORKS,
  description: 'networks (CIDR, IPv4 or IPv6) from which the token is accepted; absent or null for any',
  examples: [['10.20.0.0/16', '2001:db8::/32']],
  [EACH]: true,
});
const permissions =
  'webhooks: the operations on webhooks; policies: those on policies; scim: /scim/v2, whatever the role; decide: decisions, whatever the role; ssh: the SSH keys of persons, whatever the role; record-use: with decide, each decision that allows a key counts as a use of its device. A token with one of the last four and the role VIEWER can do nothing else';
const may = Type.Array(oneOf(tokenPermissions), {
  description: `permissions of the token beyond its role. ${permissions}`,
});
const tokenId = Type.String({ pattern: tokenIds.pattern, examples: ['TOK-1'] });
const name = shown('name of the token', 'line-3');
const expiresAt = timestamp('when the token expires');

/** Unique among the tokens that are not revoked; a duplicate is refused with 1001. */
const tokenName = line(textLengths.tokenName, {
  description: 'name, unique among the tokens that are not revoked',
  examples: ['line-3'],
});

/** A service token, without its text. */
export const serviceToken = Type.Object({
  tokenId,
  name,
  role: oneOf(roles),
  createdBy: shown('user name of the ADMIN who created it', 'admin'),
  owner: nullable(shown('user name of the account that it ends with; null if the registry does not know it', 'admin')),
  ownerLost: boolean(
    'whether it is refused because the account of its owner is disabled, or the person of that account has left',
  ),
  createdAt: timestamp('when it was created'),
  expiresAt,
  may,
  lastUsedAt: nullable(timestamp('when it was last accepted')),
  revokedAt: nullable(timestamp('when it was revoked')),
  allowedFrom: nullable(
    Type.Array(Type.String(), { description: 'networks (CIDR) from which it is accepted; null for any' }),
  ),
});
/** A service token, without its text. Those that were created before `may` existed have an empty one. */
export type ServiceToken = Static<typeof serviceToken>;

/** Operations on service tokens. */
export const tokenOperations = additions('Service tokens', {
  /** The only response that contains the token: the daemon stores its SHA-256. */
  createToken: {
    summary: 'Create a service token',
    description:
      'For a program that would otherwise need the password of a person. Accepted wherever the token of a login is, with the permissions of its role; the operations on webhooks and policies also need `may`. It is refused with 1004 while the account of its creator is disabled, or if the person of that account has left. This response is the only one that contains the token.',
    ...administration,
    body: Type.Object({
      name: tokenName,
      role: oneOf(roles),
      expiresInDays: whole('days for which the token is valid', serviceTokenDays),
      allowedFrom: maybe(networks),
      may: maybe(
        Type.Array(oneOf(tokenPermissions), {
          minItems: 0,
          maxItems: tokenPermissions.length,
          description: `permissions of the token beyond its role, each once; absent or null for none. ${permissions}`,
          examples: [['webhooks']],
        }),
      ),
    }),
    data: Type.Object({
      tokenId,
      token: Type.String({
        description: 'send it as Authorization: Bearer TOKEN',
        examples: ['devmgr_0000000000000000000000000000000000000000000SAMPLE'],
      }),
      name,
      role: oneOf(roles),
      expiresAt,
      may,
    }),
    example: { body: { name: 'line-3', role: 'DEALER', expiresInDays: 90, allowedFrom: ['10.20.0.0/16'], may: [] } },
  },

  /** Tokens that have expired or were revoked are listed too. */
  listTokens: {
    summary: 'List service tokens',
    ...adminOnly,
    query: Type.Object(pageQuery()),
    data: paged(serviceToken),
  },

  /** Idempotent: for the owner, nothing changes. The text of the token stays the same. */
  adoptToken: {
    summary: 'Take over a service token',
    description:
      'Makes the caller its owner: it no longer ends with the account of the earlier one. Anyone who has a copy of the token can still use it. 1001 for a token that is revoked or has expired.',
    ...administration,
    params: Type.Object({ tokenId: token({ description: 'id of the service token', examples: ['TOK-1'] }) }),
    data: serviceToken,
    errors: [404],
    example: { params: { tokenId: 'TOK-1' } },
  },

  /** Idempotent: revoking a revoked token succeeds and changes nothing; `made` is what still exists then. */
  revokeToken: {
    summary: 'Revoke a service token',
    description:
      'Permanent. The next request with the token is refused with 1004, and its streams close with 4401. Webhooks that it has created continue: `made` names them, so that they can be removed.',
    ...administration,
    params: Type.Object({ tokenId: token({ description: 'id of the service token', examples: ['TOK-1'] }) }),
    data: Type.Object({
      ...serviceToken.properties,
      made: Type.Object(
        {
          webhooks: Type.Array(Type.String({ pattern: webhookIds.pattern }), {
            description: 'ids of the webhooks that the token has created and that still exist',
            examples: [['WHK-1']],
          }),
        },
        { description: 'what the token has created and what continues without it' },
      ),
    }),
    errors: [404],
    example: { params: { tokenId: 'TOK-1' } },
  },
});
