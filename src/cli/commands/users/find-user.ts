/** Finds the user that a command is about, and tells users who were removed from those who are only disabled. */
import { userIds } from '../../../contract/ids.ts';
import { paging } from '../../../contract/limits.ts';
import type { User } from '../../../contract/users.ts';
import { removedEmail } from '../../../contract/values.ts';
import type { Client } from '../../client/client.ts';
import { pagesOf } from '../../client/pages.ts';
import { Fault } from '../../fault.ts';

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
