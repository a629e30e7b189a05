import type { Role } from '../../../contract/define.ts';
import { paging } from '../../../contract/limits.ts';
import type { User } from '../../../contract/users.ts';
import { need, readNewPassword, readNewPasswords } from '../../ask.ts';
import { roleNames } from '../../choices.ts';
import type { Client } from '../../client/client.ts';
import { isRefusal } from '../../client/failures.ts';
import type { Context } from '../../context.ts';
import { command } from '../../define.ts';
import { Fault, usage } from '../../fault.ts';
import { given } from '../../given.ts';
import { csvFlag, passwordFlags } from '../../globals.ts';
import { type CardRow, present } from '../../present.ts';
import { forgetLogin, storeLogin } from '../../settings/credentials.ts';
import type { Column } from '../../terminal/table.ts';
import { safe } from '../../terminal/text.ts';
import { relative } from '../../terminal/when.ts';

const userFields = [
  'id',
  'username',
  'role',
  'email',
  'disabled',
  'createdAt',
] as const satisfies readonly (keyof User)[];

export const usersList = command({
  name: 'users list',
  summary: 'list users',
  flags: {
    page: { value: 'N', whole: { min: 1 }, help: 'page, counted from 1' },
    size: { value: 'N', whole: { min: 1 }, help: 'users per page, at most 100 (20)' },
    ...csvFlag,
  },
  examples: [{ does: 'who may do what', line: 'users list' }],
  async run({ flags }, context) {
    const { out, globals } = context;
    const query = given<{ page?: number; size?: number }>({ page: flags.page, size: flags.size });
    const data = await context.registry.call('listUsers', { query });
    if (globals.json) return out.document(data);
    if (flags.csv) return out.csv(userFields, data.list);
    if (globals.quiet) return out.text(data.list.map(user => `${safe(user.id)}\n`).join(''));
    await out.table(userColumns, data.list);
    const { page, totalPages, total } = data.pagination;
    if (totalPages > 1) out.notice(`Page ${page} of ${totalPages} (${total} users). More: --page ${page + 1}`);
  },
});

const userColumns: Column<User>[] = [
  { title: 'USER', value: user => user.id },
  { title: 'NAME', value: user => user.username, shorten: 'end' },
  { title: 'ROLE', value: user => user.role },
  { title: 'E-MAIL', value: user => user.email, shorten: 'end', drop: 1 },
  {
    title: 'STATE',
    value: user => (user.disabled ? 'disabled' : 'enabled'),
    style: user => (user.disabled ? 'red' : null),
  },
  { title: 'SINCE', value: user => relative(user.createdAt), drop: 2 },
];

export const usersAdd = command({
  name: 'users add',
  summary: 'add a user',
  args: [{ name: 'NAME', help: 'name to log in with', optional: true }],
  flags: {
    username: { value: 'NAME', aliases: ['name'], help: 'the same, as a flag' },
    role: { value: 'ROLE', choices: roleNames, help: 'what the user may do' },
    email: { value: 'ADDRESS', help: 'e-mail address' },
    ...passwordFlags,
  },
  examples: [
    { does: 'asks for the password', line: 'users add dealer-berlin --role DEALER --email ops@example.com' },
    { does: 'in a script', line: 'users add report --role VIEWER --password-file ./password' },
  ],
  async run({ args, flags }, context) {
    const line = 'devmgr users add NAME --role ROLE';
    const username = await need(context, args[0] ?? flags.username, 'the name of the user', 'Name', line);
    const roles = roleNames.join(', ');
    const role = (await need(context, flags.role, '--role', `Role (${roles})`, `one of ${roles}`)).toUpperCase();
    const password = await readNewPassword(context, flags, `Password of ${username}`);
    const body = {
      username,
      password,
      role: role as Role,
      ...(flags.email === undefined ? {} : { email: flags.email }),
    };
    await showUser(context, await context.registry.call('createUser', { body }), 'is added');
  },
});

export const usersUpdate = command({
  name: 'users update',
  summary: 'change, disable or enable a user',
  args: [{ name: 'USER', help: 'user id or name', offer: 'user' }],
  flags: {
    role: { value: 'ROLE', choices: roleNames, help: 'what the user may do' },
    email: { value: 'ADDRESS', help: 'e-mail address; "" clears it' },
    disable: { help: 'no more logins, and no token of the user is good any longer' },
    enable: { help: 'the opposite' },
  },
  examples: [
    { does: 'somebody left', line: 'users update dealer-berlin --disable' },
    { does: 'another role', line: 'users update USR-2 --role VIEWER' },
  ],
  async run({ args, flags }, context) {
    if (flags.disable && flags.enable) throw usage('--disable and --enable exclude each other');
    const body = {
      ...(flags.role === undefined ? {} : { role: flags.role as Role }),
      ...(flags.email === undefined ? {} : { email: flags.email.trim() || null }),
      ...(flags.disable || flags.enable ? { disabled: flags.disable } : {}),
    };
    if (Object.keys(body).length === 0)
      throw usage('there is nothing to change', 'give --role, --email, --disable or --enable');
    const { id } = await findUser(context.registry, args[0]!);
    await showUser(context, await context.registry.call('updateUser', { params: { userId: id }, body }), 'is changed');
  },
});

export const usersPasswd = command({
  name: 'users passwd',
  summary: 'set a password',
  description:
    'Without a name your own; then the present one is asked for too. All tokens of the user stop being good; after your own you are logged in again.\nOf standard input and of a file the first line is the new password; for your own the first is the present one and the second the new one.',
  args: [{ name: 'USER', help: 'user id or name', optional: true, offer: 'user' }],
  flags: passwordFlags,
  examples: [
    { does: 'your own', line: 'users passwd' },
    { does: "somebody else's, in a script", line: 'users passwd dealer-berlin --password-file ./password' },
  ],
  async run({ args, flags }, context) {
    const me = await context.registry.call('me');
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
    const [oldPassword, password] = await readNewPasswords(context, flags, ['Present password', 'New password']);
    const body = { oldPassword: oldPassword!, password: password! };
    const data = await context.registry.call('setPassword', { params: { userId: me.id }, body });
    await showUser(context, data, 'has a new password');
    await logInAgain(context, me.username, password!);
  },
});

export const usersLogout = command({
  name: 'users logout',
  summary: 'end every login of a user',
  description:
    'Without a name your own, on every machine. All tokens of the user are refused from now on and streams end; the password stays good.',
  args: [{ name: 'USER', help: 'user id or name', optional: true, offer: 'user' }],
  flags: {},
  examples: [
    { does: 'a token got out', line: 'users logout dealer-berlin' },
    { does: 'your own logins, wherever they are', line: 'users logout' },
  ],
  async run({ args }, context) {
    const me = await context.registry.call('me');
    const name = args[0] ?? me.id;
    const isMe = name === me.id || name === me.username;
    const { id } = isMe ? me : await findUser(context.registry, name);
    const data = await context.registry.call('logoutUser', { params: { userId: id } });
    const { settings, globals, out } = context;
    if (isMe && settings.token === null) await forgetLogin(settings, context.identity());
    await showUser(context, data, 'is logged out everywhere');
    if (isMe && !globals.json) out.notice(`That was your own login too: ${loginAgain(context)}`);
  },
});

/** The new password has ended every token, that of this login among them; whoever sets it goes on working. */
async function logInAgain(context: Context, username: string, password: string): Promise<void> {
  const { settings, registry, globals, out } = context;
  const again = settings.token === null && (await renewed());
  if (globals.json) return;
  out.notice(
    again
      ? 'You are logged in again with the new password; your other logins have ended.'
      : `Your login is no longer good: ${loginAgain(context)}`,
  );

  async function renewed(): Promise<boolean> {
    try {
      const { token, expireTime } = await registry.call('login', { body: { username, password } });
      await storeLogin(settings, context.identity(), { token, expireTime, username });
      return true;
    } catch (error) {
      if (isRefusal(error)) return false;
      throw error;
    }
  }
}

const loginAgain = ({ settings }: Context): string =>
  settings.token === null ? 'devmgr login' : 'DEVMGR_TOKEN needs a new token';

async function showUser(context: Context, user: User, what: string): Promise<void> {
  const rows: CardRow[] = [
    ['role', safe(user.role)],
    ['e-mail', user.email === null ? null : safe(user.email)],
    ['state', user.disabled ? 'disabled' : 'enabled'],
  ];
  await present(context, { data: user, id: user.id, title: `${safe(user.id)} ${safe(user.username)} ${what}`, rows });
}

async function findUser(registry: Client, name: string): Promise<{ readonly id: string; readonly username: string }> {
  if (/^USR-[1-9][0-9]{0,14}$/.test(name)) return { id: name, username: name };
  for (let page = 1; ; page++) {
    const { list, pagination } = await registry.call('listUsers', { query: { page, size: paging.maxSize } });
    const found = list.find(user => user.username === name);
    if (found) return found;
    if (page >= pagination.totalPages || list.length === 0) break;
  }
  throw new Fault('absent', `there is no user "${name}"`, 'devmgr users list shows them');
}
