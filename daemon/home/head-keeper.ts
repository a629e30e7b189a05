import type { JournalHead, Store } from '../store/store.ts';
import { HeadFile, type HeadKeys } from './head-file.ts';
import type { Home } from './home.ts';

/** Milliseconds from the first commit after a line until the next line. */
const DELAY_MS = 30_000;

/** What the keeper works with. `now`: milliseconds since 1970. */
export interface HeadKeeperParts {
  readonly home: Home;
  readonly store: Store;
  readonly keys: HeadKeys;
  readonly now: () => number;
  /** Receives what is wrong, for the log. */
  readonly warn: (message: string, error?: unknown) => void;
}

/**
 * Writes signed heads while a store is open: at the start, half a minute after a commit, and at the end. A commit never waits
 * for it, and a write that fails is tried again after the next commit.
 */
export class HeadKeeper {
  readonly #parts: HeadKeeperParts;
  readonly #file: HeadFile;
  readonly #unsubscribe: () => void;
  #timer: NodeJS.Timeout | null = null;
  #writing: Promise<void> = Promise.resolve();

  private constructor(parts: HeadKeeperParts, file: HeadFile) {
    this.#parts = parts;
    this.#file = file;
    this.#unsubscribe = parts.store.onCommit(() => this.#schedule());
  }

  /** Starts to write. After a restore, first writes an entry that says so. */
  static async start(parts: HeadKeeperParts): Promise<HeadKeeper> {
    const file = await HeadFile.open(parts.home, parts.keys);
    const keeper = new HeadKeeper(parts, file);
    const { last } = file;
    if (file.problem) parts.warn(`${file.problem}; no further heads are signed until the file is moved away`);
    else if (last && last.id > 0 && !(await keeper.#holds(last)))
      parts.warn(
        `the journal does not contain its signed head, entry ${last.id}: "devmgr daemon audit --verify" says what is wrong`,
      );
    else if (last?.kind === 'restored') await enterRestore(parts);
    void keeper.write();
    return keeper;
  }

  /** Writes a line if the journal has grown. Never rejects. */
  write(): Promise<void> {
    this.#writing = this.#writing.then(async () => {
      try {
        const head = await this.#parts.store.journalHead();
        const { last } = this.#file;
        if (head && (head.id !== last?.id || head.mac !== last.mac))
          await this.#file.append('head', head, this.#parts.now());
        if (this.#file.isFull) await this.#file.compact(line => this.#holds(line));
      } catch (error) {
        this.#parts.warn('the head of the journal could not be signed; trying again after the next commit', error);
      }
    });
    return this.#writing;
  }

  /** Signs all lines with another key of the journal. Rejects if the file cannot be written. */
  useKey(journalKey: Uint8Array): Promise<void> {
    const signed = this.#writing.then(() => this.#file.useKey(journalKey));
    this.#writing = signed.catch(() => {});
    return signed;
  }

  /** Writes the last line. To be called before the store is closed. */
  async stop(): Promise<void> {
    this.#unsubscribe();
    if (this.#timer) clearTimeout(this.#timer);
    await this.write();
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

/** Says in the journal that it was restored: the numbers of its later entries were used before, for others. */
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
