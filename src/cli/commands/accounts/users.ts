import { Code } from '../../../contract/codes.ts';
import { userIds } from '../../../contract/ids.ts';
import { namesIn } from '../../../contract/names.ts';
import type { User } from '../../../contract/users.ts';
import { removedEmail, roles } from '../../../contract/values.ts';
import type { Client } from '../../client/client.ts';
import { isServerRefusal } from '../../client/failures.ts';
import { usage } from '../../fault.ts';
import { need, readNewPassword, readNewPasswords } from '../../framework/ask.ts';
import { type Context, commandLine } from '../../framework/context.ts';
import { clearable, command, definedFields } from '../../framework/define.ts';
import { pageFlags, passwordFlags } from '../../framework/flags.ts';
import { listFlags } from '../../framework/format.ts';
import { type CardRow, present } from '../../framework/present.ts';
import { pageQuery, presentPage } from '../../framework/present-list.ts';
import { forgetLogin, storeLogin } from '../../settings/credentials.ts';
import type { Column } from '../../terminal/column.ts';
import { safe } from '../../terminal/text.ts';
import { localTime } from '../../terminal/when.ts';
import { findUser, isRemoved, readUser } from './find-user.ts';

const userFields = namesIn('id username role email disabled createdAt') satisfies readonly (keyof User)[];

/** Lists users: `GET /api/users/list`. */
export const usersList = command({
  description: 'Removed users are counted, but not shown. JSON and YAML contain all users, as the server returns them.',
  flags: {
    ...pageFlags('users'),
    removed: { aliases: ['all'], help: 'also show users who were removed' },
    ...listFlags(userFields),
  },
  examples: {
    'users and their roles': 'users list',
    'removed ones, too': 'users list --removed',
  },
  async run({ flags }, context) {
    const query = pageQuery(flags);
    const data = await context.registry.call('listUsers', { query });
    const listing = { fields: userFields, columns: userColumns, id: 'id' } as const;
    const { out } = context;
    const list = flags.removed || out.json ? data.list : data.list.filter(user => !isRemoved(user));
    const hidden = data.list.length - list.length;
    if (hidden === 0 || list.length > 0) await presentPage(context, { ...data, list }, listing, { what: 'users' });
    if (hidden > 0 && !out.quiet)
      out.notice(`${hidden} removed ${hidden === 1 ? 'user is' : 'users are'} not shown: --removed`);
  },
});

/** Columns of a list of users. */
export const userColumns: Column<User>[] = [
  { title: 'USER', value: user => user.id },
  { title: 'NAME', value: user => user.username, shorten: 'end' },
  { title: 'ROLE', value: user => user.role },
  { title: 'E-MAIL', value: user => user.email, shorten: 'end', drop: 1 },
  {
    title: 'STATE',
    value: user => (user.disabled ? 'disabled' : 'enabled'),
    style: user => (user.disabled ? 'red' : null),
  },
  { title: 'SINCE', value: user => localTime(user.createdAt), drop: 2 },
];

/** Adds a user: `POST /api/users`. The password comes from a prompt, standard input or a file. */
export const usersAdd = command({
  description:
    'An ADMIN can do everything. A DEALER manages devices and their backups, but not users, tokens and uploads. A VIEWER can only read, and does not see activation codes.',
  args: [{ name: 'NAME', help: 'user name', optional: true }],
  flags: {
    username: { value: 'NAME', aliases: ['name'], help: 'user name, instead of NAME' },
    role: { value: 'ROLE', choices: roles, help: 'permissions of the user' },
    email: { value: 'ADDRESS', empty: true, help: 'e-mail address' },
    ...passwordFlags,
  },
  examples: {
    'asks for the password': 'users add dealer-berlin --role DEALER --email ops@example.com',
    'in a script': 'users add report --role VIEWER --password-file ./password',
  },
  async run({ args, flags }, context) {
    const line = 'devmgr users add NAME --role ROLE';
    const username = await need(context, args[0] ?? flags.username, {
      flag: 'the name of the user',
      question: 'Name',
      hint: line,
      field: 'username',
    });
    const role = await need(context, flags.role, { flag: '--role', question: 'Role', choices: roles });
    const password = await readNewPassword(context, flags, `Password of ${username}`);
    const body = definedFields({ username, password, role, email: flags.email });
    await showUser(context, await create(context, body), 'was added');
  },
});

type AddedUser = Parameters<typeof Client.prototype.call<'createUser'>>[1]['body'];

/** A name that is taken by a removed user is hidden in the list: a notice explains how to give it back. */
async function create({ registry, out }: Context, body: AddedUser): Promise<User> {
  try {
    return await registry.call('createUser', { body });
  } catch (error) {
    if (!isServerRefusal(error, Code.parameterError) || out.json) throw error;
    const taken = await readUser(registry, body.username).catch(() => null);
    if (taken !== null && isRemoved(taken))
      out.notice(
        `${taken.username} was removed and keeps the name. To enable that user again: devmgr users update ${taken.username} --enable`,
      );
    throw error;
  }
}

/** Changes a user: `PUT /api/users/{userId}`. */
export const usersUpdate = command({
  args: [{ name: 'USER', help: 'user id or name; asked for at a terminal', optional: true, offer: 'user' }],
  flags: {
    role: { value: 'ROLE', choices: roles, help: 'permissions of the user' },
    email: { value: 'ADDRESS', empty: true, help: 'e-mail address; "" clears it' },
    disable: { help: 'refuse logins and revoke all tokens of the user', conflicts: ['enable'] },
    enable: { help: 'allow logins again' },
  },
  examples: {
    'a user who has left': 'users update dealer-berlin --disable',
    'a new role': 'users update USR-2 --role VIEWER',
  },
  async run({ args, flags }, context) {
    const disabled = flags.disable || flags.enable ? flags.disable : undefined;
    const body = definedFields({ role: flags.role, email: clearable(flags.email), disabled });
    if (Object.keys(body).length === 0) throw usage('nothing to change', 'add --role, --email, --disable or --enable');
    const { id } = args[0] === undefined ? await picked(context) : await findUser(context.registry, args[0]);
    await showUser(context, await change(context, id, body), 'was changed');
  },
});

type Body = Parameters<typeof Client.prototype.call<'updateUser'>>[1]['body'];

/** A user who is enabled again loses the mark of `users remove`. */
async function change({ registry }: Context, userId: string, body: Body): Promise<User> {
  const user = await registry.call('updateUser', { params: { userId }, body });
  if (user.disabled || user.email !== removedEmail) return user;
  return registry.call('updateUser', { params: { userId }, body: { email: null } });
}

async function picked(context: Context): Promise<User> {
  const { pickUser } = await import('../../framework/pickers/listed.ts');
  return pickUser(context, 'users update');
}

/** Sets a password: `POST /api/users/{userId}/password`. After your own password was changed it logs in again. */
export const usersPasswd = command({
  description:
    'Without a name, sets your own password; your current one is then required. All tokens of the user become invalid; after changing your own password you are logged in again.\nThe first line of standard input or of the file is the new password. For your own password the first line is the current one and the second line the new one.',
  args: [{ name: 'USER', help: 'user id or name', optional: true, offer: 'user' }],
  flags: passwordFlags,
  examples: {
    'your own password': 'users passwd',
    'the password of another user, in a script': 'users passwd dealer-berlin --password-file ./password',
  },
  async run({ args, flags }, context) {
    const me = await context.registry.call('getOwnUser');
    const [name] = args;
    if (name !== undefined && name !== me.id && name !== me.username) {
      const { id, username } = await findUser(context.registry, name);
      const password = await readNewPassword(context, flags, `New password of ${username}`);
      return showUser(
        context,
        await context.registry.call('setPassword', { params: { userId: id }, body: { password } }),
        'has a new password',
      );
    }
    if (userIds.parse(me.id) === null)
      throw usage(
        'you are logged in with a service token, which has no password',
        'log in as a user: devmgr login NAME',
      );
    const [oldPassword, password] = await readNewPasswords(context, flags, ['Current password', 'New password']);
    const body = { oldPassword: oldPassword!, password: password! };
    const data = await context.registry.call('setPassword', { params: { userId: me.id }, body });
    await showUser(context, data, 'has a new password');
    await logInAgain(context, me.username, password!);
  },
});

/** Ends all logins of a user: `POST /api/users/{userId}/logout`. */
export const usersLogout = command({
  description:
    'Without a name, ends your own logins on every machine. All tokens of the user become invalid and notification streams end; the password does not change.',
  args: [{ name: 'USER', help: 'user id or name', optional: true, offer: 'user' }],
  examples: {
    'a leaked token': 'users logout dealer-berlin',
    'all your own logins': 'users logout',
  },
  async run({ args }, context) {
    const me = await context.registry.call('getOwnUser');
    const name = args[0] ?? me.id;
    const isMe = name === me.id || name === me.username;
    const { id } = isMe ? me : await findUser(context.registry, name);
    const data = await context.registry.call('logoutUser', { params: { userId: id } });
    const { settings, globals, out } = context;
    if (isMe && settings.token === null) await forgetLogin(settings, context.identity());
    await showUser(context, data, 'was logged out everywhere');
    if (isMe && !globals.json) out.notice(`Your own login has ended, too. ${loginAgain(context)}`);
  },
});

/** The new password made every token invalid, the one of this login included. */
async function logInAgain(context: Context, username: string, password: string): Promise<void> {
  const { settings, registry, globals, out } = context;
  const again = settings.token === null && (await renewed());
  if (globals.json) return;
  out.notice(
    again
      ? 'You are logged in with the new password; your other logins have ended.'
      : `Your login has ended. ${loginAgain(context)}`,
  );

  async function renewed(): Promise<boolean> {
    try {
      // The address that took the new password is the one that answers: no other one gets it unchecked.
      const { client } = registry.route();
      const { token, expireTime } = await client.call('login', { body: { username, password } });
      await storeLogin(settings, context.identity(), { token, expireTime, username });
      return true;
    } catch (error) {
      if (isServerRefusal(error)) return false;
      throw error;
    }
  }
}

const loginAgain = (context: Context): string =>
  context.settings.token === null
    ? `Log in again: ${commandLine(context, 'login')}`
    : 'DEVMGR_TOKEN needs a new token.';

async function showUser(context: Context, user: User, what: string): Promise<void> {
  const rows: CardRow[] = [
    ['role', safe(user.role)],
    ['e-mail', safe(user.email)],
    ['state', user.disabled ? 'disabled' : 'enabled'],
  ];
  await present(context, { data: user, id: user.id, title: `${safe(user.id)} ${safe(user.username)} ${what}`, rows });
}
