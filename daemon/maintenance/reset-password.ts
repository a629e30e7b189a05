/** A new password for a user who has lost it, when no other administrator can set one. */
import { randomBytes } from 'node:crypto';
import { lockHome } from '../home/lock.ts';
import { StartRefused } from '../home/settings.ts';
import { type ProgramIo, print, reporting } from '../program-io.ts';
import { FIRST_USER } from '../services/first-admin.ts';
import { Limiter } from '../services/limiter.ts';
import { Passwords } from '../services/passwords.ts';
import { openSqliteStore } from '../store/sqlite/index.ts';
import type { Store, UserRecord } from '../store/store.ts';
import { existingHome, type HomeOptions } from './maintenance.ts';

export interface ResetOptions extends HomeOptions {
  readonly username: string;
}

/**
 * Makes a random password, writes it on standard output and nowhere else, and ends all logins of the user. Who can do this owns the
 * home folder, and with it everything in it. Refuses while a daemon runs: there an administrator can set it.
 */
export function resetPassword(options: ResetOptions, io: ProgramIo): Promise<number> {
  return reporting(io, options.json, async () => {
    const home = await existingHome(options.home);
    const lock = await lockHome(home);
    try {
      const journalKey = await home.existingKey('journalKey');
      const store = await openSqliteStore({ file: home.path('database'), journalKey });
      try {
        const user = await userOf(store, options.username);
        const password = randomBytes(18).toString('base64url');
        await setPassword(store, user, password);
        if (user.number === FIRST_USER) await home.remove('initialPassword');
        const shown = options.json ? JSON.stringify({ username: user.username, password }) : password;
        if (!(await print(io.stdout, `${shown}\n`)))
          throw new StartRefused(
            1,
            `nobody has read the new password of ${user.username}`,
            'make another one: run it again',
          );
        if (!options.json)
          io.stderr.write(
            `The password of ${user.username}, shown this once${user.disabled ? '; the user is disabled' : ''}.\n`,
          );
        return 0;
      } finally {
        await store.close();
      }
    } finally {
      await lock.release();
    }
  });
}

async function userOf(store: Store, username: string): Promise<UserRecord> {
  const user = await store.userByName(username);
  if (user) return user;
  const admins = (await store.admins()).map(admin => admin.username).join(', ');
  throw new StartRefused(1, `there is no user ${username}`, `enabled administrators: ${admins}`);
}

async function setPassword(store: Store, user: UserRecord, password: string): Promise<void> {
  const passwordHash = await new Passwords(store, new Limiter()).hash(password);
  const detail = { username: user.username, by: 'devmgr daemon reset-password' };
  await store.commit({
    at: Date.now(),
    actor: null,
    requestId: null,
    changes: [
      {
        kind: 'user.set',
        user: user.number,
        set: { passwordHash },
        revoke: true,
        entry: { type: 'PASSWORD_CHANGED', detail },
      },
    ],
  });
}
