/** Plan of the changes that a directory means for the persons of the registry. Changes nothing. */

import type { DirectoryStep } from '../../src/contract/directory.ts';
import { personBounds } from '../../src/contract/limits.ts';
import { personKey } from '../../src/contract/person-key.ts';
import { personPortions } from '../people/leavers.ts';
import type { PersonRecord } from '../people/records.ts';
import type { Store } from '../store/store.ts';
import {
  type DirectoryConfig,
  type DirectoryEntry,
  decideAbsence,
  decideEntry,
  doubt,
  type EntryDecision,
  SOURCE,
  withKnownName,
} from './decisions.ts';
import type { LeftOutValue, SkippedEntry } from './ldap/person-entry.ts';
import type { DirectoryPosition } from './ldap/reader.ts';

/** Content read from a directory. */
export interface DirectoryContent {
  readonly config: DirectoryConfig;
  /** False: only entries that changed. */
  readonly isAll: boolean;
  readonly entries: ReadonlyMap<string, DirectoryEntry>;
  readonly skipped: readonly SkippedEntry[];
  /** At most as many as the list of refused requests has. */
  readonly left: readonly LeftOutValue[];
  /** Position from which the next run continues; null if it reads all entries. */
  readonly position: DirectoryPosition | null;
}

/** A step of the plan: a change of one person. */
export interface PlannedStep {
  step: DirectoryStep['step'];
  /** Number of the person; null for an entry that is skipped, and for a new person until it is added (0 in a dry run). */
  number: number | null;
  readonly userName: string | null;
  /** Null: the person has none. */
  readonly entry: DirectoryEntry | null;
  detail: string | null;
  /** Who has the new user name of the person; null if no one has it now. */
  taken?: string | null;
}

/** The steps of a run, and the problem that limits them. */
export interface Plan {
  readonly problem: string | null;
  readonly items: readonly PlannedStep[];
  /** Persons who had already left and are no longer in the directory: recorded, but not reported. */
  readonly gone: readonly PlannedStep[];
  /** Active persons who are gone or disabled in the directory and are not ended, because of the problem. */
  readonly unended: number;
}

/** The numbers, by name, of the groups of the settings, and of those that they named before: no entry is a member of these. */
export type GroupNumbers = ReadonlyMap<string, number>;

/** Persons that are looked for at a time. */
const LOOKUPS = 50;

/** The groups of a person by an entry. Groups that the settings do not name are kept. */
export function groupsFor(person: PersonRecord | null, entry: DirectoryEntry, numbers: GroupNumbers): number[] {
  const managed = new Set(numbers.values());
  const kept = (person?.groups ?? []).filter(number => !managed.has(number));
  const all = new Set([...kept, ...entry.groups.flatMap(name => numbers.get(name) ?? [])]);
  return [...all].sort((a, b) => a - b).slice(0, personBounds.groupsOfPerson);
}

/** The step that an entry requires for a person in the current state. */
export const decide = (
  person: PersonRecord | null,
  entry: DirectoryEntry | null,
  numbers: GroupNumbers,
  lockedDevices: readonly number[] = [],
): EntryDecision =>
  entry
    ? decideEntry(person, withKnownName(entry, person), groupsFor(person, entry, numbers), lockedDevices)
    : person && decideAbsence(person);

/** Plans a run. `acceptMissing`: even if most of the known persons are missing or have new user names. */
export async function plan(
  store: Store,
  content: DirectoryContent,
  numbers: GroupNumbers,
  acceptMissing: boolean,
): Promise<Plan> {
  const skipped = content.skipped.map(({ userName, why }): PlannedStep => {
    return { step: 'skipped', number: null, userName, entry: null, detail: why };
  });
  if (!content.isAll) {
    const items = await planEntries([...content.entries.values()], numbers, entry => personFor(store, entry));
    return { problem: null, items: [...items, ...skipped], gone: [], unended: 0 };
  }
  const { compared, items, absent, others } = await compare(store, content, numbers);
  const read = content.entries.size + content.skipped.length;
  const problem = doubt(read, compared);
  const wereActive = absent.filter(({ wasActive }) => wasActive).map(({ item }) => item);
  if (problem !== null && (read === 0 || !acceptMissing)) {
    const unended = [...items, ...wereActive].filter(({ step }) => step === 'left').length;
    return { problem, items: skipped, gone: [], unended };
  }
  const added = await planEntries(others, numbers, ({ userName }) => store.personByName(userName));
  const unnamed = content.skipped.filter(({ id }) => id === null).length;
  const missing = unnamed === 0 ? absent : [];
  const left = unnamed === 0 ? wereActive : [];
  return {
    problem: unnamed === 0 ? null : `${unnamed} entries have no valid id: missing persons are not recorded as leavers`,
    items: [...items, ...left, ...added, ...skipped],
    gone: missing.filter(({ wasActive }) => !wasActive).map(({ item }) => item),
    unended: wereActive.length - left.length,
  };
}

/** Compares all persons of the directory with all entries. `others`: entries that belong to none of them. */
async function compare(store: Store, { entries, skipped }: DirectoryContent, numbers: GroupNumbers) {
  const others = new Map(entries);
  const ids = new Set(skipped.map(({ id }) => id));
  const items: PlannedStep[] = [];
  const absent: { readonly item: PlannedStep; readonly wasActive: boolean }[] = [];
  const compared = { known: 0, found: 0, renamed: 0 };
  for await (const person of personsOf(store)) {
    const { externalId, active } = person;
    const found = others.get(externalId ?? '') ?? null;
    const entry = found && withKnownName(found, person);
    const isFound = entry !== null || ids.has(externalId);
    if (active) {
      compared.known++;
      if (isFound) compared.found++;
      if (entry && personKey(entry.userName) !== person.userKey) compared.renamed++;
    }
    if (isFound && !entry) continue;
    if (entry) others.delete(entry.id);
    const item = planned(person, entry, decide(person, entry, numbers));
    if (item && entry) items.push(item);
    else if (item) absent.push({ item, wasActive: active });
  }
  return { compared, items, absent, others: [...others.values()] };
}

async function* personsOf(store: Store): AsyncGenerator<PersonRecord> {
  for await (const persons of personPortions(store, { source: SOURCE })) yield* persons;
}

/** Plans entries whose persons `find` looks for. */
async function planEntries(
  entries: readonly DirectoryEntry[],
  numbers: GroupNumbers,
  find: (entry: DirectoryEntry) => Promise<PersonRecord | null>,
): Promise<PlannedStep[]> {
  const items: PlannedStep[] = [];
  for (let at = 0; at < entries.length; at += LOOKUPS) {
    const some = entries.slice(at, at + LOOKUPS);
    const persons = await Promise.all(some.map(find));
    for (const [i, entry] of some.entries()) {
      const person = persons[i] ?? null;
      const item = planned(person, withKnownName(entry, person), decide(person, entry, numbers));
      if (item) items.push(item);
    }
  }
  return items;
}

/** The person of an entry: by id, else by name. */
async function personFor(store: Store, { id, userName }: DirectoryEntry): Promise<PersonRecord | null> {
  const one = { descending: false, offset: 0, limit: 1 };
  const { rows } = await store.people({ source: SOURCE, externalId: id, ...one });
  return rows[0] ?? (await store.personByName(userName));
}

function planned(
  person: PersonRecord | null,
  entry: DirectoryEntry | null,
  decision: EntryDecision,
): PlannedStep | null {
  if (!decision) return null;
  const { step } = decision;
  const detail = 'fields' in decision ? decision.fields.join(', ') || null : 'why' in decision ? decision.why : null;
  // The devices of a leaver are found by the name that the person has here.
  const userName = step === 'left' ? person!.userName : (entry?.userName ?? person!.userName);
  return { step, number: step === 'new' ? null : (person?.number ?? null), userName, entry, detail };
}
