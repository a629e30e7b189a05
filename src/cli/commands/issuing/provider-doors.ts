/** What gives sign-in and people beside the providers at which keys are issued: single sign-on, the directory, and tokens for SCIM. */
import { Code } from '../../../contract/codes.ts';
import type { ServiceToken } from '../../../contract/tokens.ts';
import type { Client } from '../../client/client.ts';
import { nullIfRefused } from '../../client/failures.ts';
import { itemsOf } from '../../client/pages.ts';
import { textsIn } from '../../terminal/text.ts';
import { localTime } from '../../terminal/when.ts';

/** A provider of the list: what it gives, each true or false. */
export interface Door {
  readonly name: string;
  readonly type: 'oidc' | 'ldap' | 'scim';
  readonly address: string | null;
  readonly problem: string | null;
  readonly gives: 'signIn' | 'people';
  /** Asks whether it works; null if it cannot be asked, and its problem is all that is known. */
  readonly test: (() => Promise<string | null>) | null;
}

interface Findings {
  readonly ok: boolean;
  readonly findings: readonly { readonly ok: boolean; readonly check: string; readonly detail: string }[];
}

const hostOf = (address: string): string => (URL.canParse(address) ? new URL(address).host : address);

/** The checks that failed, in words; null if all is well. */
const failed = ({ ok, findings }: Findings): string | null =>
  ok ? null : findings.flatMap(({ ok, check, detail }) => (ok ? [] : [`${check}: ${detail}`])).join('; ') || 'refused';

/** A caller that may not see one of them, or has a server of an earlier version, gets the others. */
const unlessRefused = <T>(request: Promise<T>) => nullIfRefused(request, 404, Code.noPermission);

async function scimTokens(registry: Client): Promise<readonly ServiceToken[]> {
  const found: ServiceToken[] = [];
  for await (const token of itemsOf(registry, 'listTokens'))
    if (token.revokedAt === null && textsIn(token.may).includes('scim')) found.push(token);
  return found;
}

/** Single sign-on, the directory and the tokens for SCIM, as far as they are set up and the caller may see them. */
export async function providerDoors(registry: Client): Promise<readonly Door[]> {
  const [sso, directory, tokens] = await Promise.all([
    unlessRefused(registry.call('showSsoSettings')),
    unlessRefused(registry.call('showDirectory')),
    unlessRefused(scimTokens(registry)),
  ]);
  const doors: Door[] = [];
  if (sso?.enabled === true)
    doors.push({
      name: sso.name ?? hostOf(sso.issuer ?? ''),
      type: 'oidc',
      address: sso.issuer,
      problem: null,
      gives: 'signIn',
      test: async () => failed(await registry.call('testSso')),
    });
  if (directory?.enabled === true)
    doors.push({
      name: hostOf(directory.url ?? ''),
      type: 'ldap',
      address: directory.url,
      problem: directory.lastRun?.problem ?? null,
      gives: 'people',
      test: async () => failed(await registry.call('testDirectory')),
    });
  for (const { name, expiresAt, lastUsedAt, ownerLost } of tokens ?? []) {
    const isOver = Date.parse(expiresAt) <= Date.now();
    const problem = isOver ? `its token expired ${localTime(expiresAt)}` : ownerLost ? 'its token has no owner' : null;
    const unused = lastUsedAt === null ? 'its token was never used' : null;
    doors.push({ name, type: 'scim', address: null, problem: problem ?? unused, gives: 'people', test: null });
  }
  return doors;
}
