/** The operations on persons. */
import { ApiError, Code, inputError } from '../../src/contract/codes.ts';
import { credentialIds, deviceIds, personIds, tokenIds, userIds, webhookIds } from '../../src/contract/ids.ts';
import type * as api from '../../src/contract/people.ts';
import { isSameName, personKey } from '../../src/contract/person-key.ts';
import type { Body, Data, Query } from '../../src/contract/routes.ts';
import { hasMade } from '../accounts/service-token.ts';
import { isOwnerLost, ownerOf } from '../accounts/service-tokens.ts';
import { KeyedMutex } from '../base/concurrency.ts';
import { iso, isoOrNull } from '../base/time.ts';
import type { MadeWebhook, ServiceTokenRecord, UserRecord } from '../requests/callers.ts';
import {
  type Caller,
  type Context,
  commitLast,
  retrying,
  Service,
  type ServiceParts,
  timeOf,
} from '../requests/context.ts';
import type { Change } from '../store/commit.ts';
import { readPage } from '../store/page.ts';
import type { Window } from '../store/queries.ts';
import type { Store } from '../store/store.ts';
import * as domain from './decisions.ts';
import { type Leavers, leaverResult } from './leavers.ts';
import { nameTakenBy, readGroups, requirePerson } from './lookups.ts';
import { type ReportStore, reportOn } from './person-report.ts';
import { groupNamed, namesOf } from './policy.ts';
import type { PersonRecord } from './records.ts';

/** Dependencies of the service. */
interface PeopleServiceParts extends ServiceParts<Store & ReportStore> {
  readonly leavers: Leavers;
  /** The webhooks of the registry. */
  readonly webhooks: () => Promise<readonly MadeWebhook[]>;
}

const firstDevice = { sortBy: 'deviceId', descending: false, offset: 0, limit: 1 } as const;
const taken = (userName: string) => inputError('userName', `${userName} already exists`);

/** Devices that are shown of a held person. */
const MAX_SHOWN = 1000;
/** Held persons that are listed. */
const MAX_HELD = 1000;

/** A refusal is thrown as an `ApiError`. */
export class PeopleService extends Service<PeopleServiceParts> {
  readonly #changes = new KeyedMutex<string>();

  async list(
    { caller }: Context,
    { keyword, userName, source, active, group, activeDevices, ...page }: Query<'listPeople'>,
  ): Promise<Data<'listPeople'>> {
    const numbered = group === undefined ? undefined : (groupNamed(await readGroups(this.store), group)?.number ?? 0);
    const userKeys = userName?.map(personKey);
    const filter = {
      keyword,
      withEmail: caller.role === 'ADMIN',
      userKeys,
      source,
      active,
      group: numbered,
      activeDevices,
    };
    const read = (window: Window) => this.store.people({ ...filter, ...window });
    const { list, pagination } = await readPage(page, read);
    return { list: await this.#shown(caller, list), pagination };
  }

  async show({ caller }: Context, personId: string): Promise<api.Person> {
    return (await this.#shown(caller, [await requirePerson(this.store, personId)]))[0]!;
  }

  async create(context: Context, { userName, name, email }: Body<'createPerson'>): Promise<api.Person> {
    const details = { userName, name: name ?? null, names: null, email: email ?? null, externalId: null } as const;
    const change = domain.create({ ...details, groups: [], source: 'local' });
    const at = this.now();
    if (await this.store.personByName(userName)) throw taken(userName);
    const devices = (await this.store.devices({ userId: userName, ...firstDevice })).total;
    return commitLast(this.store, context, { at, changes: [change] }, ([result]) => {
      if (result?.kind !== 'added') throw taken(userName);
      const times = { createdAt: timeOf(result, at), updatedAt: timeOf(result, at) };
      const record = { ...change.person, number: result.number, ...times, search: '' };
      return present(record, context.caller, [], devices);
    });
  }

  async leave(context: Context, personId: string, { reason }: Body<'personLeaves'>): Promise<Data<'personLeaves'>> {
    return this.#changes.run(personId, () =>
      retrying(async () => {
        const person = await requirePerson(this.store, personId);
        const changes = await this.parts.leavers.changes([person], { step: 'leave', reason, endedBy: 'admin' });
        const [access, credentials] = await Promise.all([
          accessOf(this.store, person, this.now()),
          this.#credentialsOf(person),
        ]);
        return commitLast(this.store, context, { at: this.now(), changes }, results => {
          const { locked, held, dueAt, accounts } = leaverResult(results);
          return {
            locked: locked.map(deviceIds.format),
            // Nothing ends while the person waits.
            tokens: accounts ? access.tokens.map(({ number }) => tokenIds.format(number)) : [],
            accounts: accounts?.map(userIds.format) ?? [],
            credentials: locked.flatMap(device => credentials.get(device) ?? []).map(credentialIds.format),
            held: held.map(deviceIds.format),
            dueAt: isoOrNull(dueAt),
          };
        });
      }),
    );
  }

  /** Numbers of the credentials that providers accept, by the numbers of the ACTIVE devices of a person. */
  async #credentialsOf({ number }: PersonRecord): Promise<ReadonlyMap<number, readonly number[]>> {
    const active = (await this.store.devicesOf(number)).filter(({ status }) => status === 'ACTIVE');
    const of = async (device: number) => {
      const open = ((await this.store.credentialsOf?.(device)) ?? []).filter(({ removedAt }) => removedAt === null);
      return [device, open.map(credential => credential.number)] as const;
    };
    return new Map(await Promise.all(active.map(device => of(device.number))));
  }

  async access(personId: string): Promise<Data<'getPersonAccess'>> {
    const access = await accessOf(this.store, await requirePerson(this.store, personId), this.now());
    const webhooks = webhooksMadeBy(await this.parts.webhooks(), access);
    return {
      accounts: access.accounts.map(({ number }) => userIds.format(number)),
      tokens: access.tokens.map(({ number }) => tokenIds.format(number)),
      webhooks: webhooks.map(({ number }) => webhookIds.format(number)),
    };
  }

  async report(personId: string): Promise<Data<'reportPerson'>> {
    return reportOn(this.store, await requirePerson(this.store, personId), this.now());
  }

  /** Access of people who have left: what they still have, or could use if it were not refused. */
  async leftovers(): Promise<Data<'countLeftovers'>> {
    const [activeDevices, tokens, webhooks] = await Promise.all([
      this.store.leaverDevices(),
      this.store.ownerlessTokens(this.now()),
      this.parts.webhooks().then(list => ownerlessWebhooks(list, this.store)),
    ]);
    return { activeDevices, tokens, webhooks: webhooks.map(({ number }) => webhookIds.format(number)) };
  }

  async comeBack(context: Context, personId: string): Promise<Data<'personReturns'>> {
    return this.#changes.run(personId, () =>
      retrying(async () => {
        const person = await requirePerson(this.store, personId);
        if (person.endedBy === 'erasure')
          throw new ApiError(Code.parameterError, `${personId} was erased. Add the person again: devmgr people add`);
        const present = await this.store.personByName(person.userName);
        if (present?.number !== person.number && present?.removedAt === null && person.removedAt !== null)
          throw new ApiError(
            Code.parameterError,
            `userName ${person.userName} is that of ${personIds.format(present.number)} now, and this person was removed. Use that person`,
          );
        const devices = await this.parts.leavers.lockedDevices(person);
        // The source no longer has the person, so it could never report that the person left again.
        const back = domain.comesBack(person, devices, person.removedAt === null ? {} : { source: 'local' });
        const lockedDevices = devices.map(deviceIds.format);
        return commitLast(this.store, context, { at: this.now(), changes: back ? [back] : [] }, () => ({
          lockedDevices,
        }));
      }),
    );
  }

  async held({ caller }: Context): Promise<Data<'listHeldPeople'>> {
    const { rows } = await this.store.people({ isHeld: true, descending: false, offset: 0, limit: MAX_HELD });
    const shown = await this.#shown(caller, rows);
    const list = rows.map(async ({ number, heldAt, pendingName }, i) => {
      const active = (await this.store.devicesOf(number)).filter(({ status }) => status === 'ACTIVE');
      const ids = active.slice(0, MAX_SHOWN).map(device => deviceIds.format(device.number));
      return { ...shown[i]!, heldAt: iso(heldAt!), newUserName: pendingName, deviceIds: ids };
    });
    return { list: await Promise.all(list) };
  }

  async release(context: Context, { personIds: ids }: Body<'releasePeople'>): Promise<Data<'releasePeople'>> {
    return retrying(async () => {
      const all = await Promise.all([...new Set(ids)].map(id => requirePerson(this.store, id)));
      const held = all.filter(({ heldAt }) => heldAt !== null);
      const released = held.map(({ number }) => personIds.format(number));
      const leaving = held.filter(({ active }) => !active);
      const renamed = held.filter(({ active }) => active);
      const names = await Promise.all(renamed.map((person, i) => this.#newName(person, renamed.slice(0, i))));
      const changes = [
        ...names,
        ...(await this.parts.leavers.changes(leaving, { step: 'release', reason: 'released' })),
      ];
      return commitLast(this.store, context, { at: this.now(), changes }, results => {
        const locked = results.flatMap(result => (result.kind === 'left' ? result.locked : []));
        return { released, locked: locked.map(deviceIds.format) };
      });
    });
  }

  /** `before`: the persons who get theirs in the same commit. */
  async #newName(person: PersonRecord, before: readonly PersonRecord[]): Promise<Change> {
    const { number, pendingName } = person;
    const other = before.find(one => isSameName(one.pendingName, pendingName));
    const taken = other
      ? `${personIds.format(other.number)} waits for it too`
      : await nameTakenBy(this.store, person, pendingName!);
    if (taken !== null)
      throw new ApiError(
        Code.parameterError,
        `${personIds.format(number)} cannot have the user name ${pendingName}: ${taken}. Release the others without this person`,
      );
    return domain.givePendingName(person)!;
  }

  /** How many persons wait for a release. */
  async heldCount(): Promise<number> {
    return (await this.store.people({ isHeld: true, descending: false, offset: 0, limit: 1 })).total;
  }

  async #shown(caller: Caller, records: readonly PersonRecord[]): Promise<api.Person[]> {
    const [groups, ...devices] = await Promise.all([
      readGroups(this.store),
      ...records.map(({ number }) => this.store.deviceCount(number)),
    ]);
    return records.map((record, i) => present(record, caller, namesOf(groups, record.groups), devices[i]!));
  }
}

function present(record: PersonRecord, { role }: Caller, groups: string[], devices: number): api.Person {
  const { number, userName, name, email, externalId, active, source, leftAt } = record;
  return {
    personId: personIds.format(number),
    userName,
    name,
    email: role === 'ADMIN' ? email : null,
    externalId,
    active,
    groups,
    source,
    leftAt: isoOrNull(leftAt),
    devices,
  };
}

interface PersonAccess {
  readonly accounts: readonly UserRecord[];
  /** Neither revoked nor expired. */
  readonly tokens: readonly ServiceTokenRecord[];
}

/** The accounts with the user name of a person, and the tokens that end with them at `now`. */
async function accessOf(
  store: Pick<Store, 'usersNamed' | 'serviceTokensOf'>,
  { userName }: { readonly userName: string },
  now: number,
): Promise<PersonAccess> {
  const accounts = await store.usersNamed(userName);
  const tokens = await Promise.all(accounts.map(({ number }) => store.serviceTokensOf(number)));
  return { accounts, tokens: tokens.flat().filter(({ expiresAt }) => expiresAt > now) };
}

/** The webhooks that these accounts or tokens have created. */
function webhooksMadeBy(list: readonly MadeWebhook[], { accounts, tokens }: PersonAccess): MadeWebhook[] {
  const ids = new Set<string | null | undefined>(accounts.map(({ number }) => userIds.format(number)));
  return list.filter(webhook => ids.has(webhook.madeBy) || tokens.some(token => hasMade(token, webhook)));
}

/** The enabled webhooks of accounts that have left or are disabled, made by the account or by a token that it owns. */
async function ownerlessWebhooks(
  list: readonly MadeWebhook[],
  store: Pick<Store, 'user' | 'userByName' | 'serviceToken' | 'personByName'>,
): Promise<MadeWebhook[]> {
  const isLost = async ({ madeBy, disabled }: MadeWebhook) => {
    if (disabled !== null || !madeBy) return false;
    const token = tokenIds.parse(madeBy);
    const made = token === null ? null : await store.serviceToken(token);
    const owner = made ? await ownerOf(store, made) : await store.user(userIds.parse(madeBy) ?? 0);
    return isOwnerLost(store, owner);
  };
  const lost = await Promise.all(list.map(isLost));
  return list.filter((_, index) => lost[index]);
}
