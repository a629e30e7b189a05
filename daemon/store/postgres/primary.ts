/** The state of the server that this process knows: a server that lacks any of it must not replace it. */
import { StoreUnreachable } from '../database.ts';
import type { JournalHead } from '../queries.ts';
import type { Address } from './address.ts';
import type { DatabaseSession } from './session.ts';

/** Milliseconds that the clocks of this node and of the database may differ. */
const MAX_SKEW_MS = 5000;

/** Refuses servers that lack what this process knows to be committed, and a clock that is off. */
export class Primary {
  readonly #address: Address;
  readonly #now: () => number;
  #timeline = '';
  #acknowledged: JournalHead = { id: 0, mac: '' };

  constructor(address: Address, now: () => number) {
    this.#address = address;
    this.#now = now;
  }

  /** The journal contained this entry when a commit was acknowledged, or when it was read. */
  knows(head: JournalHead): void {
    if (head.id > this.#acknowledged.id) this.#acknowledged = head;
  }

  /**
   * Looks at the server of a new connection. After a failover, an old primary that came back, or a standby that was behind, must
   * not be written to: what was acknowledged would be lost. Rejects with `StoreUnreachable`.
   */
  async check(session: DatabaseSession): Promise<void> {
    // The commits of other sessions continue.
    const { id, mac } = this.#acknowledged;
    const [server, entry] = await Promise.all([
      session.run(
        `SELECT current_setting('transaction_read_only') = 'on' AS readonly,
           CASE WHEN NOT pg_is_in_recovery() THEN substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8) END AS timeline`,
      ),
      session.run('SELECT mac FROM event WHERE id = $1', [id]),
    ]);
    const { readonly, timeline } = server.rows[0] as { readonly: boolean; timeline: string | null };
    const { text } = this.#address;
    if (timeline === null || readonly)
      throw new StoreUnreachable(
        `${text} is read-only${timeline === null ? ': it is a standby' : ''}`,
        'name the primary server',
      );
    if (timeline < this.#timeline)
      throw new StoreUnreachable(
        `${text} is on timeline ${timeline}, and this node has used timeline ${this.#timeline}: it is an earlier primary`,
        'stop that server, or make it a standby of the present primary',
      );
    if (id > 0 && entry.rows[0]?.mac !== mac)
      throw new StoreUnreachable(
        `${text} lacks journal entry ${id}, which was acknowledged: a failover has lost it`,
        'name the server that has it; to accept the loss, move journal-heads away and restart the daemon',
      );
    if (timeline > this.#timeline) this.#timeline = timeline;
    session.timeline = timeline;
  }

  /** The latest timeline that this process has used: a higher one is that of another primary. */
  get timeline(): string {
    return this.#timeline;
  }

  /** Whether a session works and has the latest primary: an earlier one may show what was lost. */
  serves(session: DatabaseSession): boolean {
    return session.alive && session.timeline === this.#timeline;
  }

  /**
   * Milliseconds by which the clocks differ, 0 if the difference is within the tolerance. `database`: its time, read between
   * `asked`, by the clock of this node, and now.
   */
  clockOff(database: number, asked: number): number {
    const ahead = database - this.now();
    const behind = asked - database;
    return ahead > MAX_SKEW_MS ? ahead : behind > MAX_SKEW_MS ? behind : 0;
  }

  /** Throws if the clocks differ. The parameters are those of `clockOff`. */
  checkClock(database: number, asked: number): void {
    const off = this.clockOff(database, asked);
    if (off > 0)
      throw new StoreUnreachable(
        `the clock of this machine is ${Math.round(off / 1000)} s off that of the database`,
        'synchronize both clocks (NTP)',
      );
  }

  /** Milliseconds since 1970, by the clock of this node. */
  now(): number {
    return this.#now();
  }
}
