/** Parts of providers: keys by the settings of issuing, sign-in by single sign-on, people by the directory and tokens for SCIM. No I/O. */
import type { DirectorySettings } from '../contract/directory.ts';
import type { ProviderItem } from '../contract/providers.ts';
import type { SsoSettings } from '../contract/sso.ts';
import type { ServiceToken } from '../contract/tokens.ts';

/** Names of the parts that a provider can give, in flags and results. */
export const partNames = ['sign-in', 'people', 'keys'] as const;
/** Sign-in, people or keys. */
export type PartName = (typeof partNames)[number];

/** One thing that a provider gives. */
export interface ProviderPart {
  readonly name: string;
  readonly gives: PartName;
  readonly type: ProviderItem['type'] | 'oidc' | 'ldap' | 'scim';
  readonly address: string | null;
  /** A problem that is known without a test, in the words of the daemon. */
  readonly problem: string | null;
  /** Why a token cannot send persons, or may not. */
  readonly tokenProblem: 'expired' | 'no owner' | 'unused' | null;
  /** The provider of the list of those that issue keys. */
  readonly item: ProviderItem | null;
  readonly token: ServiceToken | null;
}

const part = (given: Pick<ProviderPart, 'name' | 'gives' | 'type'> & Partial<ProviderPart>): ProviderPart => ({
  address: null,
  problem: null,
  tokenProblem: null,
  item: null,
  token: null,
  ...given,
});

/** Sign-in by single sign-on. */
export const signInPart = (name: string, address: string | null): ProviderPart =>
  part({ name, gives: 'sign-in', type: 'oidc', address });

/** People of the directory. */
export const directoryPart = (name: string, address: string | null, problem: string | null): ProviderPart =>
  part({ name, gives: 'people', type: 'ldap', address, problem });

/** The host of an address; the text itself if it is none. */
const hostOf = (address: string | null): string =>
  address !== null && URL.canParse(address) ? new URL(address).host : (address ?? '');

function tokenProblemOf({ expiresAt, lastUsedAt, ownerLost }: ServiceToken): ProviderPart['tokenProblem'] {
  if (Date.parse(expiresAt) <= Date.now()) return 'expired';
  if (ownerLost) return 'no owner';
  return lastUsedAt === null ? 'unused' : null;
}

/** All that is set up: first what issues keys, then sign-in, then people. Null: the caller may not see it. */
export function partsOf(
  issuing: readonly ProviderItem[],
  sso: SsoSettings | null,
  directory: DirectorySettings | null,
  tokens: readonly ServiceToken[],
): readonly ProviderPart[] {
  const found = issuing.map(item => {
    const { name, type, address = null, problem } = item;
    return part({ name, gives: 'keys', type, address, problem, item });
  });
  if (sso?.enabled === true) found.push(signInPart(sso.name ?? hostOf(sso.issuer), sso.issuer));
  if (directory?.enabled === true) {
    const { url, lastRun } = directory;
    // A server of an earlier version has no name.
    found.push(directoryPart(directory.name ?? hostOf(url), url, lastRun?.problem ?? null));
  }
  for (const token of tokens)
    if (token.revokedAt === null && token.may?.includes('scim'))
      found.push(part({ name: token.name, gives: 'people', type: 'scim', tokenProblem: tokenProblemOf(token), token }));
  return found;
}

interface Findings {
  readonly ok: boolean;
  readonly findings: readonly { readonly ok: boolean; readonly check: string; readonly detail: string }[];
}

/** The checks that failed, in words; null if all is well. */
export const failedChecks = ({ ok, findings }: Findings): string | null =>
  ok ? null : findings.flatMap(({ ok, check, detail }) => (ok ? [] : [`${check}: ${detail}`])).join('; ') || 'refused';
