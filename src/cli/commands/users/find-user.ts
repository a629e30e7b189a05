/** Finds the user that a command is about, and tells users who were removed from those who are only disabled. */
import { Code } from '../../../contract/codes.ts';
import { userIds } from '../../../contract/ids.ts';
import { paging } from '../../../contract/limits.ts';
import type { User } from '../../../contract/users.ts';
import { removedEmail } from '../../../contract/values.ts';
import type { Client } from '../../client/client.ts';
import { isServerRefusal } from '../../client/failures.ts';
import { pagesOf } from '../../client/pages.ts';
import { Fault } from '../../fault.ts';
import { type Context, notify } from '../../framework/context.ts';
import { confirm } from '../../terminal/prompt.ts';
import { safe, shellWord } from '../../terminal/text.ts';

/** Whether a user was removed with `users remove`. One who is enabled again is not. */
export const isRemoved = ({ disabled, email }: User): boolean => disabled && email === removedEmail;

/** The user with this id or name; a fault if there is none. */
export async function readUser(registry: Client, name: string): Promise<User> {
  const read = (page: number) => registry.call('listUsers', { query: { page, size: paging.maxSize } });
  for await (const { list } of pagesOf(read, user => user.id)) {
    const found = list.find(user => user.username === name || user.id === name);
    if (found) return found;
  }
  throw new Fault('absent', `user "${name}" does not exist`, 'see: devmgr users list --removed');
}

/** The same, without a request if the user is named by id. */
export async function findUser(
  registry: Client,
  name: string,
): Promise<{ readonly id: string; readonly username: string }> {
  return userIds.parse(name) === null ? readUser(registry, name) : { id: name, username: name };
}

/**
 * The userId to bind a device to. If it is the id of an account, a person is asked whether its name is meant: devices are found by the one text
 * that they are bound to. A script gets a notice.
 */
export async function boundName(context: Context, userId: string, flag: string): Promise<string> {
  if (userIds.parse(userId) === null) return userId;
  const account = await readUser(context.registry, userId).catch(error => {
    if ((error instanceof Fault && error.kind === 'absent') || isServerRefusal(error, Code.noPermission)) return null;
    throw error;
  });
  if (account === null) return userId;
  const { username } = account;
  const what = `${userId} is the id of the account ${safe(username)}`;
  if (context.canAsk) return (await confirm(context.out, `${what}. Bind to its name instead?`)) ? username : userId;
  notify(
    context,
    `${what}: a filter for ${safe(username)} does not find the device. To bind to the name: ${flag} ${shellWord(safe(username))}`,
  );
  return userId;
}
