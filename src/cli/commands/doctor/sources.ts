/** Sources of persons and sign-ins: whether directory, providers and tokens of SCIM work. Only an ADMIN can read it. */
import type { ProviderItem } from '../../../contract/providers.ts';
import type { ServiceToken } from '../../../contract/tokens.ts';
import { nullIfRefused } from '../../client/failures.ts';
import { itemsOf } from '../../client/pages.ts';
import { counted } from '../../count.ts';
import { type Context, commandLine } from '../../framework/context.ts';
import { safe, textsIn } from '../../terminal/text.ts';
import { timeAndDistance } from '../../terminal/when.ts';
import { type Check, check } from './checks.ts';

/** Milliseconds after which a token counts as unused: providers ask for something every hour or so. */
const UNUSED_MS = 7 * 86_400_000;

/** The findings; none of what is off, or cannot be read now. */
export async function sourceChecks(context: Context): Promise<readonly Check[]> {
  const registry = context.registry.with({ wait: false });
  const sources = [
    directoryChecks,
    signOnChecks,
    scimChecks,
    leftoverChecks,
    standingChecks,
    refusedChecks,
    unmatchedChecks,
    issuingChecks,
  ];
  return (await Promise.all(sources.map(checks => checks({ ...context, registry }).catch(() => [])))).flat();
}

async function directoryChecks(context: Context): Promise<Check[]> {
  const { enabled, url, lastRun, fullEveryMinutes } = await context.registry.call('showDirectory');
  if (!enabled) return [];
  const found = (state: Check['state'], detail: string, fix: string | null = null) => [
    check('directory', state, `${safe(url ?? '')}: ${detail}`, fix),
  ];
  if (lastRun === null) return found('ok', 'not read yet');
  const read = `read ${timeAndDistance(lastRun.at)}`;
  const test = `look at what the daemon finds: ${commandLine(context, 'providers test ldap')}`;
  if (lastRun.problem !== null)
    return found(
      'failed',
      `${read}, no leavers are recorded: ${safe(lastRun.problem)}`,
      `${test}; then ${commandLine(context, 'providers sync')}`,
    );
  // A run that has read all entries is always recorded.
  const isLate = Date.parse(lastRun.at) < Date.now() - 2 * fullEveryMinutes * 60_000;
  return isLate
    ? found('warning', `last ${read}, although it is due every ${fullEveryMinutes} minutes`, test)
    : found('ok', read);
}

async function signOnChecks(context: Context): Promise<Check[]> {
  const { enabled, issuer } = await context.registry.call('showSso');
  if (!enabled) return [];
  const { ok, findings } = await context.registry.call('testSso');
  const failed = findings.filter(finding => !finding.ok).map(finding => safe(`${finding.check}: ${finding.detail}`));
  const fix = `compare the settings with the provider: ${commandLine(context, 'providers show oidc')}; local accounts sign in without it`;
  return [check('sign-on', ok ? 'ok' : 'failed', [safe(issuer ?? ''), ...failed].join(', '), fix)];
}

async function scimChecks(context: Context): Promise<Check[]> {
  const checks: Check[] = [];
  for await (const token of itemsOf(context.registry, 'listTokens'))
    if (token.may.includes('scim') && token.revokedAt === null) checks.push(scimCheck(context, token, Date.now()));
  return checks;
}

/** Findings of the standing check beside devices: the figure, its words, and the next step. */
const standing = [
  ['accounts', 'enabled account', 'of people who have left', 'people cases'],
  ['tokens', 'accepted service token', 'of people who have left', 'people cases'],
  ['credentials', 'credential', 'of people who have left, not removed by the provider', 'providers list'],
  ['drift', 'active person', 'gone or disabled at the identity provider or in the directory', 'people drift'],
  ['unerased', 'person', 'whom the policy cannot erase: a provider has not removed a credential', 'providers list'],
  ['unreported', 'active person', 'whose source can no longer report that they leave', 'providers list'],
  ['shipments', 'key', 'sent to their persons, whose arrival is overdue', 'events --type SHIPMENT_OVERDUE'],
] as const;

/** A server of an earlier version does not have it. */
async function standingChecks(context: Context): Promise<Check[]> {
  const figures = await nullIfRefused(context.registry.call('checkPeople'), 404);
  if (!figures) return [];
  return standing.flatMap(([name, what, whose, command]) => {
    const figure = figures[name];
    if (!(figure > 0)) return [];
    return [check('leavers', 'warning', `${counted(figure, what)} ${whose}`, `see: ${commandLine(context, command)}`)];
  });
}

/** Access that people who have left still have. */
async function leftoverChecks(context: Context): Promise<Check[]> {
  const { activeDevices, tokens, ...more } = await context.registry.call('countLeftovers');
  const webhooks = textsIn(more.webhooks);
  const checks: Check[] = [];
  if (activeDevices > 0) {
    const what = `${counted(activeDevices, 'ACTIVE device')} of people who have left`;
    const fix = `see who: ${commandLine(context, 'people leave held')}, ${commandLine(context, 'people list --left')}; lock what was unlocked: ${commandLine(context, 'people leave NAME')}`;
    checks.push(check('leavers', 'warning', what, fix));
  }
  if (tokens > 0) {
    const what = `${counted(tokens, 'service token')} refused, because the owner has left or is disabled`;
    const fix = `take over what is still used: ${commandLine(context, 'tokens adopt NAME')}; revoke the rest: ${commandLine(context, 'tokens remove NAME')}`;
    checks.push(check('tokens', 'warning', what, fix));
  }
  if (webhooks.length > 0) {
    const what = `${safe(webhooks.join(' '))}: events are still sent, although the owner has left or is disabled`;
    const fix = `see where to: ${commandLine(context, 'webhooks list')}; end one: ${commandLine(context, 'webhooks disable ID')}`;
    checks.push(check('webhooks', 'warning', what, fix));
  }
  return checks;
}

async function refusedChecks(context: Context): Promise<Check[]> {
  const { list } = await context.registry.call('listRefusedRequests', { query: { size: 100 } });
  const recent = list.filter(({ at }) => Date.parse(at) > Date.now() - UNUSED_MS);
  const [last] = recent;
  if (!last) return [];
  const detail = `${recent.length === 100 ? 'at least ' : ''}${recent.length} not stored as sent within 7 days, last ${timeAndDistance(last.at)}: ${safe(last.reason)}`;
  const fix = `correct the values at the source: ${commandLine(context, 'people refused')}`;
  return [check('provisioning', 'warning', detail, fix)];
}

/** In a registry without persons, no device needs one. */
async function unmatchedChecks(context: Context): Promise<Check[]> {
  const one = { query: { size: 1 } };
  const { total: persons } = (await context.registry.call('listPeople', one)).pagination;
  if (persons === 0) return [];
  const { total } = (await context.registry.call('listUnmatched', one)).pagination;
  if (total === 0) return [];
  const detail = `${counted(total, 'device')} bound to a name that is not that of a person: a leave does not find them`;
  return [check('persons', 'warning', detail, `see whose they may be: ${commandLine(context, 'people match')}`)];
}

/** A provider that does not use its token, or cannot, reports no leavers. `now`: milliseconds since 1970. */
export function scimCheck(
  context: Pick<Context, 'serverFlags'>,
  { name, role, expiresAt, createdAt, lastUsedAt, ownerLost }: ServiceToken,
  now: number,
): Check {
  if (ownerLost && Date.parse(expiresAt) > now)
    return check(
      'scim',
      'failed',
      `token ${safe(name)} is refused, because its owner has left or is disabled: no leavers are recorded`,
      `take it over: ${commandLine(context, 'tokens adopt')} ${safe(name)}`,
    );
  const used = lastUsedAt === null ? 'never used' : `last used ${timeAndDistance(lastUsedAt)}`;
  const isExpired = Date.parse(expiresAt) <= now;
  const another = commandLine(context, 'providers add scim NAME');
  if (!isExpired && Date.parse(lastUsedAt ?? createdAt) > now - UNUSED_MS) {
    if (role === 'VIEWER') return check('scim', 'ok', `token ${safe(name)}, ${used}`);
    const tooMuch = `token ${safe(name)} has the role ${safe(role)}: the provider can also change devices`;
    return check('scim', 'warning', tooMuch, `SCIM needs no role: give the provider another one: ${another}`);
  }
  const what = isExpired ? `expired ${timeAndDistance(expiresAt)}` : used;
  const fix = isExpired
    ? `give the provider a new one: ${another}`
    : 'check address, token and schedule at the provider';
  const revoke = `if it is not needed: ${commandLine(context, 'tokens remove')} ${safe(name)}`;
  return check('scim', 'warning', `token ${safe(name)}, ${what}: the provider reports no leavers`, `${fix}; ${revoke}`);
}

/** Each provider that issues: whether it answers and accepts the secret, and what it accepts of locked or retired keys. */
async function issuingChecks(context: Context): Promise<Check[]> {
  const { list } = await context.registry.call('listProviders');
  return Promise.all(list.map(provider => issuingCheck(context, provider)));
}

async function issuingCheck(context: Context, { providerId, name, pending }: ProviderItem): Promise<Check> {
  const { reachable, problem, proxy } = await context.registry.call('testProvider', { params: { providerId } });
  const waiting = pending > 0 && `${pending} ${pending === 1 ? 'credential' : 'credentials'} still to be removed`;
  const through = proxy && !problem?.includes(proxy) && safe(`through ${proxy}`);
  const detail = [safe(name), !reachable && safe(problem ?? 'does not answer'), through, waiting]
    .filter(Boolean)
    .join(', ');
  const test = commandLine(context, `providers test ${safe(name)}`);
  const list = commandLine(context, 'providers list');
  const fix = reachable
    ? `the registry repeats removals, and ${list} shows why one fails`
    : `after the cause is fixed: ${test}; for a new secret, add the provider again`;
  return check('provider', reachable ? (waiting ? 'warning' : 'ok') : 'failed', detail, fix);
}
