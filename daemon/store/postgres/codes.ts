/** Single-use codes that nodes share: a table that is not logged, and one statement for each use. */
import type { SharedCodes } from '../codes.ts';
import { serverTime } from './counters.ts';
import type { Readers } from './readers.ts';

/** Expired rows that each new code removes. A row that another node removes is left to it. */
const SWEPT = 100;

export class PostgresCodes implements SharedCodes {
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
