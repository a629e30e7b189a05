/** The store in a PostgreSQL database. */

import { StoreFailure } from '../commit.ts';
import { CommitListeners } from '../commit-listeners.ts';
import { type DatabaseOptions, StoreMisconfigured } from '../database.ts';
import { JournalEnd } from '../journal-end.ts';
import type { Migration } from '../schema.ts';
import type { SharedState } from '../short-lived.ts';
import type { Store, SubjectStreams } from '../store.ts';
import type { Subjects } from '../subjects.ts';
import type { AnyTable } from '../table.ts';
import type { Draft } from '../write/draft.ts';
import { GroupCommit } from '../write/group.ts';
import { ConfirmedEntry, confirmedReads } from './confirmed.ts';
import { Connections } from './connections.ts';
import { type CounterParts, PostgresCounters } from './counters.ts';
import { type CommittedTransaction, PostgresEngine } from './engine.ts';
import { plainWords, toOpenFailure } from './failure.ts';
import { type HeadRow, storedHead } from './head.ts';
import { Hints } from './hints.ts';
import { recordInstance } from './imprint.ts';
import { loginFrom } from './login.ts';
import { beforeOpening, prepareDatabase } from './migrate.ts';
import { Primary } from './primary.ts';
import { Readers } from './readers.ts';
import { tableReads } from './reads.ts';
import { rewriteTables } from './rewrite.ts';
import type { DatabaseLogin } from './session.ts';
import { PostgresSharedWork } from './shared-work.ts';
import { PostgresCodes, PostgresTerminalLogins } from './short-lived.ts';
import type { PostgresSubject } from './subject.ts';
import { Watch } from './watch.ts';

/** How to open the store; tests set what a daemon leaves as it is. */
export interface PostgresOptions extends DatabaseOptions {
  /** Milliseconds since 1970; the clock of the system if absent. */
  readonly now?: (() => number) | undefined;
  /** The released ones if absent. */
  readonly migrations?: readonly Migration[] | undefined;
  /** Milliseconds between two looks for commits of others, and for which a commit without an answer is looked for. */
  readonly watchMs?: number | undefined;
  readonly patienceMs?: number | undefined;
  /** Milliseconds in which the server must answer; those of each kind of connection if absent. */
  readonly answerMs?: number | undefined;
  /** Passed to the shared counters. */
  readonly counting?: Pick<CounterParts, 'deadlineMs' | 'clock'> | undefined;
}

const WATCH_MS = 250;
const PATIENCE_MS = 30_000;
/** A server that does not answer the question for its health is not healthy. */
const HEALTH_MS = 3000;

/**
 * Opens the store; creates or upgrades the schema. Rejects with `StoreMisconfigured` or `StoreUnreachable` if the database cannot be
 * used as it is; then nothing was changed.
 */
export async function openPostgresStore(options: PostgresOptions): Promise<Store> {
  const { now = Date.now, subjects } = options;
  await subjects.load('postgres');
  const login = loginFrom(options);
  await prepare(login, options);
  const primary = new Primary(login.address, now);
  const connections = new Connections({
    login,
    primary,
    schema: options.migrations?.length,
    answerMs: options.answerMs,
  });
  try {
    const end = new JournalEnd([options.journalKey, ...(options.otherJournalKeys ?? [])]);
    const writer = await connections.writer();
    const head = (await writer.run('SELECT * FROM head')).rows[0] as unknown as HeadRow;
    const stored = storedHead(head);
    if (stored && !end.isGenuine(stored))
      throw new StoreMisconfigured(
        `the journal of ${login.address.text} is sealed with a key that this home does not have, or was changed`,
        'use the secrets of this registry: journal-key and journal-keys-earlier',
      );
    if (options.instance) await recordInstance(writer, options.instance);
    const confirmed = new ConfirmedEntry(last => connections.confirmer(last));
    // Without its standby, the database serves reads.
    await confirmed.write().then(
      () => primary.knows({ id: head.event, mac: head.mac }),
      () => {},
    );
    const opened = { address: login.address.text, connections, primary, end, head, confirmed };
    return storeOf(subjects, new Handle(opened, options), connections);
  } catch (error) {
    await connections.close();
    throw toOpenFailure(error, login.address.text);
  }
}

interface OpenStore {
  /** The database in words, without a password. */
  readonly address: string;
  readonly connections: Connections;
  readonly primary: Primary;
  readonly end: JournalEnd;
  readonly head: HeadRow;
  readonly confirmed: ConfirmedEntry;
}

function prepare(login: DatabaseLogin, { notice = () => {}, migrations }: PostgresOptions): Promise<void> {
  return beforeOpening(login, session => prepareDatabase(session, { address: login.address, notice, migrations }));
}

/** The parts of an open store, and what they report to each other. */
class Handle {
  readonly readers: Readers;
  readonly confirmed: ConfirmedEntry;
  readonly group: GroupCommit;
  readonly counters: PostgresCounters;
  readonly shortLived: SharedState;
  readonly listeners: CommitListeners;
  readonly #connections: Connections;
  readonly #address: string;
  readonly #watch: Watch;
  readonly #hints: Hints;
  readonly #subjects: Subjects;
  /** Rows added since the server last looked at the table. */
  readonly #unanalyzed = new Map<AnyTable, number>();
  #closing: Promise<void> | null = null;

  constructor(
    { address, connections, primary, end, head, confirmed }: OpenStore,
    { subjects, watchMs = WATCH_MS, patienceMs = PATIENCE_MS, counting, notice, readJournalKeys }: PostgresOptions,
  ) {
    this.#subjects = subjects;
    this.#connections = connections;
    this.#address = address;
    this.listeners = new CommitListeners(notice);
    this.confirmed = confirmed;
    this.readers = new Readers(
      length => connections.reader(length),
      session => primary.serves(session),
    );
    this.counters = new PostgresCounters({
      open: () => connections.counter(),
      runLong: (sql, values) => this.readers.run(sql, values, 'long'),
      ...counting,
    });
    this.shortLived = {
      counters: this.counters,
      codes: new PostgresCodes(this.readers, counting?.clock),
      terminalLogins: new PostgresTerminalLogins(this.readers, counting?.clock),
    };
    const parts = { readers: this.readers, confirmed, from: head.event, everyMs: watchMs };
    this.#watch = new Watch({ ...parts, primary, notify: what => this.listeners.notify(what) });
    this.#hints = new Hints({ open: () => connections.counter(), heard: id => this.#watch.hint(id) });
    const engine = new PostgresEngine({
      subjects,
      session: () => connections.writer(),
      end,
      primary,
      learnKeys: async () => readJournalKeys !== undefined && end.learn(await readJournalKeys()),
      committed: what => this.#committed(what),
      patienceMs,
    });
    this.group = new GroupCommit(subjects, engine);
  }

  behind(): number {
    return this.#watch.behind();
  }

  clockIsOff(): boolean {
    return this.#watch.clockIsOff();
  }

  /** An empty commit takes the lock and compares the clocks. */
  async health(): ReturnType<Store['health']> {
    if (this.group.closed) return { ready: false, detail: 'the store is closed' };
    const late = new StoreFailure('the database does not answer');
    const timeout = new Promise<never>((_, reject) => setTimeout(reject, HEALTH_MS, late).unref());
    try {
      await Promise.race([this.group.add({ at: 0, actor: null, requestId: null, changes: [] }), timeout]);
      return { ready: true, detail: 'PostgreSQL' };
    } catch (error) {
      return { ready: false, detail: plainWords(error, this.#address), error };
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.group.close();
    await this.#hints.close();
    await this.confirmed.close();
    await this.#watch.stop();
    await this.counters.close();
    await this.readers.close();
    await this.#connections.close();
  }

  #committed(what: CommittedTransaction): void {
    this.confirmed.rise(what.notice.lastEventId);
    this.#watch.own(what);
    this.#hints.send(what.notice.lastEventId);
    this.listeners.notify(what.notice);
    for (const { grows } of this.#subjects.stated('postgres')) if (grows) this.#analyze(what.draft, grows);
  }

  #analyze(draft: Draft, { table, analyze }: NonNullable<PostgresSubject['grows']>): void {
    const added = (this.#unanalyzed.get(table) ?? 0) + draft.of(table).added.length;
    const isDue = added >= 1000 && added * 5 >= draft.last[table.name]!;
    this.#unanalyzed.set(table, isDue ? 0 : added);
    if (isDue) this.readers.runOnce(analyze, []).catch(() => {});
  }
}

function storeOf(subjects: Subjects, handle: Handle, connections: Connections): Store {
  const { readers, group, shortLived, listeners } = handle;
  const reads = tableReads(subjects, readers);
  const streams = subjects.stated('postgres').map(one => one.streams?.(() => connections.scanner()));
  return {
    shortLived,
    sharedWork: new PostgresSharedWork({ readers, open: () => connections.worker() }),
    ...reads,
    ...confirmedReads(reads, handle.confirmed),
    ...(Object.assign({}, ...streams) as SubjectStreams),
    commit: commit => group.add(commit),
    onCommit: listener => listeners.add(listener),
    behind: () => handle.behind(),
    eraseFreeSpace: async erased => rewriteTables(await connections.scanner(), erased),
    clockIsOff: () => handle.clockIsOff(),
    health: () => handle.health(),
    close: () => handle.close(),
  };
}
