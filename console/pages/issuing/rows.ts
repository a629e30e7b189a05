/** The rows of the page Providers: what has one name is one provider. */
import type { DirectorySettings } from '../../../src/contract/directory.ts';
import type { SsoSettings } from '../../../src/contract/sso.ts';
import { failedChecks, type ProviderPart, partsOf } from '../../../src/fleet/provider-parts.ts';
import { allTokens } from '../../api/every-page.ts';
import { Problem } from '../../api/problem.ts';
import { call, type Data, serverNow } from '../../api/request.ts';
import { providers as words } from '../../text/words.ts';

/** A provider with all its purposes. */
export interface ProviderRow extends Pick<ProviderPart, 'name' | 'type' | 'address' | 'item'> {
  readonly parts: readonly ProviderPart[];
  readonly settings: ProviderSettings;
}

/** What tests in this tab have found, and when, by the names of parts. The problem is null of those that work. */
const tested = new Map<string, Readonly<{ at: string; problem: string | null }>>();
const partName = ({ name, gives, type }: ProviderPart): string => `${gives} ${type} ${name}`;

/** The last test of a part in this tab, or run of a directory. */
export const testedOf = (part: ProviderPart) => tested.get(partName(part));

/** The known problem of a part. */
export const problemOf = (part: ProviderPart): string | null =>
  part.problem ?? (part.tokenProblem ? words.tokenProblem[part.tokenProblem] : (testedOf(part)?.problem ?? null));

/** Whether a part works. One that was never asked, or without a known answer, is not tested. */
export function stateOf(part: ProviderPart): 'works' | 'fails' | 'untested' {
  if (problemOf(part) !== null) return 'fails';
  const hasWorked = part.type === 'scim' || (part.item?.credentials ?? 0) > 0 || testedOf(part) !== undefined;
  return hasWorked ? 'works' : 'untested';
}

/** Null if the registry has no such settings. */
export const unlessLeftOut = <T>(request: Promise<T>): Promise<T | null> =>
  request.catch(error => {
    if (error instanceof Problem && error.code === 404) return null;
    throw error;
  });

/** The settings of which a registry has at most one; null if it can have none. */
export interface ProviderSettings {
  readonly oidc: SsoSettings | null;
  readonly ldap: DirectorySettings | null;
}

/** The settings as they are stored, or the usual ones. */
export async function providerSettings(signal: AbortSignal): Promise<ProviderSettings> {
  const [oidc, ldap] = await Promise.all([
    unlessLeftOut(call('showSsoSettings', {}, { signal })),
    unlessLeftOut(call('showDirectory', {}, { signal })),
  ]);
  return { oidc, ldap };
}

/** All providers. */
export async function providerRows(signal: AbortSignal): Promise<readonly ProviderRow[]> {
  const [{ list }, settings, tokens] = await Promise.all([
    call('listProviders', {}, { signal }),
    providerSettings(signal),
    allTokens(signal),
  ]);
  const { oidc, ldap } = settings;
  const { lastRun } = ldap ?? {};
  if (lastRun)
    for (const part of partsOf([], null, ldap, []))
      if ((testedOf(part)?.at ?? '') < lastRun.at) tested.set(partName(part), lastRun);
  const named = Map.groupBy(partsOf(list, oidc, ldap, tokens), ({ name }) => name);
  return [...named.values()].map(parts => {
    const { name, type, item } = parts[0]!;
    const address = parts.find(part => part.address !== null)?.address ?? null;
    return { name, type, address, item, parts, settings };
  });
}

/** What was asked of a part, and what was found. */
export interface ProviderCheck {
  readonly check: string;
  readonly ok: boolean;
  readonly detail: string;
}

/** The result of a test. */
export interface ProviderTest {
  readonly part: ProviderPart;
  readonly problem: string | null;
  readonly checks: readonly ProviderCheck[];
  /** What to enter at a provider of sign-in. */
  readonly register?: Data<'testSso'>['register'];
}

async function testOf(part: ProviderPart, signal: AbortSignal): Promise<Omit<ProviderTest, 'part'>> {
  if (part.type === 'oidc') {
    const found = await call('testSso', {}, { signal });
    return { problem: failedChecks(found), checks: found.findings, register: found.register };
  }
  if (part.type === 'ldap') {
    const found = await call('testDirectory', {}, { signal });
    return { problem: failedChecks(found), checks: found.findings };
  }
  const oneCheck = (check: string, problem: string | null) => ({
    problem,
    checks: [{ check, ok: problem === null, detail: problem ?? '' }],
  });
  if (part.item === null) return oneCheck('token', problemOf(part));
  const params = { providerId: part.item.providerId };
  const { reachable, problem } = await call('testProvider', { params }, { signal });
  return oneCheck('request', reachable ? null : (problem ?? ''));
}

/** Asks for each thing that a provider gives. */
export async function testsOf(parts: readonly ProviderPart[], signal: AbortSignal): Promise<readonly ProviderTest[]> {
  const tests: ProviderTest[] = [];
  for (const part of parts) {
    const result = await testOf(part, signal);
    if (part.type !== 'scim')
      tested.set(partName(part), { at: new Date(serverNow()).toISOString(), problem: result.problem });
    tests.push({ part, ...result });
  }
  return tests;
}

/** Removes a thing that a provider gives. Idempotent. */
export async function removePart({ type, item, token }: ProviderPart, key: string): Promise<void> {
  if (token) await call('revokeToken', { params: { tokenId: token.tokenId } }, { key });
  else if (item) await call('removeProvider', { params: { providerId: item.providerId } }, { key });
  else await call(type === 'oidc' ? 'setSso' : 'setDirectory', { body: { enabled: false } }, { key });
}
