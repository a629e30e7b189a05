/** The credentials of a device at providers, as rows of its card. */
import { Code } from '../../../contract/codes.ts';
import type { CredentialItem } from '../../../contract/providers.ts';
import { isServerRefusal } from '../../client/failures.ts';
import type { Context } from '../../framework/context.ts';
import type { CardRow } from '../../framework/present.ts';
import { safe } from '../../terminal/text.ts';
import { localTime } from '../../terminal/when.ts';

/** None if the caller may not see them, or the server has an earlier version. */
async function credentialsOf(context: Context, deviceId: string): Promise<readonly CredentialItem[]> {
  try {
    return await context.registry.call('listCredentials', { params: { deviceId } });
  } catch (error) {
    if (isServerRefusal(error, Code.noPermission, Code.parameterError, 404)) return [];
    throw error;
  }
}

/** One row with all credentials that are not removed; none if there is none. */
export async function credentialRows(context: Context, deviceId: string): Promise<CardRow[]> {
  const open = (await credentialsOf(context, deviceId)).filter(({ removedAt }) => removedAt === null);
  if (open.length === 0) return [];
  const { list } = await context.registry.call('listProviders');
  const nameOf = (id: string) => list.find(({ providerId }) => providerId === id)?.name ?? id;
  return [['signs in at', open.map(one => stateOf(one, safe(nameOf(one.providerId)))).join('\n')]];
}

const stateOf = ({ person, createdAt, pending }: CredentialItem, name: string): string =>
  createdAt === null
    ? `${name} as ${safe(person)}: not finished`
    : `${name} as ${safe(person)} since ${localTime(createdAt)}${pending === true ? ', being removed' : ''}`;

/** Tells that a key which was locked has lost its credentials. */
export async function warnOfLostCredentials(context: Context, deviceId: string): Promise<void> {
  if (context.globals.json || context.globals.quiet) return;
  const lost = (await credentialsOf(context, deviceId)).some(
    ({ removedAt, pending }) => removedAt !== null || pending === true,
  );
  if (lost)
    context.out.notice(
      `Its credentials at providers are removed: issue the key again to sign in there. See: devmgr show ${safe(deviceId)}`,
    );
}
