import type { Anchors } from './maintenance.ts';
import type { JournalAnchor, JournalHead } from './queries.ts';

/** Compares the entries of a journal, in their order, with heads that were kept outside the database. */
export class AnchorCheck {
  /** By ascending id. */
  readonly #anchors: readonly JournalAnchor[];
  readonly #missing: boolean;
  readonly #problems: string[] = [];
  #next = 0;

  constructor(anchors: Anchors | undefined) {
    this.#anchors = [...(anchors?.heads ?? [])].sort((a, b) => a.id - b.id);
    this.#missing = anchors?.isFileMissing ?? false;
  }

  entry({ id, mac }: JournalHead): void {
    for (; this.#next < this.#anchors.length && this.#anchors[this.#next]!.id <= id; this.#next++) {
      const anchor = this.#anchors[this.#next]!;
      if (anchor.id === id && anchor.mac !== mac)
        this.#problems.push(`entry ${id} is not the one of ${anchor.source}: the journal was replaced or rewritten`);
      else if (anchor.id < id) this.#problems.push(`entry ${anchor.id} of ${anchor.source} was removed`);
    }
  }

  /** The problems that were found, to be called after the last entry. `isRequired`: whether there must be a file of heads. */
  problems(last: number, isRequired: boolean): readonly string[] {
    const end = this.#anchors.at(-1);
    if (end && end.id > last)
      return [
        ...this.#problems,
        `the journal ends at entry ${last}, ${end.source} records ${end.id}: entries were removed`,
      ];
    return this.#missing && isRequired
      ? ['the file journal-heads is missing: put it back from a copy of the home']
      : this.#problems;
  }
}
