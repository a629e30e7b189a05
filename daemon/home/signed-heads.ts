/**
 * The lines of the file `journal-heads`: where the journal ended at a time, each authenticated with a key derived from the key
 * of the journal. The file is not in the database: a person who can write the database cannot make an earlier journal look
 * like the present one.
 */
import { createHmac } from 'node:crypto';
import type { JournalAnchor, JournalHead } from '../store/queries.ts';

/**
 * `head`: the journal ended here. `restored`: a restore put this journal in place, and earlier lines no longer hold.
 * `restoring`: a restore is about to do that; always the last line. `compacted`: lines before this one were removed.
 */
export type HeadKind = 'head' | 'restored' | 'restoring' | 'compacted';

/** A line of the file. */
export interface HeadLine extends JournalHead {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly kind: HeadKind;
}

/** The content of the file. */
export interface HeadLines {
  readonly lines: readonly HeadLine[];
  /** The signature of the last line, which the next one continues; empty if there is no line. */
  readonly signature: string;
  /** Fault of the file; null if there is none. Lines from there on are not in `lines`. */
  readonly problem: string | null;
  /** The last line was not written completely. */
  readonly torn: boolean;
}

const PURPOSE = 'devmgr signed heads';
/** In place of the code of an entry if the journal is empty. */
const NONE = '-';
const kinds: readonly string[] = ['head', 'restored', 'restoring', 'compacted'] satisfies HeadKind[];

/** Signs and reads lines with one key of the journal. */
export class HeadSigner {
  readonly #key: Buffer;

  constructor(journalKey: Uint8Array) {
    this.#key = createHmac('sha256', journalKey).update(PURPOSE).digest();
  }

  /** The line as text, with its line break, and its signature. */
  sign({ id, mac, at, kind }: HeadLine, before: string): { readonly text: string; readonly signature: string } {
    const content = `${id} ${mac || NONE} ${new Date(at).toISOString()} ${kind}`;
    const signature = createHmac('sha256', this.#key).update(`${before}\n${content}`).digest('base64url');
    return { text: `${content} ${signature}\n`, signature };
  }

  /** Reads the file up to the first line that is not genuine. */
  read(text: string): HeadLines {
    const rows = text.split('\n');
    const torn = rows.pop() !== '';
    const lines: HeadLine[] = [];
    let signature = '';
    for (const row of rows) {
      const line = parse(row);
      if (!line || this.sign(line, signature).text !== `${row}\n`) {
        const problem = `line ${lines.length + 1} of journal-heads was changed, inserted or moved, or is of another journal key`;
        return { lines, signature, problem, torn };
      }
      lines.push(line);
      signature = row.slice(row.lastIndexOf(' ') + 1);
    }
    return { lines, signature, problem: null, torn };
  }
}

function parse(row: string): HeadLine | null {
  const [id, mac, at, kind, signature, ...rest] = row.split(' ');
  if (!id || !mac || !at || !kind || !signature || rest.length > 0 || !kinds.includes(kind)) return null;
  const number = Number(id);
  const time = Date.parse(at);
  if (!Number.isSafeInteger(number) || Number.isNaN(time)) return null;
  return { id: number, mac: mac === NONE ? '' : mac, at: time, kind: kind as HeadKind };
}

/**
 * Entries that the journal must contain by these lines: those since the last restore. After a restore that was interrupted, nothing until
 * the registry is opened for writing: the lines do not say whether the earlier registry or the restored one is in place.
 */
export function anchorsOf(lines: readonly HeadLine[]): JournalAnchor[] {
  if (lines.at(-1)?.kind === 'restoring') return [];
  const from = Math.max(
    0,
    lines.findLastIndex(({ kind }) => kind === 'restored'),
  );
  return lines
    .slice(from)
    .filter(({ id }) => id > 0)
    .map(({ id, mac, at }) => ({ id, mac, source: `the signed head of ${new Date(at).toISOString()}` }));
}
