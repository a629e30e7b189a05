/** Devices that are bound to a name without a person: whose they may be. Giving them, and accounts, to persons. */

import { Type } from 'typebox';
import { ApiError, Code, SUCCESS } from '../../src/contract/codes.ts';
import { deviceIds, personIds, userIds } from '../../src/contract/ids.ts';
import { type MatchCandidate, matchItem } from '../../src/contract/matching.ts';
import { personKey, withoutAccents } from '../../src/contract/person-key.ts';
import type { Body, Data, Query } from '../../src/contract/routes.ts';
import { compileReader } from '../../src/contract/validate.ts';
import { give } from '../accounts/user.ts';
import type { DeviceRecord } from '../devices/records.ts';
import { batchResults } from '../requests/batch.ts';
import { type Context, commitLast, retrying, Service } from '../requests/context.ts';
import type { Change, Guard } from '../store/commit.ts';
import { readPage } from '../store/page.ts';
import type { Window } from '../store/queries.ts';
import { demandPresent, matchDevice } from './device-decisions.ts';
import { personPortions } from './leavers.ts';
import { personWith } from './lookups.ts';
import type { PersonRecord } from './records.ts';

type Result = Data<'matchPeople'>['results'][number];
/** How a name can be meant, the nearest first. */
const reasons = ['case', 'accents', 'email', 'name'] as const;
type Why = (typeof reasons)[number];

const success = { status: 'success', code: SUCCESS, message: 'success' } as const;
/** Candidates that are shown for a device. */
const MOST = 5;
const readItem = compileReader(Type.Object({ ...matchItem }));

/** A refusal of the whole request is thrown as an `ApiError`. */
export class MatchingDevices extends Service {
  list(page: Query<'listUnmatched'>): Promise<Data<'listUnmatched'>> {
    const read = async ({ limit, offset }: Window) => {
      const [devices, total] = await Promise.all([
        this.store.unmatchedDevices(limit, offset),
        this.store.unmatchedCount(),
      ]);
      const candidates = await this.#candidates(devices.map(({ userId }) => userId));
      const rows = devices.map(({ number, userId }) => {
        return { deviceId: deviceIds.format(number), userId, candidates: candidates(userId) };
      });
      return { rows, total };
    };
    return readPage(page, read);
  }

  /** Accepted items are one commit. Of two items for one device, the second is decided after the first. */
  match(context: Context, { matches }: Body<'matchPeople'>): Promise<Data<'matchPeople'>> {
    return retrying(async () => {
      const at = this.now();
      const changes: Change[] = [];
      const guards: Guard[] = [];
      const matched = new Map<number, PersonRecord>();
      const results: Result[] = [];
      for (const item of matches) {
        try {
          if (Object(item).accountId !== undefined) {
            const account = await this.#account(context, item);
            results.push(account.result);
            changes.push(...account.changes);
            guards.push(...account.guards);
            continue;
          }
          const { device, person, result } = await this.#read(item);
          refuseOther(device, matched.get(device.number)?.number ?? device.person, person);
          results.push(result);
          if (device.person !== null || matched.has(device.number)) continue;
          matched.set(device.number, person);
          const decided = matchDevice(device, person, at);
          changes.push(...decided.changes);
          guards.push(...decided.guards);
        } catch (error) {
          if (!(error instanceof ApiError)) throw error;
          results.push({ ...asSent(item), status: 'failed', code: error.code, message: error.message });
        }
      }
      const data = () => batchResults(results);
      return changes.length > 0 ? commitLast(this.store, context, { at, changes, guards }, data) : data();
    });
  }

  /** Gives an account to an active person: a leave then ends it. */
  async #account(context: Context, item: unknown) {
    const { deviceId, accountId = '', personId } = itemIn(item);
    if (deviceId !== undefined) throw new ApiError(Code.parameterError, 'either deviceId or accountId is required');
    if (context.caller.serviceToken !== null)
      throw new ApiError(Code.noPermission, 'a service token cannot change accounts');
    const number = userIds.parse(accountId);
    const account = number === null ? null : await this.store.user(number);
    if (!account) throw new ApiError(404, `account ${accountId} does not exist`);
    const person = await this.#person(personId);
    const result = { deviceId: null, accountId, personId, ...success };
    if (account.userKey === person.userKey) return { result, changes: [], guards: [] };
    if (!person.active)
      throw new ApiError(Code.parameterError, `${personId} has left: disable the account ${accountId} instead`);
    const holder = await this.store.personByName(account.userKey);
    if (holder && holder.removedAt === null)
      throw new ApiError(Code.parameterError, `account ${accountId} belongs to ${personIds.format(holder.number)}`);
    const { change, guards } = give(account, person.userKey, { before: null, after: personId });
    return { result, changes: [change], guards: [...guards, demandPresent(person.userName)] };
  }

  async #read(item: unknown) {
    const { deviceId, personId } = itemIn(item);
    if (deviceId === undefined) throw new ApiError(Code.parameterError, 'either deviceId or accountId is required');
    const number = deviceIds.parse(deviceId);
    const device = number === null ? null : await this.store.device(number);
    if (!device) throw new ApiError(Code.deviceNotFound);
    const person = await this.#person(personId);
    return { device, person, result: { deviceId, personId, ...success } };
  }

  async #person(personId: string): Promise<PersonRecord> {
    const person = await personWith(this.store, personId);
    if (!person) throw new ApiError(404, `person ${personId} does not exist`);
    return person;
  }

  /** Goes through all persons once. */
  async #candidates(userIds: readonly string[]): Promise<(userId: string) => MatchCandidate[]> {
    const wanted = new Map(
      userIds.flatMap(userId => [...keysOf(userId)].map(key => [key, new Map<number, MatchCandidate>()])),
    );
    for await (const persons of wanted.size > 0 ? personPortions(this.store, {}) : [])
      for (const person of persons)
        for (const [why, key] of formsOf(person)) {
          const found = wanted.get(key);
          const { number, userName } = person;
          if (found && found.size < MOST && !found.has(number))
            found.set(number, { personId: personIds.format(number), userName, why });
        }
    return userId => {
      const all = [...keysOf(userId)].flatMap(key => [...wanted.get(key)!.values()]);
      const nearest = all.sort((a, b) => reasons.indexOf(a.why) - reasons.indexOf(b.why));
      return [...new Map(nearest.toReversed().map(one => [one.personId, one])).values()].toReversed().slice(0, MOST);
    };
  }
}

function itemIn(item: unknown) {
  const read = readItem(item);
  if (!read.ok) throw new ApiError(Code.parameterError, read.message);
  return read.value;
}

function refuseOther(device: DeviceRecord, present: number | null, person: PersonRecord): void {
  const id = deviceIds.format(device.number);
  if (device.userId === null) throw new ApiError(Code.parameterError, `device ${id} is not bound to a name`);
  if (present !== null && present !== person.number)
    throw new ApiError(Code.parameterError, `device ${id} belongs to ${personIds.format(present)}`);
}

function asSent(item: unknown): Pick<Result, 'deviceId' | 'accountId' | 'personId'> {
  const { deviceId, accountId, personId } = Object(item) as Record<string, unknown>;
  const text = (value: unknown) => (typeof value === 'string' ? value : null);
  const account = accountId === undefined ? {} : { accountId: text(accountId) };
  return { deviceId: text(deviceId), ...account, personId: text(personId) };
}

/** The text without accents. */
function plain(text: string): string {
  const key = personKey(text);
  if (/^[\x20-\x7e]*$/.test(key)) return key;
  return withoutAccents(key);
}

/** The words of a name, whatever is between them. */
const words = (text: string): string =>
  plain(text)
    .split(/[^\p{L}\p{N}]/u)
    .filter(Boolean)
    .join(' ');

/** The forms by which a name is looked for. */
const keysOf = (userId: string): Set<string> =>
  new Set([`key ${personKey(userId)}`, `plain ${plain(userId)}`, `words ${words(userId)}`]);

/** The forms by which a person is found. */
function formsOf({ userName, userKey, email, name }: PersonRecord): (readonly [Why, string])[] {
  return [
    ['case', `key ${userKey}`],
    ['accents', `plain ${plain(userName)}`],
    ...(email === null ? [] : [['email', `key ${personKey(email)}`] as const]),
    ...(name === null ? [] : [['name', `words ${words(name)}`] as const]),
  ];
}
