import { type CallerGuard, lostByToken, lostByUser } from '../../domain/caller.ts';
import type { ServiceTokenRecord } from '../../domain/service-token.ts';
import type { UserRecord } from '../../domain/user.ts';
import { CallerRefused } from '../commit.ts';
import type { Statements } from './statements.ts';

type Rights = Pick<UserRecord, 'tokenEpoch' | 'role' | 'email' | 'disabled'>;

/** What guards on a user look at. */
export function rightsOf(statements: Statements, user: number): Rights | undefined {
  const sql = 'SELECT token_epoch AS tokenEpoch, role, email, disabled FROM user WHERE number = ?';
  const row = statements.get<Omit<Rights, 'disabled'> & { readonly disabled: number }>(sql, user);
  return row && { ...row, disabled: row.disabled === 1 };
}

/**
 * Checks the callers of commits. What was read of them is kept, because the process is the only writer of the database: reading it
 * for each commit would make a registration 5 % slower (measured).
 */
export class Callers {
  readonly #users = new Map<number, Rights>();
  readonly #tokens = new Map<number, Pick<ServiceTokenRecord, 'revokedAt'>>();

  /** To be called after every change of a user or service token, and when a transaction was undone. */
  forget(): void {
    this.#users.clear();
    this.#tokens.clear();
  }

  /** Throws `CallerRefused` if the caller has lost the right to write. */
  check(statements: Statements, caller: CallerGuard): void {
    const lost =
      caller.kind === 'user'
        ? lostByUser(caller, this.#user(statements, caller.user))
        : lostByToken(this.#token(statements, caller.token));
    if (lost) throw new CallerRefused(lost);
  }

  #user(statements: Statements, number: number): Rights | undefined {
    const found = this.#users.get(number) ?? rightsOf(statements, number);
    if (found) this.#users.set(number, found);
    return found;
  }

  #token(statements: Statements, number: number): Pick<ServiceTokenRecord, 'revokedAt'> | undefined {
    const sql = 'SELECT revoked_at AS revokedAt FROM service_token WHERE number = ?';
    const found = this.#tokens.get(number) ?? statements.get<Pick<ServiceTokenRecord, 'revokedAt'>>(sql, number);
    if (found) this.#tokens.set(number, found);
    return found;
  }
}
