import { randomBytes } from 'node:crypto';
import type { Home } from '../home/home.ts';
import { checkFirstPassword, type DaemonSettings } from '../home/settings.ts';
import type { Logger } from '../logger.ts';
import type { Store } from '../store/store.ts';
import { hashPassword } from './passwords.ts';

/** The first user ever made; the file with the first password goes when that user's password is changed. */
export const FIRST_USER = 1;

export interface FirstPassword {
  /** Null where it was given. */
  readonly generated: string | null;
  readonly hash: string;
}

/** The password of a first administrator. Its hash takes longer than everything else that a first start does. */
export async function firstPassword(home: Home, admin: DaemonSettings['admin']): Promise<FirstPassword> {
  if (admin.password !== null) checkFirstPassword(admin.password);
  const generated = admin.password === null ? await initialPassword(home) : null;
  return { generated, hash: await hashPassword(admin.password ?? generated!) };
}

/**
 * Makes the first administrator of an empty registry. The returned password, if any, is to be shown once on a terminal;
 * a start that died half-way finds its password in the file again.
 */
export async function ensureFirstAdmin(parts: {
  readonly store: Store;
  readonly home: Home;
  /** What was begun before the store was open; null where the registry was there. */
  readonly ahead: Promise<FirstPassword> | null;
  readonly admin: DaemonSettings['admin'];
  readonly now: () => number;
  readonly log: Logger;
}): Promise<string | null> {
  const { store, home, admin, log } = parts;
  if ((await store.users({ descending: false, offset: 0, limit: 1 })).total > 0) return null;
  const { generated, hash: passwordHash } = await (parts.ahead ?? firstPassword(home, admin));
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
