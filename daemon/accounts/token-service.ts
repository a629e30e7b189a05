import { ApiError, Code, inputError } from '../../src/contract/codes.ts';
import { dayMs } from '../../src/contract/durations.ts';
import { tokenIds, webhookIds } from '../../src/contract/ids.ts';
import type { Body, Data, Query } from '../../src/contract/routes.ts';
import type * as api from '../../src/contract/tokens.ts';
import type { TokenPermission } from '../../src/contract/values.ts';
import { isCidr } from '../base/networks.ts';
import { iso } from '../base/time.ts';
import type { MadeWebhook, ServiceTokenRecord } from '../requests/callers.ts';
import { type Context, commitFor, retrying, Service, type ServiceParts } from '../requests/context.ts';
import { readPage } from '../store/page.ts';
import type { LastUses } from './last-uses.ts';
import * as present from './present.ts';
import * as domain from './service-token.ts';
import { newServiceTokenText, serviceTokenDigest } from './service-token-text.ts';
import { isOwnerLost, ownerOf } from './service-tokens.ts';

/** Dependencies of the service. */
interface TokenServiceParts extends ServiceParts {
  readonly lastUses: LastUses;
  /** The webhooks of the registry. */
  readonly webhooks: () => Promise<readonly MadeWebhook[]>;
}

/** The operations on service tokens. A refusal is thrown as an `ApiError`. */
export class TokenService extends Service<TokenServiceParts> {
  /** Only people create tokens, so the caller is a user. */
  async create(context: Context, body: Body<'createToken'>): Promise<Data<'createToken'>> {
    const { name, role, expiresInDays } = body;
    const allowedFrom = readNetworks(body.allowedFrom ?? null);
    const may = readPermissions(body.may ?? []);
    const text = newServiceTokenText();
    const at = this.now();
    const expiresAt = at + expiresInDays * dayMs;
    const { username: createdBy, number: owner } = context.caller.user!;
    const token = { name, role, sha256: serviceTokenDigest(text), createdBy, owner, expiresAt, allowedFrom, may };
    const [result] = await commitFor(this.store, context, { at, changes: [domain.create(token)] });
    if (result?.kind !== 'added') throw inputError('name', `${name} already exists: revoke that token first`);
    const shown = { name, role, expiresAt: iso(expiresAt), may: [...may] };
    return { tokenId: tokenIds.format(result.number), token: text, ...shown };
  }

  async list(query: Query<'listTokens'>): Promise<Data<'listTokens'>> {
    const { list, pagination } = await readPage(query, window => this.store.serviceTokens(window));
    return { list: await Promise.all(list.map(row => this.#present(row))), pagination };
  }

  /** Makes the caller, who is a user, the owner of a token. */
  async adopt(context: Context, tokenId: string): Promise<Data<'adoptToken'>> {
    const { number } = context.caller.user!;
    return retrying(async () => {
      const token = await this.#find(tokenId);
      const at = this.now();
      if (token.revokedAt !== null || token.expiresAt <= at)
        throw new ApiError(Code.parameterError, 'this service token is revoked or has expired: create another one');
      if (token.owner !== number) await commitFor(this.store, context, { at, changes: [domain.adopt(token, number)] });
      return this.#present({ ...token, owner: number });
    });
  }

  /** A token that is revoked already stays as it is. */
  async revoke(context: Context, tokenId: string): Promise<Data<'revokeToken'>> {
    const revoked = await retrying(async () => {
      const token = await this.#find(tokenId);
      if (token.revokedAt !== null) return token;
      const at = this.now();
      await commitFor(this.store, context, { at, changes: [domain.revoke(token)] });
      return { ...token, revokedAt: at };
    });
    return { ...(await this.#present(revoked)), made: { webhooks: await this.#webhooksOf(revoked) } };
  }

  /** To be read after the token was revoked: before, it can create another one. */
  async #webhooksOf(token: ServiceTokenRecord): Promise<string[]> {
    const list = await this.parts.webhooks();
    return list.filter(webhook => domain.hasMade(token, webhook)).map(({ number }) => webhookIds.format(number));
  }

  async #find(tokenId: string): Promise<ServiceTokenRecord> {
    const number = tokenIds.parse(tokenId);
    const token = number === null ? null : await this.store.serviceToken(number);
    if (!token) throw new ApiError(404, 'service token does not exist');
    return token;
  }

  async #present(token: ServiceTokenRecord): Promise<api.ServiceToken> {
    const owner = await ownerOf(this.store, token);
    const ownerLost = await isOwnerLost(this.store, owner);
    const lastUsedAt = this.parts.lastUses.latest(token.number, token.lastUsedAt);
    return present.serviceToken({ ...token, lastUsedAt }, { owner: owner?.username ?? null, ownerLost });
  }
}

/** The networks of a request. Refuses with 1001 if one of them is not a CIDR. */
function readNetworks(given: readonly unknown[] | null): readonly string[] | null {
  const wrong = given?.findIndex(network => typeof network !== 'string' || !isCidr(network)) ?? -1;
  if (wrong >= 0)
    throw inputError(`allowedFrom[${wrong}]`, 'must be a network in CIDR form, such as 10.20.0.0/16 or 2001:db8::/32');
  return given as readonly string[] | null;
}

/** The permissions of a request. Refuses with 1001 one that is repeated. */
function readPermissions(given: readonly TokenPermission[]): readonly TokenPermission[] {
  const repeated = given.findIndex((permission, i) => given.indexOf(permission) < i);
  if (repeated >= 0) throw inputError(`may[${repeated}]`, `repeats ${given[repeated]}`);
  return given;
}
