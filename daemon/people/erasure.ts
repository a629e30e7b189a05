/** Erases persons, and lists what an erasure does not reach. */
import { ApiError, Code } from '../../src/contract/codes.ts';
import { credentialIds, deviceIds, personIds, userIds } from '../../src/contract/ids.ts';
import { personKey } from '../../src/contract/person-key.ts';
import type { Body, Data } from '../../src/contract/routes.ts';
import { iso, isoOrNull } from '../base/time.ts';
import { accept, type Context, commitFor, retrying, Service, type ServiceParts } from '../requests/context.ts';
import type { Change } from '../store/commit.ts';
import { settingsIn } from '../store/document.ts';
import type { ErasedName, Store } from '../store/store.ts';
import { accountsOf } from './case-items.ts';
import { erasureRefusal, namesOf, type PersonErase } from './erasure-records.ts';
import { requirePerson } from './lookups.ts';
import type { ReportStore } from './person-report.ts';
import type { PeoplePolicies } from './policies.ts';
import { noPeoplePolicy, PEOPLE_POLICY } from './policy.ts';
import type { PersonRecord } from './records.ts';

type Erased = Data<'erasePerson'>;
type Remaining = Erased['remains'][number];

/** Dependencies of the service. */
interface ErasureParts
  extends ServiceParts<
    Pick<Store, 'commit' | 'eraseFreeSpace' | 'erasablePersons' | 'erasedByPolicy' | 'unmatchedNamedDevices'> &
      ReportStore
  > {
  readonly policies: Pick<PeoplePolicies, 'read'>;
  readonly log: { warn(data: object, message: string): void };
  readonly confirm: (context: Context, password: string) => Promise<void>;
}
const DAY_MS = 86_400_000;
/** Persons that are read at a time. */
const PORTION = 100;
const MOST_OVERDUE = 1000;

const nameOfErased = (number: number): ErasedName => {
  const userId = personIds.format(number);
  return { userId, userKey: personKey(userId) };
};

/** Responses to keyed requests of all callers: their bodies can name the person. */
const allResponses: Change = { kind: 'response.expire', until: Number.MAX_SAFE_INTEGER, beyond: 0, most: 1_000_000 };

/** The policy erases persons whose case was closed before this time: whole days (UTC), so that a database is rewritten once a day. */
const closedBefore = (now: number, days: number): number => now - (now % DAY_MS) - days * DAY_MS;

/** Persons whom the policy should have erased a day ago, at most `MOST_OVERDUE`. */
export async function overdueErasures(
  store: Pick<Store, 'document' | 'erasablePersons'>,
  now: number,
): Promise<number> {
  const { retentionDays } = settingsIn(await store.document(PEOPLE_POLICY), noPeoplePolicy).config;
  return retentionDays
    ? (await store.erasablePersons(closedBefore(now - DAY_MS, retentionDays), 0, MOST_OVERDUE)).length
    : 0;
}

export class Erasure extends Service<ErasureParts> {
  #hasRepeated = false;

  /** Idempotent: of a person who is erased, the free space is cleared again. */
  async erase(context: Context, personId: string, { confirmPassword }: Body<'erasePerson'>): Promise<Erased> {
    const first = await requirePerson(this.store, personId);
    await this.#demand(first);
    await this.parts.confirm(context, confirmPassword);
    const response = await retrying(async () => {
      const { person, owned, changes } = await this.#decide(personId);
      const accounts = (await accountsOf(this.store, person)).map(({ number }) => userIds.format(number));
      const { copiesDays } = (await this.parts.policies.read()).config;
      const data: Erased = {
        personId,
        erasedAt: iso(this.now()),
        devices: owned.map(deviceIds.format),
        remains: remaining(person, accounts, { now: this.now(), copiesDays: copiesDays ?? null }),
      };
      // Its response is stored once the database is rewritten: a request that was interrupted before is carried out again.
      await commitFor(this.store, context, { at: this.now(), changes });
      return data;
    });
    await this.store.eraseFreeSpace([{ userKey: first.userKey, userId: personIds.format(first.number) }]);
    return response;
  }

  /** Erases those whose time by the policy ended before this day (UTC), so that the database is rewritten once a day at most. */
  async eraseDue(turn: AbortSignal): Promise<void> {
    const { policies, log } = this.parts;
    const { retentionDays } = (await policies.read()).config;
    if (!retentionDays) return;
    const before = closedBefore(this.now(), retentionDays);
    // A daemon that was killed may have erased persons without rewriting the database.
    const erased = (this.#hasRepeated ? [] : await this.store.erasedByPolicy(this.now() - DAY_MS)).map(nameOfErased);
    this.#hasRepeated = true;
    for (let after = 0; !turn.aborted; ) {
      const due = await this.store.erasablePersons(before, after, PORTION);
      for (const number of due) {
        if (turn.aborted) break;
        const person = await retrying(() => this.#eraseByPolicy(personIds.format(number))).catch(error => {
          if (!(error instanceof ApiError)) throw error;
          log.warn(
            { personId: personIds.format(number), reason: error.message },
            'a person is not erased by the policy',
          );
        });
        if (person) erased.push({ ...nameOfErased(number), userKey: person.userKey });
      }
      if (due.length < PORTION) break;
      after = due.at(-1)!;
    }
    if (erased.length > 0) await this.store.eraseFreeSpace(erased);
  }

  async #eraseByPolicy(personId: string): Promise<PersonRecord> {
    const { person, changes } = await this.#decide(personId);
    await this.store.commit({ at: this.now(), actor: null, requestId: null, changes });
    return person;
  }

  /** The changes that erase a person. */
  async #decide(personId: string) {
    const person = await requirePerson(this.store, personId);
    await this.#demand(person);
    const owned = await this.#devicesOf(person);
    const { number, version, userKey } = person;
    const change: PersonErase = {
      ...{ kind: 'person.erase', person: number, before: version, userKey },
      devices: owned,
      names: namesOf(person),
    };
    const changes = person.endedBy === 'erasure' ? [allResponses] : [change, allResponses];
    return { person, owned, changes };
  }

  async #devicesOf({ number, userKey, userName }: PersonRecord): Promise<readonly number[]> {
    const holder = await this.store.personByName(userName);
    const isTaken = holder !== null && holder.number !== number && holder.removedAt === null;
    const [owned, named] = await Promise.all([
      this.store.devicesOf(number),
      isTaken ? [] : this.store.unmatchedNamedDevices(userKey),
    ]);
    return [...owned, ...named].map(device => device.number).sort((a, b) => a - b);
  }

  async #demand(person: PersonRecord): Promise<void> {
    const refusal = erasureRefusal(person, await this.store.leaverCase(person.number));
    if (refusal) accept(refusal);
    if (person.endedBy === 'erasure') return;
    for (const { number } of await this.store.devicesOf(person.number)) {
      const open = ((await this.store.credentialsOf?.(number)) ?? []).find(({ removedAt }) => removedAt === null);
      if (open)
        throw new ApiError(
          Code.parameterError,
          `${credentialIds.format(open.number)} of ${deviceIds.format(number)} is not removed at its provider, which needs the account to remove it`,
        );
    }
  }
}

/** Copies that the organization keeps for a while. */
const copied: ReadonlySet<string> = new Set(['backups', 'database-log', 'forwarding', 'webhooks', 'stations', 'logs']);

/** Data that the erasure of a person does not reach, with the time by which it is gone; null: it stays until someone removes it. */
function remaining(
  { source, endedBy }: PersonRecord,
  accounts: readonly string[],
  { now, copiesDays }: { readonly now: number; readonly copiesDays: number | null },
): Remaining[] {
  const copies = copiesDays === null ? null : now + copiesDays * DAY_MS;
  const of = (where: Remaining['where'], what: string, end: number | null = null): Remaining => {
    const until = copied.has(where) ? copies : end;
    return { where, what, until: isoOrNull(until) };
  };
  return [
    of(
      'backups',
      'backups of the registry and of the database that were made before: erase the person again after a restore',
    ),
    of('home', 'copies of the database that an upgrade has left beside it (devmgr.db.v*): delete them'),
    of('database-log', 'write-ahead log and archives of PostgreSQL, until the server has overwritten them'),
    of('forwarding', 'journal entries that were forwarded to another machine, with user names as userId'),
    of('webhooks', 'deliveries that receivers have stored'),
    of(
      'stations',
      'files at stations and of the command line: results of enroll and import, exports, reports, printed labels and receipts',
    ),
    of(
      'journal',
      'texts that people have typed: reasons and notes in entries of devices; names that a device had without a person',
    ),
    ...accounts.map(id => of('accounts', `the name of ${id}, in the account and in entries about its changes`)),
    ...(source === 'local' || endedBy === 'erasure'
      ? []
      : [of('source', `the source (${source}) adds the person again if it still has the person`)]),
    of(
      'tokens',
      'tokens of sessions that clients of the person hold, with the name of the account; they are refused',
      now + DAY_MS,
    ),
    of('logs', 'logs of the daemons, of proxies and of the database: requests that name the person in their address'),
  ];
}
