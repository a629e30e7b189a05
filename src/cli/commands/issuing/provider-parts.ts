/** Actions of commands on each thing that a provider gives. */
import { Code } from '../../../contract/codes.ts';
import { shownProviderSettings } from '../../../contract/provider-fields.ts';
import type { ProviderItem } from '../../../contract/providers.ts';
import type { ServiceToken } from '../../../contract/tokens.ts';
import {
  directoryPart,
  failedChecks,
  type PartName,
  type ProviderPart,
  partsOf,
  signInPart,
} from '../../../fleet/provider-parts.ts';
import type { Client } from '../../client/client.ts';
import { nullIfRefused } from '../../client/failures.ts';
import { itemsOf } from '../../client/pages.ts';
import { exitCodes } from '../../exit-codes.ts';
import type { Context } from '../../framework/context.ts';
import { type CardRow, present, type Result } from '../../framework/present.ts';
import { safe } from '../../terminal/text.ts';
import { localTime } from '../../terminal/when.ts';
import { removeDirectory, showDirectory, testDirectory } from '../directory/directory.ts';
import { removeSso, showSso, testSso } from '../single-sign-on/sso.ts';
import { absentProvider } from './flags.ts';

/** One thing that a provider gives, and what commands do with it. */
export interface Part extends ProviderPart {
  show(context: Context): Promise<Result>;
  /** Asks whether it works: the problem, null if all is well. */
  check(context: Context): Promise<string | null>;
  /** Asks, and shows all that was found; null if `check` reports everything. */
  readonly test: ((context: Context) => Promise<number>) | null;
  remove(context: Context): Promise<Result>;
}

const signIn = (part: ProviderPart): Part => ({
  ...part,
  ...{ show: showSso, test: testSso, remove: removeSso },
  check: async ({ registry }) => failedChecks(await registry.call('testSso')),
});

const directory = (part: ProviderPart): Part => ({
  ...part,
  ...{ show: showDirectory, test: testDirectory, remove: removeDirectory },
  check: async ({ registry }) => failedChecks(await registry.call('testDirectory')),
});

const tokenProblems = {
  expired: ({ expiresAt }: ServiceToken) => `its token expired ${localTime(expiresAt)}`,
  'no owner': () => 'its token has no owner',
  unused: () => 'its token was never used',
};

function scim(part: ProviderPart, token: ServiceToken): Part {
  const { tokenId, name } = token;
  const problem = part.tokenProblem && tokenProblems[part.tokenProblem](token);
  const card = (data: ServiceToken, title: string): Result => ({
    data,
    id: tokenId,
    title,
    rows: [
      ['token', safe(tokenId)],
      ['valid until', localTime(data.expiresAt)],
      ['last used', data.lastUsedAt === null ? 'never' : localTime(data.lastUsedAt)],
    ],
  });
  return {
    ...{ ...part, problem, test: null },
    show: async () => card(token, `${safe(name)} sends persons over SCIM`),
    check: async () => problem,
    remove: async ({ registry }) =>
      card(await registry.call('revokeToken', { params: { tokenId } }), `${safe(name)} can no longer send persons`),
  };
}

function keys(part: ProviderPart, item: ProviderItem): Part {
  const { providerId, name, type, problem } = item;
  const params = { providerId };
  const card = (title: string, rows: readonly CardRow[]): Result => ({ data: item, id: providerId, title, rows });
  return {
    ...part,
    show: async () =>
      card(`Keys are issued at ${safe(name)}`, [
        ['provider', safe(providerId)],
        ['type', safe(type)],
        ...shownProviderSettings.map((setting): CardRow => [setting, safe(item[setting] ?? '') || null]),
        ['credentials', String(item.credentials)],
        ['to remove', String(item.pending)],
        ['problem', problem && safe(problem)],
      ]),
    async check({ registry }) {
      const { reachable, problem } = await registry.call('testProvider', { params });
      return reachable === true ? null : (problem ?? 'refused');
    },
    async test(context) {
      const data = await context.registry.call('testProvider', { params });
      const rows: CardRow[] = [
        ['problem', safe(data.problem)],
        ['proxy', safe(data.proxy ?? null)],
      ];
      const title = `${safe(name)} ${data.reachable === true ? 'accepts requests of this registry' : 'does not work'}`;
      await present(context, { data, id: providerId, title, rows });
      return data.reachable === true ? exitCodes.done : exitCodes.failure;
    },
    async remove({ registry }) {
      const data = await registry.call('removeProvider', { params });
      return { data, id: providerId, title: `${safe(name)} is removed`, rows: [] };
    },
  };
}

/** A caller that may not see one of them, or has a server of an earlier version, gets the others. */
const unlessRefused = <T>(request: Promise<T>) => nullIfRefused(request, 404, Code.noPermission);

async function allTokens(registry: Client): Promise<readonly ServiceToken[]> {
  const found: ServiceToken[] = [];
  for await (const token of itemsOf(registry, 'listTokens')) found.push(token);
  return found;
}

/** All that is set up and that the caller may see: first what issues keys, then sign-in, then people. */
export async function providerParts(registry: Client): Promise<readonly Part[]> {
  const [{ list }, sso, ldap, tokens] = await Promise.all([
    registry.call('listProviders'),
    unlessRefused(registry.call('showSsoSettings')),
    unlessRefused(registry.call('showDirectory')),
    unlessRefused(allTokens(registry)),
  ]);
  return partsOf(list, sso, ldap, tokens ?? []).map(part => {
    if (part.item) return keys(part, part.item);
    if (part.token) return scim(part, part.token);
    return part.type === 'ldap' ? directory(part) : signIn(part);
  });
}

/** Flags that name what a provider gives. */
export type PartChoice = Readonly<Record<'signIn' | 'people' | 'keys', boolean>>;

/** Whether flags choose a part; without one they choose all. */
export const isChosen = (gives: PartName, { signIn, people, keys }: PartChoice): boolean =>
  !(signIn || people || keys) || { 'sign-in': signIn, people, keys }[gives];

/** Things that the named provider gives, of those that the flags choose. `oidc` and `ldap` also name single sign-on and the directory. */
export async function namedParts(registry: Client, named: string, choice: PartChoice): Promise<readonly Part[]> {
  if (named === 'oidc') return [signIn(signInPart(named, null))];
  if (named === 'ldap') return [directory(directoryPart(named, null, null))];
  const found = (await providerParts(registry)).filter(({ name, item }) => [name, item?.providerId].includes(named));
  const parts = found.filter(({ gives }) => isChosen(gives, choice));
  if (parts.length === 0)
    throw absentProvider(
      named,
      found.length === 0 ? '' : `: it only gives ${found.map(part => part.gives).join(', ')}`,
    );
  return parts;
}
