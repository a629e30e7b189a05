/** Finds the user that a command is about, and tells users who were removed from those who are only disabled. */
import { Code } from '../../../contract/codes.ts';
import { userIds } from '../../../contract/ids.ts';
import type { Person } from '../../../contract/people.ts';
import type { User } from '../../../contract/users.ts';
import { removedEmail } from '../../../contract/values.ts';
import type { Client } from '../../client/client.ts';
import { isServerRefusal } from '../../client/failures.ts';
import { itemsOf } from '../../client/pages.ts';
import { Fault, isFault, usage } from '../../fault.ts';
import { type Context, notify } from '../../framework/context.ts';
import { ifKnown, personNamed, personsWith, personWords, severalPersons } from '../../framework/persons.ts';
import { confirm } from '../../terminal/prompt.ts';
import { safe, shellWord } from '../../terminal/text.ts';

/** Whether a user was removed with `users remove`. One who is enabled again is not. */
export const isRemoved = ({ disabled, email }: User): boolean => disabled && email === removedEmail;

/** The user with this id or name; a fault if there is none. */
export async function readUser(registry: Client, name: string): Promise<User> {
  for await (const user of itemsOf(registry, 'listUsers')) if (user.username === name || user.id === name) return user;
  throw new Fault('absent', `user "${name}" does not exist`, 'see: devmgr users list --removed');
}

/** Finds a user. A user who is named by id needs no request. */
export async function findUser(
  registry: Client,
  name: string,
): Promise<{ readonly id: string; readonly username: string }> {
  return userIds.parse(name) === null ? readUser(registry, name) : { id: name, username: name };
}

/**
 * The user name of the person who is meant: upper and lower case do not matter. If the text is only a part of names, a list at the
 * terminal shows them; without one it is refused, because a device that is bound to the text is missed when the person leaves.
 */
async function personName(context: Context, typed: string, flag: string): Promise<string> {
  const { registry } = context;
  const exact = await ifKnown(personNamed(registry, typed));
  if (exact) return exact.userName;
  const page = await ifKnown(personsWith(registry, typed, { active: true }));
  const meant = page?.list.filter(person => isMeant(person, typed)) ?? [];
  const [first, ...others] = meant;
  if (!first) return typed;
  if (context.canAsk && context.out.canDraw) {
    const { pickHolder } = await import('../../framework/pickers/holders.ts');
    return (await pickHolder(context, `No person has the user name ${safe(typed)}. Person`, typed)) ?? typed;
  }
  if (others.length > 0) throw severalPersons(typed, meant, meant.length);
  throw usage(
    `no person has the user name "${typed}": ${safe(personWords(first))} may be meant`,
    `use the user name: ${flag} ${shellWord(safe(first.userName))}`,
  );
}

/** Whether a word of the names or of the address begins with the text. */
const isMeant = ({ userName, name, email }: Person, typed: string): boolean =>
  [userName, name, email].some(text => {
    const at = text?.toLowerCase().indexOf(typed.toLowerCase()) ?? -1;
    return at === 0 || (at > 0 && !/[\p{L}\p{N}]/u.test(text![at - 1]!));
  });

/**
 * The userId to bind a device to. If it is the id of an account, a person is asked whether its name is meant: devices are found by
 * the one text that they are bound to. A script gets a notice.
 */
export async function boundName(context: Context, userId: string, flag: string): Promise<string> {
  if (userIds.parse(userId) === null) return personName(context, userId, flag);
  const account = await readUser(context.registry, userId).catch(error => {
    if (isFault(error, 'absent') || isServerRefusal(error, Code.noPermission)) return null;
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
