/** A new password for a user who has lost it or a security key, if no other administrator can help. */
import { passkeyBounds } from '../../src/contract/limits.ts';
import type { ProgramIo, ResetOptions } from '../../src/contract/programs.ts';
import { FIRST_USER } from '../accounts/first-admin.ts';
import { hashPassword, newPassword } from '../accounts/passwords.ts';
import { changePassword } from '../accounts/user.ts';
import { StartRefused } from '../base/start-refused.ts';
import { lockHome } from '../home/lock.ts';
import type { UserRecord } from '../requests/callers.ts';
import { remove } from '../sign-in/passkey.ts';
import { exempt, policyIn, SIGN_IN_POLICY } from '../sign-in/policy.ts';
import { print, reporting } from '../start/program-io.ts';
import type { Store } from '../store/store.ts';
import { type ExistingRegistry, existingRegistry } from './maintenance.ts';
import { writeRegistry } from './write-registry.ts';

/**
 * Sets a random password, writes it to standard output and nowhere else, and revokes all tokens of the user. Removes the security keys of
 * the user: if one is required, the password is enough until the user registers one, at most for `passkeyBounds.allowedHours`.
 * Anyone who can run this owns the home folder and everything in it. Refuses while a daemon is running: an administrator can set
 * it there.
 */
export function resetPassword(options: ResetOptions, io: ProgramIo): Promise<number> {
  return reporting(io, options.json, async () => {
    const registry = await existingRegistry(options, io.env);
    const lock = await lockHome(registry.home);
    try {
      const { user, password, removed, isExempt } = await withNewPassword(registry, options.username, text =>
        io.stderr.write(`devmgr: ${text}\n`),
      );
      const shown = options.json ? JSON.stringify({ username: user.username, password }) : password;
      if (!(await print(io.stdout, `${shown}\n`)))
        throw new StartRefused(1, `the new password of ${user.username} could not be shown`, 'run the command again');
      if (!options.json)
        io.stderr.write(
          `The password of ${user.username}, shown this once${user.disabled ? '; the user is disabled' : ''}.\n${removed > 0 ? `The security keys of ${user.username} were removed.\n` : ''}${isExempt ? exempted : ''}`,
        );
      return 0;
    } finally {
      await lock.release();
    }
  });
}

const exempted = `The password is enough for ${passkeyBounds.allowedHours} hours, or until a security key is registered.\n`;

/** `warn` receives lines for the person who runs the program. */
function withNewPassword(
  registry: ExistingRegistry,
  username: string,
  warn: (message: string) => void,
): Promise<{ user: UserRecord; password: string; removed: number; isExempt: boolean }> {
  return writeRegistry(registry, warn, async store => {
    const user = await userNamed(store, username);
    const password = newPassword();
    const by = { by: 'devmgr daemon reset-password' };
    const { change, guards } = changePassword(user, await hashPassword(password), by);
    // Without these two, a person who has lost the key could not sign in with the new password.
    const passkeys = (await store.passkeysOf(user.number)).map(passkey => remove(passkey, by));
    const at = Date.now();
    const until = at + passkeyBounds.allowedHours * 3_600_000;
    const after = { ...user, tokenEpoch: user.tokenEpoch + 1 };
    const policy = exempt(policyIn(await store.document(SIGN_IN_POLICY)), after, { at, until });
    const changes = [change, ...passkeys, ...(policy ? [policy] : [])];
    await store.commit({ at, actor: null, requestId: null, changes, guards });
    if (user.number === FIRST_USER) await registry.home.remove('initialPassword');
    return { user, password, removed: passkeys.length, isExempt: policy !== null };
  });
}

async function userNamed(store: Store, username: string): Promise<UserRecord> {
  const user = await store.userByName(username);
  if (user) return user;
  const admins = (await store.admins()).map(admin => admin.username).join(', ');
  throw new StartRefused(1, `there is no user ${username}`, `enabled administrators: ${admins}`);
}
