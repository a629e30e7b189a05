/** How far the journal was forwarded: in the home, or in the database if several daemons share it. */
import { createHash } from 'node:crypto';
import { StoreFailure } from '../store/commit.ts';
import type { EventRecord } from '../store/journal.ts';
import type { SharedWork, Store } from '../store/store.ts';

const digest = (value: unknown): string => createHash('sha256').update(JSON.stringify(value)).digest('hex');

/** After a restore, the ids of later entries are assigned again: this distinguishes two entries with one id. */
const markOf = ({ id, at, type, device, subject, actor }: EventRecord): string =>
  digest([id, at, type, device, subject, actor]);

interface StoredPosition {
  /** Digest of the target: a URL can contain a secret. */
  readonly target: string;
  /** The last entry that was delivered. */
  readonly id: number;
  readonly mark: string;
}

/** The home, as far as a position is kept there. */
export interface PositionHome {
  readSecret(name: 'auditForward'): Promise<string | null>;
  writeSecret(name: 'auditForward', text: string): Promise<void>;
}

/** The position of one target in the journal. */
export class ForwardPosition {
  readonly #home: PositionHome;
  readonly #target: string;
  readonly #shared: SharedWork | undefined;
  /** The note as it was read or written last. */
  #noted: string | null = null;

  /** `shared` is absent if one daemon uses the registry. */
  constructor(home: PositionHome, url: string, shared: SharedWork | undefined) {
    this.#home = home;
    this.#target = digest(url);
    this.#shared = shared;
  }

  /** The name of the work of forwarding to this target, and of its note. */
  get work(): string {
    return `forward ${this.#target}`;
  }

  /**
   * Id of the last entry that was delivered; 0 for a new target. `replaced` if the journal no longer has that entry: then all
   * entries are delivered again.
   */
  async read(store: Pick<Store, 'events'>): Promise<{ readonly id: number; readonly replaced: boolean }> {
    const stored = parse(await this.#text());
    if (stored?.target !== this.#target) return { id: 0, replaced: false };
    const [record] = await store.events({ after: stored.id - 1, limit: 1 });
    const isSame = record !== undefined && markOf(record) === stored.mark;
    return isSame ? { id: stored.id, replaced: false } : { id: 0, replaced: true };
  }

  /** It is on disk when this resolves. Rejects with `StoreFailure` if another daemon has continued from the same entry. */
  async write(record: EventRecord): Promise<void> {
    const stored: StoredPosition = { target: this.#target, id: record.id, mark: markOf(record) };
    const text = `${JSON.stringify(stored)}\n`;
    if (!this.#shared) await this.#home.writeSecret('auditForward', text);
    else if (await this.#shared.replaceNote(this.work, this.#noted, text)) this.#noted = text;
    else throw new StoreFailure('another daemon has forwarded the journal in the same time');
  }

  /** A registry that was moved to a database continues at the position that its home has. */
  async #text(): Promise<string | null> {
    this.#noted = this.#shared ? await this.#shared.note(this.work) : null;
    return this.#noted ?? (await this.#home.readSecret('auditForward'));
  }
}

/** Null if there is none, or if it is damaged: entries are rather delivered twice than not at all. */
function parse(text: string | null): StoredPosition | null {
  try {
    const stored = JSON.parse(text ?? 'null') as StoredPosition | null;
    return Number.isSafeInteger(stored?.id) && stored!.id > 0 ? stored : null;
  } catch {
    return null;
  }
}
