import { open } from 'node:fs/promises';
import type { Anchors } from '../store/maintenance.ts';
import type { JournalHead } from '../store/store.ts';
import type { Home } from './home.ts';
import type { JournalKeys } from './journal-keys.ts';
import { anchorsOf, type HeadKind, type HeadLine, type HeadLines, HeadSigner } from './signed-heads.ts';

/** Lines at which the file is compacted, and how many of the newest are kept: at most 320 kB. */
const MOST_LINES = 2000;
const KEPT_LINES = 1000;
/** Lines that are kept although they are old. */
const MOST_EVIDENCE = 100;

/** What a verification compares the journal with. */
export interface ReadHeads {
  readonly anchors: Anchors;
  /** One line for each fault of the file itself. */
  readonly problems: readonly string[];
}

/** The keys that the file may be signed with: never an earlier one, which others may have read. */
export type HeadKeys = Pick<JournalKeys, 'current' | 'next'>;

/** A replacement of the key that was interrupted may have signed with the next key already. */
function readWith(
  { current, next }: HeadKeys,
  text: string,
): { readonly signer: HeadSigner; readonly read: HeadLines } {
  const candidates = [current, ...(next ? [next] : [])].map(key => {
    const signer = new HeadSigner(key);
    return { signer, read: signer.read(text) };
  });
  return candidates.find(({ read }) => read.problem === null) ?? candidates[0]!;
}

/** Reads the signed heads of a home. */
export async function readHeads(home: Home, keys: HeadKeys): Promise<ReadHeads> {
  const text = await home.readSecret('journalHeads');
  if (text === null) return { anchors: { heads: [], isFileMissing: true }, problems: [] };
  const { lines, problem } = readWith(keys, text).read;
  return { anchors: { heads: anchorsOf(lines), isFileMissing: false }, problems: problem === null ? [] : [problem] };
}

/** The file of signed heads, opened for appending. One process at a time: the one that holds the lock of the home. */
export class HeadFile {
  readonly #home: Home;
  #signer: HeadSigner;
  #lines: HeadLine[];
  #signature: string;
  /** A file that is not genuine is not written: what it says remains as evidence. */
  readonly problem: string | null;

  private constructor(home: Home, signer: HeadSigner, { lines, signature, problem }: HeadLines) {
    this.#home = home;
    this.#signer = signer;
    this.#lines = [...lines];
    this.#signature = signature;
    this.problem = problem;
  }

  /** Creates the file if there is none, so that it exists before the first entry that must be in it. */
  static async open(home: Home, keys: HeadKeys): Promise<HeadFile> {
    const text = await home.readSecret('journalHeads');
    const { signer, read } = readWith(keys, text ?? '');
    const file = new HeadFile(home, signer, read);
    // A write that a crash has interrupted: the next line must not continue it.
    if (text === null || (read.torn && read.problem === null)) await file.#rewrite();
    return file;
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
