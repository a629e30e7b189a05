/** The accounts of a person, and the tokens and webhooks that they have created. */

import { tokenIds, userIds } from '../../src/contract/ids.ts';
import { hasMade } from '../accounts/service-token.ts';
import { isOwnerLost, ownerOf } from '../accounts/service-tokens.ts';
import type { MadeWebhook, ServiceTokenRecord, UserRecord } from '../requests/callers.ts';
import type { Store } from '../store/store.ts';

interface PersonAccess {
  readonly accounts: readonly UserRecord[];
  /** Neither revoked nor expired. */
  readonly tokens: readonly ServiceTokenRecord[];
}

/** The accounts with the user name of a person, and the tokens that end with them at `now`. */
export async function accessOf(
  store: Pick<Store, 'usersNamed' | 'serviceTokensOf'>,
  { userName }: { readonly userName: string },
  now: number,
): Promise<PersonAccess> {
  const accounts = await store.usersNamed(userName);
  const tokens = await Promise.all(accounts.map(({ number }) => store.serviceTokensOf(number)));
  return { accounts, tokens: tokens.flat().filter(({ expiresAt }) => expiresAt > now) };
}

/** The webhooks that these accounts or tokens have created. */
export function webhooksMadeBy(list: readonly MadeWebhook[], { accounts, tokens }: PersonAccess): MadeWebhook[] {
  const ids = new Set<string | null | undefined>(accounts.map(({ number }) => userIds.format(number)));
  return list.filter(webhook => ids.has(webhook.madeBy) || tokens.some(token => hasMade(token, webhook)));
}

/** The enabled webhooks of accounts that have left or are disabled, made by the account or by a token that it owns. */
export async function ownerlessWebhooks(
  list: readonly MadeWebhook[],
  store: Pick<Store, 'user' | 'userByName' | 'serviceToken' | 'personByName'>,
): Promise<MadeWebhook[]> {
  const isLost = async ({ madeBy, disabled }: MadeWebhook) => {
    if (disabled !== null || !madeBy) return false;
    const token = tokenIds.parse(madeBy);
    const made = token === null ? null : await store.serviceToken(token);
    const owner = made ? await ownerOf(store, made) : await store.user(userIds.parse(madeBy) ?? 0);
    return isOwnerLost(store, owner);
  };
  const lost = await Promise.all(list.map(isLost));
  return list.filter((_, index) => lost[index]);
}
