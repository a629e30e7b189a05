import type { Home } from '../home/home.ts';
import type { Store } from '../store/store.ts';
import { FIRST_USER } from './first-admin.ts';
import type { Passwords } from './passwords.ts';

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
