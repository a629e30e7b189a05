/** The security keys that people sign in with, and who has to use one. */
import type { SignInPolicy } from '../../../contract/sign-in-policy.ts';
import { roles } from '../../../contract/values.ts';
import type { Passkey } from '../../../contract/webauthn.ts';
import { usage } from '../../fault.ts';
import type { Context } from '../../framework/context.ts';
import { command } from '../../framework/define.ts';
import type { ArgShape } from '../../framework/flags.ts';
import { yesFlag } from '../../framework/flags.ts';
import { listFlags } from '../../framework/format.ts';
import { present } from '../../framework/present.ts';
import { presentRows } from '../../framework/present-list.ts';
import type { Column } from '../../terminal/column.ts';
import { demandYes } from '../../terminal/prompt.ts';
import { safe } from '../../terminal/text.ts';
import { localTime } from '../../terminal/when.ts';
import { findUser } from './find-user.ts';

const fields = ['passkeyId', 'name', 'rpId', 'aaguid', 'createdAt', 'lastUsedAt'] as const satisfies (keyof Passkey)[];

const columns: Column<Passkey>[] = [
  { title: 'KEY', value: key => key.passkeyId },
  { title: 'NAME', value: key => key.name, shorten: 'end' },
  { title: 'SITE', value: key => key.rpId, shorten: 'end' },
  { title: 'REGISTERED', value: key => localTime(key.createdAt) },
  { title: 'LAST USED', value: key => localTime(key.lastUsedAt) },
];

const userArg: ArgShape = { name: 'USER', help: 'user id or name', offer: 'user' };

/** Lists the keys of a user: `GET /api/users/{userId}/passkeys/list`. */
export const usersKeys = command({
  description: 'Without a name, lists your own keys. Keys are registered in the console: devmgr open.',
  args: [{ ...userArg, optional: true }],
  flags: listFlags(fields),
  examples: {
    'your own keys': 'users passkeys',
    'those of another user': 'users passkeys dealer-berlin',
  },
  async run({ args: [name] }, context) {
    const { out, registry } = context;
    const { id, username } = name === undefined ? await registry.call('getOwnUser') : await findUser(registry, name);
    const data = await registry.call('listKeysOfUser', { params: { userId: id } });
    if (out.json) return out.document(data);
    if (data.list.length > 0 || out.format !== 'table' || out.quiet)
      await presentRows(context, data.list, { fields, columns, id: 'passkeyId' });
    else out.notice(`${safe(username)} has no security key.`);
    if (data.required && out.format !== 'csv') out.notice(`${safe(username)} must sign in with a security key.`);
  },
});

/** Removes a key: `POST /api/users/{userId}/passkeys/{passkeyId}/remove`. */
export const usersRemoveKey = command({
  description:
    'For a key that is lost. This cannot be undone: to be used again, the key must be registered as a new one.',
  args: [userArg, { name: 'KEY', help: 'id of the key, such as PSK-1; see: devmgr users passkeys' }],
  flags: yesFlag,
  examples: {
    'a lost key': 'users remove-passkey dealer-berlin PSK-1',
    'in a script': 'users remove-passkey dealer-berlin PSK-1 --yes',
  },
  async run({ args: [name = '', passkeyId = ''], flags }, context) {
    if (!flags.yes && !context.canAsk) throw usage('a removal must be confirmed', 'add --yes');
    const { id, username } = await findUser(context.registry, name);
    const which = safe(`${passkeyId} of ${username}`);
    if (!flags.yes) await demandYes(context.out, `Remove the key ${which}?`);
    const data = await context.registry.call('removeKeyOfUser', { params: { userId: id, passkeyId } });
    await present(context, {
      data,
      id: data.passkeyId,
      title: `${which} is removed`,
      rows: [['name', safe(data.name)]],
    });
  },
});

/** Allows a user whose keys were removed to register one: `POST /api/users/{userId}/allow-registration`. */
export const usersAllowRegistration = command({
  description:
    'For a user who must sign in with a security key and no longer has one: the password alone is refused. This command lets the user log in with the password alone within 24 hours, to register one key. A new password, a logout of the user or disabling the user ends this permission. First verify who is asking: anyone who knows the password can register the key.',
  args: [userArg],
  examples: { 'after a key was lost and removed': 'users allow-registration dealer-berlin' },
  async run({ args: [name = ''] }, context) {
    const { id, username } = await findUser(context.registry, name);
    const data = await context.registry.call('allowRegistration', { params: { userId: id } });
    await present(context, {
      data,
      id,
      title: `${safe(username)} may register one security key`,
      rows: [['until', localTime(data.until)]],
    });
  },
});

/** Requires a key of one user: `POST /api/users/{userId}/require-key`. */
export const usersRequireKey = command({
  description:
    'From the next login on, the user needs a security key, regardless of the role. A user who never had one can log in with the password only to register one. For all users of a role: devmgr policies sign-in.',
  args: [userArg],
  flags: { off: { help: 'no longer require a security key' } },
  examples: {
    'a user who handles many devices': 'users require-passkey dealer-berlin',
    'no longer require one': 'users require-passkey dealer-berlin --off',
  },
  async run({ args: [name = ''], flags }, context) {
    const { id, username } = await findUser(context.registry, name);
    const body = { required: !flags.off };
    const data = await context.registry.call('requireKeyOfUser', { params: { userId: id }, body });
    const rule = data.required ? 'must sign in with a security key' : 'may sign in without a security key';
    await present(context, { data, id: data.userId, title: `${safe(username)} ${rule}`, rows: [] });
  },
});

/** Shows or sets which roles need a key: `/api/policies/sign-in`. */
export const policiesSignIn = command({
  description:
    'Without --require-key it shows the policy. With it, users of these roles need a security key from their next login on. Let them register one first: anyone who knows the password of a user without a key can register one for that account.',
  flags: {
    'require-key': {
      value: 'ROLE',
      many: true,
      field: 'requireKey',
      choices: [...roles, 'none'],
      help: 'roles whose users must sign in with a security key; replaces the earlier ones',
    },
  },
  examples: {
    'who must sign in with a security key': 'policies sign-in',
    'all administrators': 'policies sign-in --require-key ADMIN',
    'no role': 'policies sign-in --require-key none',
  },
  async run({ flags: { requireKey } }, context) {
    const { registry } = context;
    if (requireKey.length === 0) return write(context, await registry.call('showSignInPolicy'));
    const body = { requireKey: roles.filter(role => requireKey.includes(role)) };
    if (requireKey.includes('none') && body.requireKey.length > 0)
      throw usage('--require-key none cannot be combined with a role', 'name roles, or none');
    return write(context, await registry.call('setSignInPolicy', { body }));
  },
});

function write(context: Context, policy: SignInPolicy): Promise<void> {
  const text = policy.requireKey.map(String).map(safe).join(', ') || 'none';
  return present(context, {
    data: policy,
    id: text,
    title: 'Who must sign in with a security key',
    rows: [['roles', text]],
  });
}
