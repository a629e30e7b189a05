/** How passwords are stored and their hashes upgraded. */
import { readFile } from 'node:fs/promises';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Accounts } from '../../daemon/accounts/accounts.ts';
import { Guessing } from '../../daemon/accounts/guessing.ts';
import { Passwords } from '../../daemon/accounts/passwords.ts';
import { Tokens } from '../../daemon/accounts/tokens.ts';
import type { Cost } from '../../daemon/home/bounds.ts';
import type { ServiceTokenRecord } from '../../daemon/requests/callers.ts';
import { Limiter } from '../../daemon/requests/limiter.ts';
import { AuthService } from '../../daemon/sign-in/auth.ts';
import { KeySignIn } from '../../daemon/sign-in/key-sign-in.ts';
import { SignInPolicies } from '../../daemon/sign-in/policies.ts';
import { SignedChallenges } from '../../daemon/sign-in/signed-challenges.ts';
import { type Change, StoreFailure } from '../../daemon/store/commit.ts';
import { openTemporary } from '../support/sqlite.ts';

const password = 'correct horse battery';
const cheap: Cost = { N: 2 ** 10, r: 8, p: 1 };
let opened: Awaited<ReturnType<typeof openTemporary>>;
let accounts: Accounts;
let tokens: Tokens;
let auth: AuthService;
const guessing = new Guessing({ enabled: false });
const passwordsAt = (cost?: Cost) => new Passwords(opened.store, new Limiter(), guessing, cost);

beforeEach(async () => {
  opened = await openTemporary();
  accounts = new Accounts(opened.store);
  tokens = new Tokens([{ key: new Uint8Array(32).fill(1), createdAt: null, replacedAt: null }], accounts, Date.now);
  auth = new AuthService({ ...signIn(), passwords: passwordsAt(), guessing, tokens, now: Date.now });
});
afterEach(async () => {
  await opened.cleanup();
});

async function addUser(cost?: Cost): Promise<void> {
  const passwordHash = await passwordsAt(cost).hash(password);
  const user = { username: 'ada', passwordHash, role: 'ADMIN', email: null, disabled: false } as const;
  await opened.store.commit({
    at: Date.now(),
    actor: null,
    requestId: null,
    changes: [{ kind: 'user.add', user, entry: { type: 'USER_CREATED' } }],
  });
}
const storedHash = () => {
  const db = new Database(opened.file, { readonly: true });
  const hash = db.prepare('SELECT password_hash FROM user').pluck().get() as string;
  db.close();
  return hash;
};
/** Single sign-on is off. */
const local = { demandLocal: async () => {}, admitKey: async () => undefined };
const signIn = (store = opened.store) => {
  const challenges = new SignedChallenges(new Uint8Array(32));
  const now = Date.now;
  return {
    store,
    policies: new SignInPolicies({ store, now }),
    keys: new KeySignIn({ store, challenges, tokens, guessing, local, now }),
    local,
    sessions: { demand: async () => {} },
  };
};
const request = { address: '127.0.0.1', requestId: 'request-1', site: 'no site' };
const login = (given = password) => auth.login({ username: 'ada', password: given }, request);

it('a password is stored as scrypt at a recommended cost (N 2^15, r 8, p 3) with its own salt', async () => {
  await addUser();
  const [scheme, N, r, p, salt, key] = storedHash().split('$');
  expect([scheme, N, r, p]).toEqual(['scrypt', '32768', '8', '3']);
  expect(Buffer.from(salt!, 'base64url')).toHaveLength(16);
  expect(Buffer.from(key!, 'base64url')).toHaveLength(32);
  expect(await passwordsAt().hash(password)).not.toBe(await passwordsAt().hash(password));
});

it('a hash of an earlier cost is replaced at the next login; tokens stay valid', async () => {
  await addUser(cheap);
  const { token } = tokens.issue((await opened.store.userByName('ada'))!);
  const before = storedHash();
  await expect(login('a wrong one')).rejects.toMatchObject({ code: 1003 });
  expect(storedHash()).toBe(before);
  const response = await login();
  expect(storedHash()).toMatch(/^scrypt\$32768\$8\$3\$/);
  for (const valid of [token, response.token]) expect((await tokens.check(valid)).user?.username).toBe('ada');
  const renewed = storedHash();
  await login();
  expect(storedHash()).toBe(renewed);
});

it('a login does not fail if the new hash cannot be written; the next one tries again', async () => {
  await addUser(cheap);
  const before = storedHash();
  const store = {
    userByName: opened.store.userByName.bind(opened.store),
    document: opened.store.document.bind(opened.store),
    commit: () => Promise.reject(new StoreFailure('the disk is full')),
  } as unknown as typeof opened.store;
  const hindered = new AuthService({ ...signIn(store), passwords: passwordsAt(), guessing, tokens, now: Date.now });
  const { token } = await hindered.login({ username: 'ada', password }, request);
  expect((await tokens.check(token)).user?.username).toBe('ada');
  expect(storedHash()).toBe(before);
});

it('hashes leave threads for other work: a file is read while all but the first of a flood of hashes still wait', async () => {
  const passwords = passwordsAt({ N: 2 ** 14, r: 8, p: 1 });
  let done = 0;
  // More than there are threads, whatever the size of the pool.
  const flood = Array.from({ length: 48 }, () => passwords.hash(password).then(() => done++));
  // All of them have requested a thread or wait to do so.
  await new Promise(resolve => setImmediate(resolve));
  await readFile(import.meta.filename);
  // If they had taken all threads, the file would have been read after the last of them.
  expect(done).toBeLessThan(4);
  await Promise.all(flood);
});

it('a confirmation by a service token is compared with the 32 oldest enabled ADMINs, and with no more', async () => {
  const [wrong, right] = [await passwordsAt(cheap).hash('another password'), await passwordsAt(cheap).hash(password)];
  const add = (username: string, passwordHash: string): Change => ({
    kind: 'user.add',
    user: { username, passwordHash, role: 'ADMIN', email: null, disabled: false },
    entry: { type: 'USER_CREATED' },
  });
  const disableFirst: Change = {
    kind: 'user.set',
    user: 1,
    set: { disabled: true },
    revoke: true,
    entry: { type: 'USER_UPDATED' },
  };
  const commit = (changes: readonly Change[]) => opened.store.commit({ at: 1, actor: null, requestId: null, changes });
  const serviceToken = { number: 1, name: 'line-3' } as ServiceTokenRecord;
  const caller = { role: 'DEALER', user: null, serviceToken, expiresAt: 0, loginAt: 0 } as const;
  const context = { caller, requestId: 'r', address: '192.0.2.7' };
  await commit([...Array.from({ length: 32 }, (_, i) => add(`admin-${i}`, wrong)), add('the-33rd', right)]);
  const confirm = () => passwordsAt(cheap).confirmAdministrator(context, password);
  await expect(confirm()).rejects.toMatchObject({ code: 1003 });
  await commit([disableFirst]);
  await confirm();
});
