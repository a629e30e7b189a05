import { StoreUnavailable } from '../store/commit.ts';
import type { JournalHead } from '../store/queries.ts';
import type { Store } from '../store/store.ts';
import { HeadFile, type HeadKeys } from './head-file.ts';
import type { Home } from './home.ts';
import { SecretsBusy, withSecrets } from './secrets-lock.ts';

/** Milliseconds from the first commit after a line until the next line. */
const DELAY_MS = 30_000;

/** Dependencies of the keeper. `now`: milliseconds since 1970. */
interface HeadKeeperParts {
  readonly home: Home;
  readonly store: Store;
  /** Reads the keys of the journal as they are now. */
  readonly keys: () => Promise<HeadKeys>;
  readonly now: () => number;
  /** Receives what is wrong, for the log. */
  readonly warn: (message: string, error?: unknown) => void;
}

/**
 * Writes signed heads while a store is open: at the start, half a minute after a commit, and at the end. A commit never waits
 * for it, and a write that fails is tried again after the next commit. Several daemons may share the file.
 */
export class HeadKeeper {
  readonly #parts: HeadKeeperParts;
  readonly #unsubscribe: () => void;
  #timer: NodeJS.Timeout | null = null;
  #writing: Promise<void> = Promise.resolve();
  /** The key with which the file was verified last; null before. */
  #known: Uint8Array | null = null;
  /** Whether the file was compared with the journal since the start. */
  #isCompared = false;
  /** Fault of the file at the last look. */
  #problem: string | null = null;

  private constructor(parts: HeadKeeperParts) {
    this.#parts = parts;
    this.#unsubscribe = parts.store.onCommit(() => this.#schedule());
  }

  /** Starts to write. After a restore, first writes an entry that reports this. */
  static async start(parts: HeadKeeperParts): Promise<HeadKeeper> {
    const keeper = new HeadKeeper(parts);
    await keeper
      .#use(file => keeper.#begin(file))
      .catch(error => {
        if (!(error instanceof SecretsBusy || error instanceof StoreUnavailable)) throw error;
        parts.warn('the signed head of the journal was not compared with the journal yet', error);
      });
    void keeper.write();
    return keeper;
  }

  /** Writes a line if the journal has grown. Never rejects. */
  write(): Promise<void> {
    this.#writing = this.#writing.then(() =>
      this.#use(file => this.#compareAndAppend(file)).catch(error =>
        this.#parts.warn('the head of the journal could not be signed; trying again after the next commit', error),
      ),
    );
    return this.#writing;
  }

  /** Writes the last line. To be called before the store is closed. */
  async stop(): Promise<void> {
    this.#unsubscribe();
    if (this.#timer) clearTimeout(this.#timer);
    await this.write();
  }

  #use(use: (file: HeadFile) => Promise<void>): Promise<void> {
    const { home, keys, warn } = this.#parts;
    return withSecrets(home, async () => {
      const file = await HeadFile.open(home, { ...(await keys()), known: this.#known });
      const { problem } = file;
      if (problem === null) this.#known = file.key;
      else if (problem !== this.#problem) warn(`${problem}; no further heads are signed until the file is moved away`);
      this.#problem = problem;
      if (problem === null) await use(file);
    });
  }

  async #compareAndAppend(file: HeadFile): Promise<void> {
    if (!this.#isCompared) await this.#begin(file);
    await this.#append(file);
  }

  async #begin(file: HeadFile): Promise<void> {
    await file.settleRestore(await this.#parts.store.journalHead());
    await this.#compare(file);
    this.#isCompared = true;
  }

  async #compare(file: HeadFile): Promise<void> {
    const { last } = file;
    if (last === null) return;
    if (last.id > 0 && !(await this.#holds(last)))
      this.#parts.warn(
        `the journal does not contain its signed head, entry ${last.id}: "devmgr daemon audit --verify" explains what is wrong`,
      );
    else if (last.kind === 'restored') {
      await enterRestore(this.#parts);
      // Another daemon that starts must not report it again.
      await this.#append(file);
    }
  }

  async #append(file: HeadFile): Promise<void> {
    const head = await this.#parts.store.journalHead();
    const { last } = file;
    if (head && (head.id !== last?.id || head.mac !== last.mac)) await file.append('head', head, this.#parts.now());
    if (file.isFull) await file.compact(line => this.#holds(line));
  }

  async #holds({ id, mac }: JournalHead): Promise<boolean> {
    return (await this.#parts.store.journalHead(id))?.mac === mac;
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      void this.write();
    }, DELAY_MS).unref();
  }
}

/** Records in the journal that it was restored: the numbers of its later entries were used before, for others. */
async function enterRestore({ store, now }: HeadKeeperParts): Promise<void> {
  const head = await store.journalHead();
  const entry = { type: 'REGISTRY_RESTORED', detail: { restoredTo: head?.id ?? 0 } } as const;
  await store.commit({
    at: now(),
    actor: null,
    requestId: null,
    changes: [{ kind: 'journal.add', entry, device: null, subject: null }],
  });
}
