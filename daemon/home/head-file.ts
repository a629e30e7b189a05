import { open } from 'node:fs/promises';
import type { Anchors } from '../store/maintenance.ts';
import type { JournalHead } from '../store/queries.ts';
import type { Home } from './home.ts';
import { type JournalKeys, journalKeys } from './journal-keys.ts';
import { withSecrets } from './secrets-lock.ts';
import { anchorsOf, type HeadKind, type HeadLine, type HeadLines, HeadSigner } from './signed-heads.ts';

/** Lines at which the file is compacted, and how many of the newest are kept: at most 320 kB. */
const MOST_LINES = 2000;
const KEPT_LINES = 1000;
/** Lines that are kept although they are old. */
const MOST_EVIDENCE = 100;

/** Head that a verification compares the journal with. */
export interface ReadHeads {
  readonly anchors: Anchors;
  /** One line for each fault of the file itself. */
  readonly problems: readonly string[];
}

/** The keys that the file may be signed with: never an earlier one, which others may have read. */
export interface HeadKeys extends Pick<JournalKeys, 'current' | 'next'> {
  /** The key with which this process has verified the file. It may have been replaced since then, in a copy of the folder too. */
  readonly known?: Uint8Array | null;
}

/** The end of a journal without entries. */
export const noEntry: JournalHead = { id: 0, mac: '' };

interface HeadRead {
  readonly key: Uint8Array;
  readonly signer: HeadSigner;
  readonly read: HeadLines;
}

/** A replacement of the key that was interrupted may have signed with the next key already. */
function readWith({ current, next, known }: HeadKeys, text: string): HeadRead {
  const candidates = [current, next, known].filter(key => key !== null && key !== undefined);
  let first: HeadRead | undefined;
  for (const key of candidates) {
    const signer = new HeadSigner(key);
    const found = { key, signer, read: signer.read(text) };
    if (found.read.problem === null) return found;
    first ??= found;
  }
  return first!;
}

/** The signed heads of a home, and the keys that it has. */
export const presentHeads = (home: Home): Promise<ReadHeads> =>
  withSecrets(home, async () => readHeads(home, await journalKeys(home)));

/** Reads the signed heads of a home. */
export async function readHeads(home: Home, keys: HeadKeys): Promise<ReadHeads> {
  const text = await home.readSecret('journalHeads');
  if (text === null) return { anchors: { heads: [], isFileMissing: true }, problems: [] };
  const { lines, problem } = readWith(keys, text).read;
  return { anchors: { heads: anchorsOf(lines), isFileMissing: false }, problems: problem === null ? [] : [problem] };
}

/**
 * The file of signed heads, as it is when it is opened. Open it again for each use: other daemons may share it. Call all of this within
 * `withSecrets`.
 */
export class HeadFile {
  readonly #home: Home;
  #key: Uint8Array;
  #signer: HeadSigner;
  #lines: HeadLine[];
  #signature: string;
  /** A file that is not genuine is not written: its content remains as evidence. */
  readonly problem: string | null;

  private constructor(home: Home, { key, signer, read: { lines, signature, problem } }: HeadRead) {
    this.#home = home;
    this.#key = key;
    this.#signer = signer;
    this.#lines = [...lines];
    this.#signature = signature;
    this.problem = problem;
  }

  /** Creates the file if there is none, so that it exists before the first entry that must be in it. */
  static async open(home: Home, keys: HeadKeys): Promise<HeadFile> {
    const text = await home.readSecret('journalHeads');
    const found = readWith(keys, text ?? '');
    const { read } = found;
    const file = new HeadFile(home, found);
    const isReplaced = found.key !== keys.current && found.key !== keys.next;
    if (isReplaced && read.problem === null) await file.useKey(keys.current);
    // A write that a crash has interrupted: the next line must not continue it.
    if (text === null || (read.torn && read.problem === null)) await file.#rewrite();
    return file;
  }

  /** The key that the file is signed with. */
  get key(): Uint8Array {
    return this.#key;
  }

  get last(): HeadLine | null {
    return this.#lines.at(-1) ?? null;
  }

  /** Whether it is time to call `compact`. */
  get isFull(): boolean {
    return this.#lines.length >= MOST_LINES;
  }

  /** Adds a line, unless the file has a problem. It is on disk when this resolves. */
  async append(kind: HeadKind, { id, mac }: JournalHead, at: number): Promise<void> {
    if (this.problem !== null) return;
    const line = { id, mac, at, kind };
    const { text, signature } = this.#signer.sign(line, this.#signature);
    const handle = await open(this.#home.path('journalHeads'), 'a', 0o600);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    this.#lines.push(line);
    this.#signature = signature;
  }

  /** Ends a restore that was interrupted, if there is one: it is complete if the journal ends where that of the backup does. */
  async settleRestore(present: JournalHead | null): Promise<void> {
    const pending = this.#lines.at(-1);
    if (pending?.kind !== 'restoring' || this.problem !== null) return;
    const { id, mac } = present ?? noEntry;
    const others = this.#lines.slice(0, -1);
    // In one step: an earlier release does not know lines of this kind.
    this.#lines = pending.id === id && pending.mac === mac ? [...others, { ...pending, kind: 'restored' }] : others;
    await this.#rewrite();
  }

  /**
   * Removes old lines, except those that the journal contradicts: they are what is left of removed entries. `holds`: whether the
   * journal contains the head.
   */
  async compact(holds: (head: JournalHead) => Promise<boolean>): Promise<void> {
    const kept = this.#lines.slice(-KEPT_LINES);
    const evidence: HeadLine[] = [];
    const restored = this.#lines.findLastIndex(({ kind }) => kind === 'restored');
    for (const line of this.#lines.slice(Math.max(0, restored), -KEPT_LINES))
      if (evidence.length < MOST_EVIDENCE && line.id > 0 && !(await holds(line))) evidence.push(line);
    const [first, ...others] = [...evidence, ...kept];
    this.#lines = [{ ...first!, kind: first!.kind === 'restored' ? 'restored' : 'compacted' }, ...others];
    await this.#rewrite();
  }

  /** Signs all lines with another key of the journal. */
  async useKey(journalKey: Uint8Array): Promise<void> {
    this.#key = journalKey;
    this.#signer = new HeadSigner(journalKey);
    if (this.problem === null) await this.#rewrite();
  }

  async #rewrite(): Promise<void> {
    let text = '';
    let signature = '';
    for (const line of this.#lines) {
      const signed = this.#signer.sign(line, signature);
      text += signed.text;
      signature = signed.signature;
    }
    await this.#home.writeSecret('journalHeads', text);
    this.#signature = signature;
  }
}
