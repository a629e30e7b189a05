/** A directory: its settings, its last run, and what an entry means for a person. Decisions only, no I/O. */

import type { DirectoryCounts, DirectorySettings } from '../../src/contract/directory.ts';
import { leaverBrake } from '../../src/contract/limits.ts';
import { personKey } from '../../src/contract/person-key.ts';
import type { DirectoryRun } from '../../src/contract/person-values.ts';
import { comesBack, edit, isEndedHere } from '../people/decisions.ts';
import type { PersonChange, PersonDetails, PersonRecord } from '../people/records.ts';
import { type DocumentRecord, type DocumentSet, replace, type SettingsRecord } from '../store/document.ts';

/** The document with the settings. */
export const DIRECTORY = 'directory';
/** The document with the last run that changed something or read all entries. */
export const DIRECTORY_RUN = 'directory-run';

/** The source of persons. */
export const SOURCE = 'directory';

/** The settings while a directory is in use. */
export interface DirectoryConfig
  extends Pick<
    DirectorySettings,
    'name' | 'attributes' | 'groups' | 'bindDn' | 'ca' | 'everyMinutes' | 'fullEveryMinutes'
  > {
  readonly url: string;
  readonly base: string;
  /** Null: that of the server. */
  readonly filter: string | null;
  /** The password, sealed for address and name; null without a name. */
  readonly sealed: string | null;
}

/** The settings as they are stored; without `config` no directory is in use. */
export type DirectoryRecord = SettingsRecord<DirectoryConfig | null>;

/** Result of a run. */
export interface DirectoryRunRecord {
  /** When it ended, in milliseconds since 1970. */
  readonly at: number;
  readonly kind: DirectoryRun;
  /** Version of the settings. */
  readonly settings: number;
  readonly problem: string | null;
  readonly counts: DirectoryCounts;
  /** Names of the groups that can have members because of it, also those that the settings no longer name. */
  readonly groups: readonly string[];
  /** Active persons whom a doubted answer did not end; absent in runs of earlier versions. */
  readonly unended?: number;
}

/** The last run in a document; null if there was none. */
export const runIn = (document: DocumentRecord | null): DirectoryRunRecord | null =>
  document && (JSON.parse(document.value) as DirectoryRunRecord);

/** Records a run. `before`: the document with the run before it. `by`: who asked for it; null for a daemon. */
export const recordRun = (before: DocumentRecord | null, run: DirectoryRunRecord, by: string | null): DocumentSet =>
  replace({ name: DIRECTORY_RUN, version: before?.version ?? 0 }, JSON.stringify(run), {
    type: 'DIRECTORY_READ',
    detail: { kind: run.kind, problem: run.problem, ...run.counts, by },
  });

/** Whether a run is worth an entry of the journal: those that find nothing new every few minutes are not. */
export function isWorthRecording(before: DirectoryRunRecord | null, run: DirectoryRunRecord) {
  const { kind, problem, counts, groups } = run;
  const { read: _, skipped: __, ...changes } = counts;
  const isOther = problem !== (before?.problem ?? null) || groups.join() !== (before?.groups ?? []).join();
  const isNews =
    isOther || (run.unended ?? 0) !== (before?.unended ?? 0) || Object.values(changes).some(count => count > 0);
  return isNews || (kind === 'ALL' && problem === null);
}

/** An entry of the directory as a person. */
export interface DirectoryEntry extends Pick<PersonDetails, 'userName' | 'name' | 'email'> {
  readonly id: string;
  /** All its user names, if it has several. */
  readonly aliases?: readonly string[];
  readonly isDisabled: boolean;
  /** Names of groups of the registry. */
  readonly groups: readonly string[];
}

/** Consequence of an entry, or of its absence, for a person: the change to make, or that the person leaves. */
export type EntryDecision =
  | { readonly step: 'new' }
  | {
      readonly step: 'changed' | 'back';
      readonly change: Extract<PersonChange, { kind: 'person.set' }>;
      readonly fields: readonly string[];
    }
  | { readonly step: 'left'; readonly isRemoved: boolean }
  | { readonly step: 'skipped'; readonly why: string }
  | null;

/** The entry with the user name that the person has: while it is one of several in the entry, another one is an alias and no new name. */
export function withKnownName(entry: DirectoryEntry, person: Pick<PersonRecord, 'userKey'> | null): DirectoryEntry {
  const userName = person && entry.aliases?.find(name => personKey(name) === person.userKey);
  return userName ? { ...entry, userName } : entry;
}

/** The details that an entry gives a person. `groups`: numbers of groups. */
export const detailsOf = ({ id, userName, name, email }: DirectoryEntry, groups: readonly number[]): PersonDetails => ({
  userName,
  name,
  names: null,
  email,
  externalId: id,
  groups,
  source: SOURCE,
});

/**
 * Whether an entry may become this person, who has its user name and is not of the directory, or has another id there. Persons who
 * were added here or imported may. With the same id those may whom another source has removed, because their devices were locked then.
 * Others may be other people with the same name.
 */
const isFree = ({ source, removedAt, heldAt, dueAt }: PersonRecord): boolean =>
  source === 'local' || source === 'import' || (removedAt !== null && heldAt === null && dueAt === null);

/** Decides what an entry means. `person`: the one with its id, else the one with its name. `lockedDevices` of a person who has left. */
export function decideEntry(
  person: PersonRecord | null,
  entry: DirectoryEntry,
  groups: readonly number[],
  lockedDevices: readonly number[],
): EntryDecision {
  if (!person) return entry.isDisabled ? null : { step: 'new' };
  const isOther = person.source !== SOURCE || person.externalId !== entry.id;
  if (isOther && entry.isDisabled) return null;
  // As over SCIM, another id is another person, also with the name of a removed one.
  if (isOther && person.removedAt !== null && person.externalId !== entry.id) return { step: 'new' };
  if (isOther && !isFree(person))
    return { step: 'skipped', why: `a person with another id (source ${person.source}) has the user name` };
  if (entry.isDisabled) return person.active ? { step: 'left', isRemoved: false } : null;
  const details = detailsOf(entry, groups);
  const edited = edit(person, details);
  const fields = (edited?.entry.detail?.fields ?? []) as readonly string[];
  const back = person.active || isEndedHere(person) ? null : comesBack(person, lockedDevices, details);
  if (back) return { step: 'back', change: back, fields };
  return edited && { step: 'changed', change: edited, fields };
}

/** Decides what it means that a person has no entry. */
export const decideAbsence = ({ active, removedAt }: PersonRecord): EntryDecision =>
  active || removedAt === null ? { step: 'left', isRemoved: true } : null;

/** Totals that entries are compared with: active persons of the directory, found ones, and those found with another user name. */
interface DirectoryTotals {
  readonly known: number;
  readonly found: number;
  readonly renamed: number;
}

/** Why such an answer is not believed; null if it is. A few new user names are not doubted: two persons may swap theirs. */
export function doubt(entries: number, { known, found, renamed }: DirectoryTotals): string | null {
  if (entries === 0) return 'the directory has no entry that can be a person: check base and filter';
  if (found * 2 < known)
    return `the directory has ${found} of ${known} known persons, fewer than half: check base, filter and the rights of the bind DN`;
  if (renamed * 2 <= known || renamed < leaverBrake.least) return null;
  return `the directory has new user names for ${renamed} of ${known} known persons, more than half: check the attribute of the user name`;
}
