/** Erases persons, and lists what an erasure does not reach. */
import { ApiError, Code } from '../../src/contract/codes.ts';
import type { BodyOf, DataOf } from '../../src/contract/define.ts';
import { credentialIds, deviceIds, personIds, userIds } from '../../src/contract/ids.ts';
import type { Routes } from '../../src/contract/routes.ts';
import { iso } from '../base/time.ts';
import { accept, type Context, commitLast, retrying } from '../requests/context.ts';
import type { Change } from '../store/commit.ts';
import type { Store } from '../store/store.ts';
import { accountsOf } from './case-items.ts';
import { erasureRefusal, namesOf, type PersonErase } from './erasure-records.ts';
import { requirePerson } from './lookups.ts';
import type { ReportStore } from './person-report.ts';
import type { PersonRecord } from './records.ts';

type Erased = DataOf<Routes['erasePerson']>;
type Remaining = Erased['remains'][number];

/** Dependencies of the service. */
interface ErasureParts {
  readonly store: Pick<Store, 'commit' | 'eraseFreeSpace' | 'unmatchedNamedDevices'> & ReportStore;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly confirm: (context: Context, password: string) => Promise<void>;
}

/** Responses to keyed requests of all callers: their bodies can name the person. */
const allResponses: Change = { kind: 'response.expire', until: Number.MAX_SAFE_INTEGER, beyond: 0, most: 1_000_000 };

export class Erasure {
  readonly #parts: ErasureParts;

  constructor(parts: ErasureParts) {
    this.#parts = parts;
  }

  /** Idempotent: of a person who is erased, the free space is cleared again. */
  async erase(context: Context, personId: string, { confirmPassword }: BodyOf<Routes['erasePerson']>): Promise<Erased> {
    const { store, now, confirm } = this.#parts;
    const first = await requirePerson(this.#parts.store, personId);
    await this.#demand(first);
    await confirm(context, confirmPassword);
    const response = await retrying(async () => {
      const person = await requirePerson(this.#parts.store, personId);
      await this.#demand(person);
      const [owned, accounts] = [await this.#devicesOf(person), await accountsOf(store, person)];
      const data: Erased = {
        personId,
        erasedAt: iso(now()),
        devices: owned.map(deviceIds.format),
        remains: remaining(
          person,
          accounts.map(({ number }) => userIds.format(number)),
          now(),
        ),
      };
      const { number, version, userKey } = person;
      const change: PersonErase = {
        ...{ kind: 'person.erase', person: number, before: version, userKey },
        devices: owned,
        names: namesOf(person),
      };
      const changes = person.endedBy === 'erasure' ? [allResponses] : [change, allResponses];
      return commitLast(store, context, { at: now(), changes }, () => data);
    });
    await store.eraseFreeSpace({ userKey: first.userKey, userId: personIds.format(first.number) });
    return response;
  }

  async #devicesOf({ number, userKey, userName }: PersonRecord): Promise<readonly number[]> {
    const { store } = this.#parts;
    const holder = await store.personByName(userName);
    const isTaken = holder !== null && holder.number !== number && holder.removedAt === null;
    const [owned, named] = await Promise.all([
      store.devicesOf(number),
      isTaken ? [] : store.unmatchedNamedDevices(userKey),
    ]);
    return [...owned, ...named].map(device => device.number).sort((a, b) => a - b);
  }

  async #demand(person: PersonRecord): Promise<void> {
    const { store } = this.#parts;
    const refusal = erasureRefusal(person, await store.leaverCase(person.number));
    if (refusal) accept(refusal);
    if (person.endedBy === 'erasure') return;
    for (const { number } of await store.devicesOf(person.number)) {
      const open = ((await store.credentialsOf?.(number)) ?? []).find(({ removedAt }) => removedAt === null);
      if (open)
        throw new ApiError(
          Code.parameterError,
          `${credentialIds.format(open.number)} of ${deviceIds.format(number)} is not removed at its provider, which needs the account to remove it`,
        );
    }
  }
}

/** Data that the erasure of a person does not reach, with the time by which it is gone; null: it stays until someone removes it. */
function remaining({ source, endedBy }: PersonRecord, accounts: readonly string[], now: number): Remaining[] {
  const of = (where: Remaining['where'], what: string, until: number | null = null): Remaining => ({
    where,
    what,
    until: until === null ? null : iso(until),
  });
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

const DAY_MS = 86_400_000;
