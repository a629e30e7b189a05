import type { User } from '../../../contract/users.ts';
import { removedEmail } from '../../../contract/values.ts';
import { usage } from '../../fault.ts';
import type { Context } from '../../framework/context.ts';
import { command } from '../../framework/define.ts';
import { yesFlag } from '../../framework/flags.ts';
import { present } from '../../framework/present.ts';
import { demandYes } from '../../terminal/prompt.ts';
import { safe, shellWord } from '../../terminal/text.ts';
import { isRemoved, readUser } from './find-user.ts';

/** Removes a user as far as the interface can: disabled, marked and hidden. Confirmed at the terminal, or with --yes. */
export const usersRemove = command({
  description: `The user is disabled: logins are refused, and all tokens become invalid at once. The e-mail address is replaced by ${removedEmail}, and users list leaves the user out. What the user did stays in the journal, and devices stay bound. A user cannot be deleted or renamed, so the name stays taken: give a successor another name. To undo the removal: users update USER --enable. The last enabled ADMIN cannot be removed.`,
  args: [{ name: 'USER', help: 'user id or name; asked for at a terminal', optional: true, offer: 'user' }],
  flags: yesFlag,
  examples: {
    'a user who has left': 'users remove dealer-berlin',
    'in a script': 'users remove dealer-berlin --yes',
  },
  async run({ args, flags }, context) {
    if (!flags.yes && !context.canAsk) throw usage('a removal must be confirmed', 'name the user and add --yes');
    const user = args[0] === undefined ? await picked(context) : await readUser(context.registry, args[0]);
    if (isRemoved(user)) return report(context, user, 'was already removed');
    if (!flags.yes) await confirmRemoval(context, user);
    const body = { disabled: true, email: removedEmail };
    await report(
      context,
      await context.registry.call('updateUser', { params: { userId: user.id }, body }),
      'is removed',
    );
  },
});

async function picked(context: Context): Promise<User> {
  const { pickUser } = await import('../../framework/pickers/listed.ts');
  return pickUser(context, 'users remove', user => !isRemoved(user));
}

async function confirmRemoval({ out }: Context, { id, username, role }: User): Promise<void> {
  const who = safe(`${username} (${id}, ${role})`);
  await out.preview(`${who} will not be able to log in, and all tokens of this user become invalid.`);
  await demandYes(out, `Remove ${username}?`);
}

const report = (context: Context, user: User, what: string): Promise<void> =>
  present(context, {
    data: user,
    id: user.id,
    title: `${safe(user.id)} ${safe(user.username)} ${what}`,
    rows: [['state', 'disabled; shown by users list --removed']],
    next: `devmgr users update ${shellWord(safe(user.username))} --enable undoes this`,
  });
