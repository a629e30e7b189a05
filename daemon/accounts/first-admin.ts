import { daemonSettings } from '../../src/contract/daemon-settings.ts';
import type { Logger } from '../base/logger.ts';
import { StartRefused } from '../base/start-refused.ts';
import type { Home } from '../home/home.ts';
import { checkFirstPassword, type DaemonSettings } from '../home/settings.ts';
import type { Store } from '../store/store.ts';
import { passwordFault } from './password-rules.ts';
import { hashPassword, newPassword, type Passwords } from './passwords.ts';
import { createFirst } from './user.ts';

/** Number of the first user. The file with the first password is removed when that user's password is changed. */
export const FIRST_USER = 1;

type AdminSettings = Pick<DaemonSettings, 'admin' | 'passwordCost'>;

/** The password of the first administrator. */
interface FirstPassword {
  /** Null if the settings gave the password. */
  readonly generated: string | null;
  readonly hash: string;
}

/** Takes the password from the settings or generates one, and hashes it. The hash is the longest step of a first start. */
export async function firstPassword(home: Home, { admin, passwordCost }: AdminSettings): Promise<FirstPassword> {
  if (admin.password !== null) await checkGivenPassword(admin.password, admin.username);
  const generated = admin.password === null ? await initialPassword(home) : null;
  return { generated, hash: await hashPassword(admin.password ?? generated!, passwordCost) };
}

/** Throws `StartRefused` with exit code 2 if the password is too short, too long or too easy to guess. */
async function checkGivenPassword(password: string, username: string): Promise<void> {
  checkFirstPassword(password);
  const fault = await passwordFault(password, username);
  if (fault) throw new StartRefused(2, `${daemonSettings.admin.password.variable} ${fault}`, 'choose another one');
}

/**
 * Creates the first administrator of an empty registry. Returns the generated password, to be shown once on a terminal; null if
 * none was generated. A start that was interrupted finds its password in the file.
 */
export async function ensureFirstAdmin(parts: {
  readonly store: Store;
  readonly home: Home;
  /** Started before the store was open; null if the registry already existed. */
  readonly hashing: Promise<FirstPassword> | null;
  readonly settings: AdminSettings;
  readonly now: () => number;
  readonly log: Pick<Logger, 'info'>;
}): Promise<string | null> {
  const { store, home, settings, log } = parts;
  const { username } = settings.admin;
  if ((await store.users({ descending: false, offset: 0, limit: 1 })).total > 0) return null;
  const { generated, hash: passwordHash } = await (parts.hashing ?? firstPassword(home, settings));
  await store.commit({
    at: parts.now(),
    actor: null,
    requestId: null,
    changes: [createFirst(username, passwordHash)],
  });
  log.info(
    { username, ...(generated ? { passwordFile: home.path('initialPassword') } : {}) },
    'the first administrator has been created',
  );
  return generated;
}

async function initialPassword(home: Home): Promise<string> {
  const stored = (await home.readSecret('initialPassword'))?.trim();
  if (stored) return stored;
  const password = newPassword();
  await home.writeSecret('initialPassword', `${password}\n`);
  return password;
}

/** Dependencies of the watch. */
interface InitialPasswordParts {
  readonly home: Home;
  readonly store: Store;
  readonly passwords: Pick<Passwords, 'verify'>;
  readonly warn: (message: string, error: unknown) => void;
}

/**
 * Removes the file with the first password after the password was changed: another daemon may have changed it, also while this
 * one was stopped. A change of another field leaves the file. Returns the function that ends the watch.
 */
export function watchInitialPassword({ home, store, passwords, warn }: InitialPasswordParts): () => Promise<void> {
  const look = async () => {
    const password = (await home.readSecret('initialPassword'))?.trim();
    if (!password) return;
    const user = await store.user(FIRST_USER);
    if (user && !(await passwords.verify(user.passwordHash, password))) await home.remove('initialPassword');
  };
  let looking: Promise<void> = Promise.resolve();
  const start = () => {
    looking = looking.then(look).catch(error => warn('the first password could not be compared', error));
  };
  const unsubscribe = store.onCommit(({ users }) => {
    if (users.includes(FIRST_USER)) start();
  });
  start();
  return () => {
    unsubscribe();
    return looking;
  };
}
