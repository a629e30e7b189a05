/** What the page reads and changes. */
import type { DataOf, InputOf } from '../../../src/contract/define.ts';
import type { Routes } from '../../../src/contract/routes.ts';
import type { ServiceToken } from '../../../src/contract/tokens.ts';
import { Problem } from '../../api/problem.ts';
import { call } from '../../api/request.ts';

/** Tokens on one page of the list. */
const SIZE = 50;

/** The operations that change tokens. */
type TokenRequest = 'createToken' | 'revokeToken';
/** A token that was just created, with its text. */
export type CreatedToken = DataOf<Routes['createToken']>;

/** A page of the list, the newest tokens first. */
export const listTokens = (page: number, signal: AbortSignal): Promise<DataOf<Routes['listTokens']>> =>
  call('listTokens', { query: { page, size: SIZE } }, { signal });

/** Carries out a change. All changes of the page go through this function. */
export const changeToken = <N extends TokenRequest>(name: N, input: InputOf<Routes[N]>): Promise<DataOf<Routes[N]>> =>
  call(name, input);

/** All webhooks. */
export const listWebhooks = (signal: AbortSignal): Promise<DataOf<Routes['listWebhooks']>> =>
  call('listWebhooks', {}, { signal });

/** Removes a webhook. One that another person has removed is done. `key`: the same for each attempt. */
export async function removeWebhook(webhookId: string, key: string): Promise<void> {
  try {
    await call('removeWebhook', { params: { webhookId } }, { key });
  } catch (error) {
    if (!(error instanceof Problem && error.code === 404)) throw error;
  }
}

/** States of a token. */
type TokenState = 'valid' | 'expired' | 'revoked';

/** The state of a token at a time, in milliseconds since 1970. */
export function stateOf({ revokedAt, expiresAt }: ServiceToken, now: number): TokenState {
  if (revokedAt !== null) return 'revoked';
  return Date.parse(expiresAt) <= now ? 'expired' : 'valid';
}

/** The networks in a text, separated by commas, spaces or lines. */
export const networksIn = (text: string): string[] => text.split(/[\s,;]+/).filter(Boolean);
