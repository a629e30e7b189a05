/** The rows of the page Providers: what has one name is one provider. */
import type { ServiceToken } from '../../../src/contract/tokens.ts';
import { failedChecks, type ProviderPart, partsOf } from '../../../src/fleet/provider-parts.ts';
import { Problem } from '../../api/problem.ts';
import { call } from '../../api/request.ts';
import { providers as words } from '../../text/words.ts';

/** A provider with all its purposes. */
export interface ProviderRow extends Pick<ProviderPart, 'name' | 'type' | 'address' | 'item'> {
  /** Empty if no keys are issued at it. */
  readonly providerId: string;
  readonly parts: readonly ProviderPart[];
}

/** The known problem of a part. */
export const problemOf = ({ problem, tokenProblem }: ProviderPart): string | null =>
  problem ?? (tokenProblem && words.tokenProblem[tokenProblem]);

/** Parts that have worked in this tab, as their names. */
const worked = new Set<string>();
const partName = ({ name, gives }: ProviderPart): string => `${gives} ${name}`;

/** Whether a part works. One that was never asked, or without a known answer, is not tested. */
export function stateOf(part: ProviderPart): 'works' | 'fails' | 'untested' {
  if (problemOf(part) !== null) return 'fails';
  const hasWorked = part.type === 'scim' || (part.item?.credentials ?? 0) > 0 || worked.has(partName(part));
  return hasWorked ? 'works' : 'untested';
}

/** Null if the registry has no such settings. */
const unlessLeftOut = <T>(request: Promise<T>): Promise<T | null> =>
  request.catch(error => {
    if (error instanceof Problem && error.code === 404) return null;
    throw error;
  });

async function tokensOf(signal: AbortSignal): Promise<ServiceToken[]> {
  const found: ServiceToken[] = [];
  for (let page = 1, pages = 1; page <= pages; page++) {
    const { list, pagination } = await call('listTokens', { query: { page, size: 100 } }, { signal });
    found.push(...list);
    pages = pagination.totalPages;
  }
  return found;
}

/** All providers. */
export async function providerRows(signal: AbortSignal): Promise<readonly ProviderRow[]> {
  const [{ list }, sso, directory, tokens] = await Promise.all([
    call('listProviders', {}, { signal }),
    unlessLeftOut(call('showSsoSettings', {}, { signal })),
    unlessLeftOut(call('showDirectory', {}, { signal })),
    tokensOf(signal),
  ]);
  if (directory?.lastRun && !directory.lastRun.problem)
    for (const part of partsOf([], null, directory, [])) worked.add(partName(part));
  const named = Map.groupBy(partsOf(list, sso, directory, tokens), ({ name }) => name);
  return [...named.values()].map(parts => {
    const { name, type, item } = parts[0]!;
    const address = parts.find(part => part.address !== null)?.address ?? null;
    return { name, type, address, item, providerId: item?.providerId ?? '', parts };
  });
}

const checkOf = async (part: ProviderPart): Promise<string | null> => {
  if (part.type === 'oidc') return failedChecks(await call('testSso', {}));
  if (part.type === 'ldap') return failedChecks(await call('testDirectory', {}));
  if (part.item === null) return problemOf(part);
  const { reachable, problem } = await call('testProvider', { params: { providerId: part.item.providerId } });
  return reachable ? null : (problem ?? '');
};

/** Asks for each thing that the provider gives, and reports what works. */
export async function testOf({ name, parts }: ProviderRow): Promise<string> {
  const reports: string[] = [];
  for (const part of parts) {
    const problem = await checkOf(part);
    if (problem === null) worked.add(partName(part));
    else worked.delete(partName(part));
    const report = problem === null ? words.accepts(name) : words.fails(name, problem);
    reports.push(parts.length === 1 ? report : `${words.column[part.gives]}: ${report}`);
  }
  return reports.join(' ');
}
