/** The log of provisioning: what the sources of persons have changed, which the journal has, and what was refused. */
import { personIds } from '../../src/contract/ids.ts';
import { provisioningLog } from '../../src/contract/limits.ts';
import { personKey } from '../../src/contract/person-key.ts';
import { type PersonSource, provisioningSources } from '../../src/contract/person-values.ts';
import type { Data, Query } from '../../src/contract/routes.ts';
import { iso } from '../base/time.ts';
import { WithParts } from '../requests/context.ts';
import { pageOf } from '../store/page.ts';
import type { RecordQueries } from '../store/read/records.ts';
import type { Store } from '../store/store.ts';
import { personWith } from './lookups.ts';
import type { PersonRecord } from './records.ts';
import type { RefusedRequests } from './refused.ts';

/** Entries about persons, and what each of them reports. */
const outcomes = {
  PERSON_ADDED: 'added',
  PERSON_UPDATED: 'updated',
  PERSON_LEFT: 'left',
  PERSON_HELD: 'held',
  PERSON_RETURNED: 'returned',
} as const;

/** An entry as it is stored: `detail` is JSON. */
interface PersonEntry {
  readonly at: number;
  readonly type: keyof typeof outcomes;
  readonly person: number;
  readonly actor: string | null;
  readonly requestId: string | null;
  readonly detail: string;
}

const ofPersons = `SELECT at, type, subject AS person, actor, request_id AS "requestId", detail FROM event
  WHERE device IS NULL AND subject IS NOT NULL AND type IN (${Object.keys(outcomes)
    .map(type => `'${type}'`)
    .join(', ')})`;

/** `?`: the number of the account, and the id that the entry follows. */
const laterUpdates = `SELECT id FROM event
  WHERE device IS NULL AND subject IS NOT NULL AND subject = ? AND type = 'USER_UPDATED' AND id > ? LIMIT 1`;

export const logReads = (queries: RecordQueries) => ({
  /** An update of an account after an entry, if there is one. */
  laterUpdates: (user: number, after: number) => queries.rows<{ readonly id: number }>(laterUpdates, [user, after]),
  /** The entries about a person after an entry. */
  laterPersonEntries: (person: number, after: number) =>
    queries.rows<PersonEntry>(`${ofPersons} AND subject = ? AND id > ? ORDER BY id`, [person, after]),
  /** The last entries about all persons, or about one. */
  personEntries: (person: number | null, limit: number) =>
    person === null
      ? queries.rows<PersonEntry>(`${ofPersons} ORDER BY id DESC LIMIT ?`, [limit])
      : queries.rows<PersonEntry>(`${ofPersons} AND subject = ? ORDER BY id DESC LIMIT ?`, [person, limit]),
});

type Item = Data<'listProvisioning'>['list'][number];
type Logged = Omit<Item, 'at'> & { readonly at: number };

interface LogParts {
  readonly store: Pick<Store, 'person' | 'people' | 'personEntries' | 'personsByKey'>;
  readonly refused: Pick<RefusedRequests, 'all'>;
}

export class ProvisioningLog extends WithParts<LogParts> {
  /** The newest first, unless the request wants another order. */
  async list({ source, personId, ...page }: Query<'listProvisioning'>): Promise<Data<'listProvisioning'>> {
    const person = personId === undefined ? undefined : await personWith(this.parts.store, personId);
    const all = person === null ? [] : [...(await this.#changed(person)), ...(await this.#refused(person))];
    const wanted = source === undefined ? all : all.filter(item => item.source === source);
    return pageOf(page, wanted, ({ at, ...item }) => ({ at: iso(at), ...item }));
  }

  /** `person`: undefined for all. */
  async #changed(person: PersonRecord | undefined): Promise<Logged[]> {
    const entries = await this.parts.store.personEntries(person?.number ?? null, provisioningLog.entries);
    const known = new Map<number, PersonRecord | null>(person && [[person.number, person]]);
    for (const number of new Set(entries.map(entry => entry.person)))
      if (!known.has(number)) known.set(number, await this.parts.store.person(number));
    return entries.flatMap(entry => {
      const { source: before, fields = [] } = JSON.parse(entry.detail) as {
        readonly source?: PersonSource;
        readonly fields?: readonly string[];
      };
      const about = known.get(entry.person) ?? null;
      return {
        at: entry.at,
        source: before ?? about?.source ?? 'local',
        actor: entry.actor,
        personId: personIds.format(entry.person),
        userName: about?.userName ?? null,
        outcome: outcomes[entry.type],
        fields: [...fields],
        reason: null,
        requestId: entry.requestId,
      };
    });
  }

  async #refused(person: PersonRecord | undefined): Promise<Logged[]> {
    const all = await this.parts.refused.all(provisioningSources);
    const keys = all.map(({ userName }) => (userName === null ? '' : personKey(userName)));
    const persons = await this.parts.store.personsByKey([...new Set(keys)].filter(Boolean));
    return all.flatMap(({ at, source, userName, field, reason }, i) => {
      const about = persons.get(keys[i]!);
      if (person && about?.number !== person.number) return [];
      return {
        at,
        source,
        actor: null,
        personId: about ? personIds.format(about.number) : null,
        userName,
        outcome: 'refused' as const,
        fields: field === null ? [] : [field],
        reason,
        requestId: null,
      };
    });
  }
}
