/** Persons who are active here and not at their identity provider: how they are found, and the last result. */

import { personKey } from '../../src/contract/person-key.ts';
import type { driftReasons } from '../../src/contract/person-values.ts';
import { type DocumentRecord, type DocumentSet, replace, settingsIn } from '../store/document.ts';
import type { Store } from '../store/store.ts';
import type { PersonRecord } from './records.ts';

/** The document with the last comparison. It has no names. */
const DRIFT = 'drift';

/** A user of an identity provider. */
export interface RemotePerson {
  readonly id: string;
  readonly userName: string;
  readonly isActive: boolean;
}

/** A provider whose users can be read. Rejects if it does not list all of them. */
export interface PersonReader {
  readonly name: string;
  read(): Promise<readonly RemotePerson[]>;
}

/** Result of a comparison. */
export interface DriftRun {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly problem: string | null;
  /** Numbers of the persons who drift, at most `driftBounds.shown`. */
  readonly persons: readonly number[];
}

type Why = (typeof driftReasons)[number];

/** The users of all providers; of several with one id or name an enabled one counts. */
export class RemotePersons {
  readonly #byId = new Map<string, RemotePerson>();
  readonly #byName = new Map<string, RemotePerson>();
  readonly #unseen = new Set<RemotePerson>();

  constructor(all: readonly RemotePerson[]) {
    for (const one of all.toSorted((a, b) => Number(a.isActive) - Number(b.isActive))) {
      this.#byId.set(one.id, one);
      this.#byName.set(personKey(one.userName), one);
      if (one.isActive) this.#unseen.add(one);
    }
  }

  /** Enabled users whom no person was compared with. */
  get unknown(): number {
    return this.#unseen.size;
  }

  /** Why a person is not an enabled user; null if the person is one. */
  compare({ externalId, userKey }: Pick<PersonRecord, 'externalId' | 'userKey'>): Why | null {
    const found = [externalId === null ? undefined : this.#byId.get(externalId), this.#byName.get(userKey)].filter(
      one => one !== undefined,
    );
    for (const one of found) this.#unseen.delete(one);
    if (found.length === 0) return 'gone';
    // The id is that of the person; a name can be that of someone new.
    return found[0]!.isActive ? null : 'disabled';
  }
}

/** Why a comparison is implausible; null if it is plausible. */
export function driftDoubt(read: number, known: number, found: number): string | null {
  if (read === 0) return 'the providers have no users: check the permissions of the application';
  if (found * 2 < known)
    return `the providers have ${found} of ${known} known persons, fewer than half: check which provider sends them, and the permissions of the application`;
  return null;
}

export const driftIn = (document: DocumentRecord | null): DriftRun | null =>
  document && (JSON.parse(document.value) as DriftRun);

export const recordDrift = (before: DocumentRecord | null, run: DriftRun): DocumentSet =>
  replace({ name: DRIFT, version: before?.version ?? 0 }, JSON.stringify(run), {
    type: 'PEOPLE_COMPARED',
    detail: { persons: run.persons.length, problem: run.problem },
  });

export const readDrift = (store: Pick<Store, 'document'>) => store.document(DRIFT);

/** Persons of the last comparison who are still active, and those whom the last full run of the directory has not ended. */
export async function driftedPersons(store: Pick<Store, 'document' | 'people'>): Promise<number> {
  const { persons } = driftIn(await readDrift(store)) ?? { persons: [] };
  const [settings, run] = await Promise.all([store.document('directory'), store.document('directory-run')]);
  const hasDirectory = settingsIn<object | null>(settings, null).config !== null;
  const { unended = 0 } = run && hasDirectory ? (JSON.parse(run.value) as { readonly unended?: number }) : {};
  if (persons.length === 0) return unended;
  return (
    unended + (await store.people({ numbers: persons, active: true, descending: false, offset: 0, limit: 1 })).total
  );
}
