/** The credentials of a device at providers, as rows of its card. */
import { Code } from '../../../contract/codes.ts';
import type { CredentialItem } from '../../../contract/providers.ts';
import { nullIfRefused } from '../../client/failures.ts';
import { counted } from '../../count.ts';
import type { Context } from '../../framework/context.ts';
import type { CardRow } from '../../framework/present.ts';
import { safe } from '../../terminal/text.ts';
import { localTime } from '../../terminal/when.ts';

/** Refusals if the caller may not see a list, or the server has an earlier version. */
const notShown = [Code.noPermission, Code.parameterError, 404];

const credentialsOf = async ({ registry }: Context, deviceId: string): Promise<readonly CredentialItem[]> =>
  (await nullIfRefused(registry.call('listCredentials', { params: { deviceId } }), ...notShown)) ?? [];

/** The credentials that are not removed, and the last one at each provider that has no other. */
export async function credentialRows(context: Context, deviceId: string): Promise<CardRow[]> {
  const all = await credentialsOf(context, deviceId);
  if (all.length === 0) return [];
  // A VIEWER sees the ids of providers only.
  const providers = await nullIfRefused(context.registry.call('listProviders'), ...notShown);
  const nameOf = (id: string) => safe(providers?.list.find(({ providerId }) => providerId === id)?.name ?? id);
  const open = all.filter(({ removedAt }) => removedAt === null);
  const last = [...new Map(all.map(one => [one.providerId, one])).values()];
  return [
    ['signs in at', open.map(one => stateOf(one, nameOf(one.providerId))).join('\n') || null],
    ['removed at', last.flatMap(one => removalOf(one, nameOf(one.providerId))).join('\n') || null],
  ];
}

const stateOf = ({ person, createdAt, pending }: CredentialItem, name: string): string =>
  createdAt === null
    ? `${name} as ${safe(person)}: not finished`
    : `${name} as ${safe(person)} since ${localTime(createdAt)}${pending === true ? ', being removed' : ''}`;

const removalOf = ({ createdAt, removedAt }: CredentialItem, name: string): string[] =>
  createdAt === null || removedAt === null ? [] : [`${name}: ${localTime(removedAt)}`];

/** Tells what providers still accept of a key that was just locked or retired. The change is done: an error here is not one of it. */
export async function noteRemovals(context: Context, deviceId: string): Promise<void> {
  const all = await notedCredentials(context, deviceId).catch(() => []);
  const count = all.filter(({ removedAt, pending }) => removedAt === null && pending === true).length;
  if (count === 0) return;
  const what = `${counted(count, 'credential')} at providers ${count === 1 ? 'is' : 'are'} being removed`;
  context.out.notice(`${what}. See: devmgr show ${safe(deviceId)}`);
}

/** Tells that a key which was locked does not get back what providers have removed: what no removal was requested for is kept. */
export async function warnOfLostCredentials(context: Context, deviceId: string): Promise<void> {
  const all = await notedCredentials(context, deviceId);
  if (!all.some(({ removedAt, pending }) => removedAt !== null || pending === true)) return;
  const then = 'issue the key again to sign in there';
  context.out.notice(`Credentials that providers have removed are lost: ${then}. See: devmgr show ${safe(deviceId)}`);
}

/** None if the output has no notices. */
const notedCredentials = async (context: Context, deviceId: string) =>
  context.globals.json || context.globals.quiet ? [] : credentialsOf(context, deviceId);
