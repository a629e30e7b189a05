import { AnchorCheck } from '../anchors.ts';
import { entryMac, type JournalRow, type Mac, noEntries, sealOf } from '../chain.ts';
import { type EntryType, subjectKindOf } from '../journal.ts';
import type { ChainedRow, StoredHead } from '../journal-end.ts';
import { type JournalKeyList, KeyRing } from '../key-ring.ts';
import type { Anchors, JournalReport } from '../maintenance.ts';
import type { AssignedReplay } from '../subject.ts';
import type { Subjects } from '../subjects.ts';
import type { Fields, Replay, ReplayedEntry } from './replay.ts';

const maxProblems = 100;

/**
 * Checks a journal, entry by entry: finds entries that were changed, removed, inserted or moved, and collects what the tables must say.
 * Call `entry` for each, then `end`, and compare the tables with `replays` if it returns true. All must be of one moment.
 */
export class JournalCheck {
  readonly replays: Replays;
  readonly #ring: KeyRing;
  readonly #anchored: AnchorCheck;
  readonly #problems: string[] = [];
  #last = noEntries;
  #entries = 0;
  #isWhole = false;
  /** Takes a line for the report. */
  readonly report = (text: string): void => {
    if (this.#problems.length < maxProblems) this.#problems.push(text);
  };

  /** `saltOf`: see `Replays`. */
  constructor(
    subjects: Subjects,
    keys: JournalKeyList,
    anchors: Anchors | undefined,
    saltOf: (number: number) => string | undefined,
  ) {
    this.replays = new Replays(subjects, saltOf);
    this.#ring = new KeyRing(keys);
    this.#anchored = new AnchorCheck(anchors);
  }

  /** Id of the last entry. */
  get last(): number {
    return this.#last.id;
  }

  /** Entries come by ascending id. */
  entry(row: ChainedRow): void {
    const { id, mac } = this.#last;
    if (row.id !== id + 1) this.report(missing(id + 1, row.id - 1));
    else if (entryMac(this.#ring.mac, mac, row) !== row.mac)
      this.report(`entry ${row.id} was changed, inserted or moved, or the journal key is a different one`);
    else {
      const problem = this.#ring.pass(row);
      if (problem) this.report(problem);
    }
    this.replays.apply(row);
    this.#anchored.entry(row);
    this.#last = { id: row.id, mac: row.mac };
    this.#entries++;
  }

  /** `head`: as it is stored after the last entry. Returns whether the journal is whole: missing entries explain any difference. */
  end(head: StoredHead | null, hasRecords: boolean): boolean {
    for (const text of this.#endProblems(head, this.#ring.mac)) this.report(text);
    if (head === null && this.#entries === 0 && hasRecords) this.report('all entries and the seal were removed');
    this.#isWhole = this.#problems.length === 0;
    return this.#isWhole;
  }

  /** The report, after the tables were compared. */
  result(): JournalReport {
    for (const text of this.#anchored.problems(this.last, this.replays.hasDigests)) this.report(text);
    const notCovered = this.#isWhole ? this.replays.notCovered : ['users and devices, because the journal is damaged'];
    const report = { entries: this.#entries, problems: this.#problems };
    return notCovered.length ? { ...report, notCovered } : report;
  }

  #endProblems(head: StoredHead | null, mac: Mac): string[] {
    const { id: last, mac: lastMac } = this.#last;
    if (head === null) return last === 0 ? [] : ['the seal at the end of the journal was removed'];
    if (sealOf(mac, head) !== head.seal)
      return ['the seal at the end of the journal was changed, or the journal key is a different one'];
    if (head.id > last) return [missing(last + 1, head.id)];
    if (head.id < last) return [`entries after ${head.id} were inserted`];
    return head.mac === lastMac ? [] : [`entry ${last} is not the one the journal was sealed with`];
  }
}

const missing = (from: number, to: number) =>
  from === to ? `entry ${from} was removed` : `entries ${from} to ${to} were removed`;

/**
 * The tables as the journal records that they must be. A person who removes the last entries and puts an earlier seal back leaves
 * rows that no entry explains: a promoted user, another password, an unlocked device.
 */
class Replays {
  readonly all: readonly Replay<never, never>[];
  /** Whether entries of this version are among them. */
  hasDigests = false;
  readonly #by: ReadonlyMap<string | null | undefined, AssignedReplay['replay']>;
  readonly #many: NonNullable<AssignedReplay['many']>;
  readonly #open: (json: string) => Fields;

  /** `saltOf`: what opens the names of a number; undefined if it is gone. */
  constructor({ all, names }: Subjects, saltOf: (number: number) => string | undefined) {
    const assigned = all.flatMap(({ replays }) => replays?.() ?? []);
    this.all = assigned.map(({ replay }) => replay);
    this.#by = new Map(assigned.flatMap(({ takes, replay }) => [takes].flat().map(name => [name, replay] as const)));
    this.#many = Object.assign({}, ...assigned.map(({ many }) => many));
    this.#open = json => names?.open(fieldsOf(json), saltOf) ?? fieldsOf(json);
  }

  /** Takes the entries in their order. */
  apply(row: JournalRow): void {
    const { at, actor, device, subject } = row;
    const type = row.type as EntryType;
    this.hasDigests ||= row.detail.includes('Digest":"');
    const isAboutDocument = device === null && subject === null;
    this.#many[type]?.(fieldsOf(row.detail));
    if (isAboutDocument && !row.detail.includes('"documentDigest":')) return;
    const entry: ReplayedEntry = { type, at, actor, data: this.#open(row.data), detail: this.#open(row.detail) };
    const ofType = this.#by.get(type);
    if (ofType) ofType.apply(subject, entry);
    else if (device !== null) this.#by.get('device')?.apply(device, entry);
    else if (isAboutDocument) this.#by.get('document')?.apply(String(entry.detail.document), entry);
    else this.#by.get(subjectKindOf(type))?.apply(subject, entry);
  }

  /** Facts that entries of an earlier version do not prove; valid after all tables were compared. */
  get notCovered(): readonly string[] {
    return this.all.flatMap(({ notCovered }) => notCovered || []);
  }
}

/** Empty if the text is not an object: the entry was changed, which the chain reports. */
function fieldsOf(json: string): Fields {
  if (json === '{}') return {};
  try {
    return (JSON.parse(json) ?? {}) as Fields;
  } catch {
    return {};
  }
}
