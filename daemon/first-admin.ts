import { randomBytes } from 'node:crypto';
import type { Home } from './home.ts';
import type { Logger } from './log.ts';
import type { Passwords } from './services/passwords.ts';
import { checkFirstPassword, type DaemonSettings } from './settings.ts';
import type { Store } from './store/store.ts';

/** The first user ever made; the file with the first password goes when that user's password is changed. */
export const FIRST_USER = 1;

/**
 * Makes the first administrator of an empty registry. The returned password, if any, is to be shown once on a terminal;
 * a start that died half-way finds its password in the file again.
 */
export async function ensureFirstAdmin(parts: {
  readonly store: Store;
  readonly home: Home;
  readonly passwords: Passwords;
  readonly admin: DaemonSettings['admin'];
  readonly now: () => number;
  readonly log: Logger;
}): Promise<string | null> {
  const { store, home, admin, log } = parts;
  if ((await store.users({ descending: false, offset: 0, limit: 1 })).total > 0) return null;
  if (admin.password !== null) checkFirstPassword(admin.password);
  const generated = admin.password === null ? await initialPassword(home) : null;
  const passwordHash = await parts.passwords.hash(admin.password ?? generated!);
  await store.commit({
    at: parts.now(),
    actor: null,
    requestId: null,
    changes: [
      {
        kind: 'user.add',
        user: { username: admin.username, passwordHash, role: 'ADMIN', email: null, disabled: false },
        entry: { type: 'USER_CREATED', detail: { username: admin.username, role: 'ADMIN', first: true } },
      },
    ],
  });
  log.info(
    { username: admin.username, ...(generated ? { passwordFile: home.path('initialPassword') } : {}) },
    'the first administrator has been made',
  );
  return generated;
}

async function initialPassword(home: Home): Promise<string> {
  const kept = (await home.readSecret('initialPassword'))?.trim();
  if (kept) return kept;
  const password = randomBytes(18).toString('base64url');
  await home.writeSecret('initialPassword', `${password}\n`);
  return password;
}
