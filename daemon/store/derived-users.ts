import { userIds } from '../../src/contract/ids.ts';
import { passwordDigest } from '../domain/digest.ts';
import type { EntryType } from '../domain/journal.ts';

/** What the entries say of a user. A value is undefined if no entry has it: an entry of an earlier version. */
interface DerivedUser {
  username?: unknown;
  role?: unknown;
  disabled: boolean;
  /** How often all tokens of the user were revoked. */
  epoch: number;
  password: string | undefined;
}

/** What is compared of a user. */
export interface ComparedUser {
  readonly number: number;
  readonly username: string;
  readonly passwordHash: string;
  readonly role: string;
  readonly disabled: boolean;
  readonly epoch: number;
}

type Detail = Readonly<Record<string, unknown>>;

/** The users as the journal says that they are. */
export class DerivedUsers {
  readonly #users = new Map<number, DerivedUser>();
  /** Users whose password no entry proves, after `end`. */
  unproved = 0;

  apply(type: EntryType, number: number, detail: Detail): void {
    if (type === 'USER_CREATED') {
      const { username, role } = detail;
      this.#users.set(number, { username, role, disabled: false, epoch: 0, password: passwordIn(detail) });
      return;
    }
    const user = this.#users.get(number);
    if (!user) return;
    if (type === 'USER_UPDATED') update(user, detail);
    else if (type === 'PASSWORD_CHANGED') Object.assign(user, { epoch: user.epoch + 1, password: passwordIn(detail) });
    else if (type === 'USER_LOGGED_OUT') user.epoch++;
  }

  /** Compares a row of the table with the entries. */
  compare(row: ComparedUser, report: (text: string) => void): void {
    const user = this.#users.get(row.number);
    this.#users.delete(row.number);
    if (user) this.#compareRow(row, user, report);
    else report(`${userIds.format(row.number)} (${row.username}) was added without an entry`);
  }

  /** Reports the users that the table lacks. */
  end(report: (text: string) => void): void {
    for (const number of this.#users.keys()) report(`${userIds.format(number)} was removed without an entry`);
  }

  #compareRow(row: ComparedUser, user: DerivedUser, report: (text: string) => void): void {
    const name = `${userIds.format(row.number)} (${row.username})`;
    const differs = (what: string, found: unknown, said: unknown) => {
      if (said !== undefined && said !== found) report(`${name} ${what} ${found}, the journal says ${said}`);
    };
    differs('has the username', row.username, user.username);
    differs('has the role', row.role, user.role);
    if (row.disabled !== user.disabled)
      report(`${name} was ${user.disabled ? 'enabled' : 'disabled'} without an entry`);
    differs('has had its tokens revoked this often:', row.epoch, user.epoch);
    if (user.password === undefined) this.unproved++;
    else if (user.password !== passwordDigest(row.passwordHash))
      report(`the password of ${name} was changed without an entry`);
  }
}

const passwordIn = ({ passwordDigest }: Detail): string | undefined =>
  typeof passwordDigest === 'string' ? passwordDigest : undefined;

function update(user: DerivedUser, detail: Detail): void {
  const { role, disabled } = (detail.after ?? {}) as Detail;
  if (role !== undefined) user.role = role;
  if (disabled !== undefined) user.disabled = disabled === true;
  if (disabled === true) user.epoch++;
  // A password that was hashed at a new cost.
  if (detail.passwordHash !== undefined) user.password = passwordIn(detail);
}
