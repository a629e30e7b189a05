/** The table of users: its columns, reads, guards and writes. */
import { changedSince, type UserChange, type UserGuard, type UserRecord, type UserSet } from '../../domain/user.ts';
import { Conflict } from '../commit.ts';
import { rightsOf } from './callers.ts';
import type { Statements } from './statements.ts';
import { assignments, columnsOf, pageOf, type Reads, type Stored } from './tables.ts';
import type { Apply, Writes } from './writing.ts';

const fields: Record<keyof UserRecord, 0> = {
  number: 0,
  username: 0,
  passwordHash: 0,
  role: 0,
  email: 0,
  disabled: 0,
  createdAt: 0,
  tokenEpoch: 0,
};
const users = {
  table: 'user',
  columns: columnsOf(fields),
  toRecord: (columns: Stored<UserRecord>): UserRecord => ({ ...columns, disabled: columns.disabled === 1 }),
};
const settableFields: Record<keyof UserSet, 0> = { role: 0, email: 0, disabled: 0, passwordHash: 0 };
const settable = Object.keys(settableFields);

/** The reads of users. */
export function userReads(statements: Statements): Pick<Reads, 'user' | 'userByName' | 'users' | 'admins'> {
  const select = `SELECT ${users.columns} FROM user WHERE`;
  const all = (condition: string, ...values: unknown[]) =>
    statements.all<Stored<UserRecord>>(`${select} ${condition}`, ...values).map(users.toRecord);
  return {
    user: number => all('number = ?', number)[0] ?? null,
    userByName: username => all('username = ?', username)[0] ?? null,
    users: window => pageOf(statements, users, window),
    admins: () => all(`role = 'ADMIN' AND disabled = 0 ORDER BY number`),
  };
}

/** Throws `Conflict` if the guard does not hold. */
export function checkUserGuard(statements: Statements, guard: UserGuard): void {
  if (guard.kind === 'user') {
    const changed = changedSince(guard, rightsOf(statements, guard.user));
    if (changed) throw new Conflict(changed);
    return;
  }
  const other = statements.value<number>(
    `SELECT number FROM user WHERE role = 'ADMIN' AND disabled = 0 AND number <> ? LIMIT 1`,
    guard.beside,
  );
  if (other === undefined) throw new Conflict(`no enabled ADMIN other than user ${guard.beside}`);
}

const add: Apply<'user.add'> = ({ user, entry }, context, writing) => {
  const number = writing.last.user + 1;
  const { changes } = writing.statements.run(
    `INSERT INTO user (number, username, password_hash, role, email, disabled, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (username) DO NOTHING`,
    number,
    user.username,
    user.passwordHash,
    user.role,
    user.email,
    Number(user.disabled),
    context.at,
  );
  if (changes === 0) {
    const existing = writing.statements.value<number>('SELECT number FROM user WHERE username = ?', user.username)!;
    return { kind: 'duplicate', number: existing, status: null };
  }
  writing.last.user = number;
  writing.users.add(number);
  writing.journal.append(context, entry, null, number);
  return { kind: 'added', number };
};

const set: Apply<'user.set'> = ({ user, set: fields, revoke, entry }, context, writing) => {
  const { sql, values } = assignments(settable, fields);
  const all = [sql, revoke ? 'token_epoch = token_epoch + 1' : ''].filter(Boolean).join(', ');
  if (all) writing.statements.run(`UPDATE user SET ${all} WHERE number = ?`, ...values, user);
  writing.users.add(user);
  writing.callers.forget();
  writing.journal.append(context, entry, null, user);
  return { kind: 'done' };
};

/** How changes of users are written. */
export const userWrites: Writes<UserChange['kind']> = {
  'user.add': { apply: add },
  'user.set': {
    check({ user }, statements) {
      if (statements.value('SELECT 1 FROM user WHERE number = ?', user) === undefined)
        throw new Conflict(`user ${user} does not exist`);
    },
    apply: set,
  },
};
