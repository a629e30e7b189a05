/** Single-use codes and requests of terminals that nodes share: a table for each that is not logged, and one statement for each step. */
import {
  type PendingTerminalLogin,
  type SingleUseCodes,
  type WaitingTerminals,
  waitingBounds,
} from '../short-lived.ts';
import { serverTime } from './counters.ts';
import type { Readers } from './readers.ts';

/** Expired rows that each new code removes. A row that another node removes is left to it. */
const SWEPT = 100;

export class PostgresCodes implements SingleUseCodes {
  readonly #readers: Pick<Readers, 'run'>;
  readonly #put: string;
  readonly #take: string;

  /** `clock`: an SQL expression for milliseconds since 1970; the time of the server if absent. */
  constructor(readers: Pick<Readers, 'run'>, clock: string = serverTime) {
    this.#readers = readers;
    this.#put = `WITH swept AS (DELETE FROM sign_in_code WHERE digest IN (
        SELECT digest FROM sign_in_code WHERE ends_at <= ${clock} ORDER BY ends_at LIMIT ${SWEPT} FOR UPDATE SKIP LOCKED))
      INSERT INTO sign_in_code (digest, session, ends_at) VALUES ($1, $2, ${clock} + $3::int8) ON CONFLICT DO NOTHING`;
    this.#take = `DELETE FROM sign_in_code WHERE digest = $1 RETURNING session, ends_at > ${clock} AS valid`;
  }

  async put(digest: string, session: string, milliseconds: number): Promise<void> {
    await this.#readers.run(this.#put, [digest, session, milliseconds]);
  }

  /** Repeated after a failed connection, it finds nothing if the first statement was carried out: the code is then lost, not used twice. */
  async take(digest: string): Promise<string | null> {
    const [row] = (await this.#readers.run(this.#take, [digest])).rows;
    return row?.valid === true ? (row.session as string) : null;
  }
}

/** Removes the waiting requests among `codes`. One that another node approves or removes at the moment is left to it. */
const removeWaiting = (codes: string) => `DELETE FROM terminal_login WHERE code IN (
    SELECT code FROM terminal_login WHERE login IS NULL AND code IN (${codes}) FOR UPDATE SKIP LOCKED)`;

/** $1 network, $2 most. */
const trimNetwork = removeWaiting(
  'SELECT code FROM terminal_login WHERE network = $1 AND login IS NULL ORDER BY number DESC OFFSET $2::int8',
);

/** $1 most. The networks are counted only if there are more. */
const trimAll = removeWaiting(`
  SELECT code FROM (
    SELECT code, number, count(*) OVER (PARTITION BY network) AS crowd FROM terminal_login WHERE login IS NULL) AS waiting
  ORDER BY crowd DESC, number
  LIMIT greatest((SELECT count(*) FROM terminal_login WHERE login IS NULL) - $1::int8, 0)`);

const statementsAt = (now: string) => ({
  add: `WITH ended AS (DELETE FROM terminal_login WHERE code IN (
      SELECT code FROM terminal_login WHERE ends_at <= ${now} FOR UPDATE SKIP LOCKED))
    INSERT INTO terminal_login (code, terminal, network, shown, ends_at)
    VALUES ($1, $2, $3, $4, ${now} + $5::int8) ON CONFLICT DO NOTHING`,
  find: `SELECT shown FROM terminal_login WHERE code = $1 AND login IS NULL AND ends_at > ${now}`,
  approve: `UPDATE terminal_login SET login = $2 WHERE code = $1 AND login IS NULL AND ends_at > ${now} RETURNING shown`,
  take: `DELETE FROM terminal_login WHERE terminal = $1 AND login IS NOT NULL RETURNING login, ends_at > ${now} AS valid`,
});

/**
 * A statement that is repeated after a failed connection finds nothing if the first one was carried out: the approval is then reported as
 * that of an unknown code, or the login is lost. Neither happens twice.
 */
export class PostgresTerminalLogins implements WaitingTerminals {
  readonly #readers: Pick<Readers, 'run'>;
  readonly #statements: ReturnType<typeof statementsAt>;

  /** `clock`: an SQL expression for milliseconds since 1970; the time of the server if absent. */
  constructor(readers: Pick<Readers, 'run'>, clock: string = serverTime) {
    this.#readers = readers;
    this.#statements = statementsAt(clock);
  }

  /** Requests that are made at the same moment may exceed the bounds together, until the next one. */
  async add({ code, terminal, network, shown }: PendingTerminalLogin, milliseconds: number): Promise<void> {
    await this.#readers.run(this.#statements.add, [code, terminal, network, shown, milliseconds]);
    await this.#readers.run(trimNetwork, [network, waitingBounds.perNetwork]);
    await this.#readers.run(trimAll, [waitingBounds.total]);
  }

  async find(code: string): Promise<string | null> {
    const [row] = (await this.#readers.run(this.#statements.find, [code])).rows;
    return row ? (row.shown as string) : null;
  }

  async approve(code: string, login: string): Promise<string | null> {
    const [row] = (await this.#readers.run(this.#statements.approve, [code, login])).rows;
    return row ? (row.shown as string) : null;
  }

  async take(terminal: string): Promise<string | null> {
    const [row] = (await this.#readers.run(this.#statements.take, [terminal])).rows;
    return row?.valid === true ? (row.login as string) : null;
  }
}
