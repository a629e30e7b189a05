/** What providers give: keys by the settings of issuing, sign-in by single sign-on, people by the directory and tokens for SCIM. */
import { Code } from '../../../contract/codes.ts';
import { shownProviderSettings } from '../../../contract/provider-fields.ts';
import type { ProviderItem } from '../../../contract/providers.ts';
import type { ServiceToken } from '../../../contract/tokens.ts';
import type { Client } from '../../client/client.ts';
import { nullIfRefused } from '../../client/failures.ts';
import { itemsOf } from '../../client/pages.ts';
import { exitCodes } from '../../exit-codes.ts';
import type { Context } from '../../framework/context.ts';
import { type CardRow, present, type Result } from '../../framework/present.ts';
import { safe, textsIn } from '../../terminal/text.ts';
import { localTime } from '../../terminal/when.ts';
import { removeDirectory, showDirectory, testDirectory } from '../directory/directory.ts';
import { removeSso, showSso, testSso } from '../single-sign-on/sso.ts';
import { absentProvider } from './flags.ts';

/** What a provider can give, as flags and results name it. */
export const partNames = ['sign-in', 'people', 'keys'] as const;
/** Sign-in, people or keys. */
export type PartName = (typeof partNames)[number];

/** One thing that a provider gives. */
export interface Part {
  readonly name: string;
  readonly gives: PartName;
  readonly type: ProviderItem['type'] | 'oidc' | 'ldap' | 'scim';
  readonly address: string | null;
  /** A problem that is known without a test. */
  readonly problem: string | null;
  /** The provider of the list of those that issue keys. */
  readonly item: ProviderItem | null;
  show(context: Context): Promise<Result>;
  /** Asks whether it works: the problem, null if all is well. */
  check(context: Context): Promise<string | null>;
  /** Asks, and shows all that was found; null if `check` reports everything. */
  readonly test: ((context: Context) => Promise<number>) | null;
  remove(context: Context): Promise<Result>;
}

interface Findings {
  readonly ok: boolean;
  readonly findings: readonly { readonly ok: boolean; readonly check: string; readonly detail: string }[];
}

/** The host of an address; the text itself if it is none. */
const hostOf = (address: string | null): string =>
  address !== null && URL.canParse(address) ? new URL(address).host : (address ?? '');

/** The checks that failed, in words; null if all is well. */
const failed = ({ ok, findings }: Findings): string | null =>
  ok ? null : findings.flatMap(({ ok, check, detail }) => (ok ? [] : [`${check}: ${detail}`])).join('; ') || 'refused';

const signIn = (name: string, address: string | null): Part => ({
  ...{ name, address, gives: 'sign-in', type: 'oidc', problem: null, item: null },
  ...{ show: showSso, test: testSso, remove: removeSso },
  check: async ({ registry }) => failed(await registry.call('testSso')),
});

const directory = (name: string, address: string | null, problem: string | null): Part => ({
  ...{ name, address, gives: 'people', type: 'ldap', problem, item: null },
  ...{ show: showDirectory, test: testDirectory, remove: removeDirectory },
  check: async ({ registry }) => failed(await registry.call('testDirectory')),
});

function tokenProblem({ expiresAt, lastUsedAt, ownerLost }: ServiceToken): string | null {
  if (Date.parse(expiresAt) <= Date.now()) return `its token expired ${localTime(expiresAt)}`;
  if (ownerLost) return 'its token has no owner';
  return lastUsedAt === null ? 'its token was never used' : null;
}

function scim(token: ServiceToken): Part {
  const { tokenId, name } = token;
  const problem = tokenProblem(token);
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
    ...{ name, gives: 'people', type: 'scim', address: null, problem, item: null, test: null },
    show: async () => card(token, `${safe(name)} sends persons over SCIM`),
    check: async () => problem,
    remove: async ({ registry }) =>
      card(await registry.call('revokeToken', { params: { tokenId } }), `${safe(name)} can no longer send persons`),
  };
}

function keys(item: ProviderItem): Part {
  const { providerId, name, type, address = null, problem } = item;
  const params = { providerId };
  const card = (title: string, rows: readonly CardRow[]): Result => ({ data: item, id: providerId, title, rows });
  return {
    ...{ name, gives: 'keys', type, address, problem, item },
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
      const title = `${safe(name)} ${data.reachable === true ? 'accepts requests of this registry' : 'does not work'}`;
      await present(context, { data, id: providerId, title, rows: [['problem', safe(data.problem)]] });
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

async function scimTokens(registry: Client): Promise<readonly ServiceToken[]> {
  const found: ServiceToken[] = [];
  for await (const token of itemsOf(registry, 'listTokens'))
    if (token.revokedAt === null && textsIn(token.may).includes('scim')) found.push(token);
  return found;
}

/** All that is set up and that the caller may see: first what issues keys, then sign-in, then people. */
export async function providerParts(registry: Client): Promise<readonly Part[]> {
  const [{ list }, sso, ldap, tokens] = await Promise.all([
    registry.call('listProviders'),
    unlessRefused(registry.call('showSsoSettings')),
    unlessRefused(registry.call('showDirectory')),
    unlessRefused(scimTokens(registry)),
  ]);
  const found = list.map(keys);
  if (sso?.enabled === true) found.push(signIn(sso.name ?? hostOf(sso.issuer), sso.issuer));
  if (ldap?.enabled === true)
    found.push(directory(ldap.name ?? hostOf(ldap.url), ldap.url, ldap.lastRun?.problem ?? null));
  return [...found, ...(tokens ?? []).map(scim)];
}

/** Flags that name what a provider gives. */
export type PartChoice = Readonly<Record<'signIn' | 'people' | 'keys', boolean>>;

/** Whether flags choose a part; without one they choose all. */
export const isChosen = (gives: PartName, { signIn, people, keys }: PartChoice): boolean =>
  !(signIn || people || keys) || { 'sign-in': signIn, people, keys }[gives];

/** What the named provider gives, of what the flags choose. `oidc` and `ldap` also name single sign-on and the directory. */
export async function namedParts(registry: Client, named: string, choice: PartChoice): Promise<readonly Part[]> {
  if (named === 'oidc') return [signIn(named, null)];
  if (named === 'ldap') return [directory(named, null, null)];
  const found = (await providerParts(registry)).filter(({ name, item }) => [name, item?.providerId].includes(named));
  const parts = found.filter(({ gives }) => isChosen(gives, choice));
  if (parts.length === 0)
    throw absentProvider(
      named,
      found.length === 0 ? '' : `: it only gives ${found.map(part => part.gives).join(', ')}`,
    );
  return parts;
}
