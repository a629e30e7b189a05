import { inputError } from '../../src/contract/codes.ts';
import { deviceFilters } from '../../src/contract/device-filters.ts';
import type * as api from '../../src/contract/devices.ts';
import { deviceIds, userIds } from '../../src/contract/ids.ts';
import { searchBounds } from '../../src/contract/limits.ts';
import type { Body, Data, Query } from '../../src/contract/routes.ts';
import { type SearchWord, searchWords } from '../../src/contract/search-words.ts';
import { parseTag } from '../../src/contract/tags.ts';
import type { Guessing } from '../accounts/guessing.ts';
import type { Passwords } from '../accounts/passwords.ts';
import { KeyedMutex } from '../base/concurrency.ts';
import { Refusal } from '../base/decision.ts';
import { iso } from '../base/time.ts';
import type { AccessJournal } from '../requests/access-journal.ts';
import {
  accept,
  type Caller,
  type Context,
  commitLast,
  refused,
  retrying,
  Service,
  type ServiceParts,
  timeOf,
} from '../requests/context.ts';
import type { Change, ChangeResult } from '../store/commit.ts';
import { readPage } from '../store/page.ts';
import { newActivationCode } from './activation-code.ts';
import { changeMany } from './batches.ts';
import * as domain from './decisions.ts';
import {
  type Admission,
  type IdentityJudge,
  knownBySerial,
  type OwnerJudge,
  type ProofJudge,
  refusedOwner,
} from './judges.ts';
import { holdVersion, readCurrent, readDevice, versionOf } from './lookups.ts';
import { type DeviceAction, deviceOperations, type OperationDecision } from './operations.ts';
import * as present from './present.ts';
import type { DeviceFilter } from './queries.ts';
import type { DeviceChange, DeviceRecord } from './records.ts';
import { registerMany } from './registrations.ts';

/** Dependencies of the service. */
interface DeviceServiceParts extends ServiceParts {
  readonly passwords: Passwords;
  readonly guessing: Guessing;
  readonly policies: ProofJudge;
  readonly owners?: OwnerJudge;
  readonly identities?: IdentityJudge;
  /** Absent if wrong activation codes need no entries. */
  readonly access?: AccessJournal;
}

type ResultOf<K extends ChangeResult['kind']> = Extract<ChangeResult, { kind: K }>;

/** The operations on devices. A refusal is thrown as an `ApiError`. */
export class DeviceService extends Service<DeviceServiceParts> {
  readonly #changes = new KeyedMutex<string>();
  readonly #operations: ReturnType<typeof deviceOperations>;

  constructor(parts: DeviceServiceParts) {
    super(parts);
    this.#operations = deviceOperations(parts);
  }

  register(context: Context, body: api.Registration): Promise<Data<'registerDevice'>> {
    return this.parts.policies.admitting([body], admission => {
      // Most registrations have none: no promise for it.
      if (!body.identity) return this.#admitted(context, body, admission, []);
      return this.#identity(context, body).then(identity => this.#admitted(context, body, admission, identity));
    });
  }

  async #identity(context: Context, body: api.Registration): Promise<readonly Change[]> {
    const existing = (await this.store.devicesBySerial([body.serialNumber])).get(body.serialNumber);
    if (existing) throw refused(domain.duplicateSerial(body.serialNumber, existing));
    if (!this.parts.identities) throw inputError('identity', ': keys are not recognized by credentials here');
    return [await this.parts.identities.admit(context, body)];
  }

  #admitted(
    context: Context,
    body: api.Registration,
    { judge, guards }: Admission,
    identity: readonly Change[],
  ): Promise<Data<'registerDevice'>> {
    const admitted = judge(body);
    if (admitted instanceof Refusal) return this.#refuseRegistration(body.serialNumber, admitted);
    const at = this.now();
    const change = domain.register(body, newActivationCode(), at, admitted.proof);
    const changes = [change, ...identity];
    return commitLast(this.store, context, { at, changes, guards }, ([result]) => {
      if (result?.kind !== 'added')
        throw refused(domain.duplicateSerial(body.serialNumber, result as ResultOf<'duplicate'>));
      return {
        deviceId: deviceIds.format(result.number),
        deviceType: body.deviceType,
        serialNumber: body.serialNumber,
        manufacturer: body.manufacturer,
        model: body.model,
        status: 'INACTIVE',
        activationCode: change.device.activationCode,
        createdAt: iso(timeOf(result, at)),
        version: 1,
      };
    });
  }

  async #refuseRegistration(serialNumber: string, refusal: Refusal): Promise<never> {
    const existing = (await this.store.devicesBySerial([serialNumber])).get(serialNumber);
    throw refused(domain.duplicateOr(refusal, serialNumber, existing));
  }

  batchRegister(context: Context, items: readonly unknown[]): Promise<Data<'batchRegisterDevices'>> {
    return registerMany(this.parts, context, items);
  }

  activate(context: Context, body: Body<'activateDevice'>): Promise<Data<'activateDevice'>> {
    return this.#apply(context, body.deviceId, this.#operations.ACTIVATE, body);
  }

  lock(context: Context, deviceId: string, body: Body<'lockDevice'>): Promise<Data<'lockDevice'>> {
    return this.#apply(context, deviceId, this.#operations.LOCK, body);
  }

  unlock(context: Context, deviceId: string, body: Body<'unlockDevice'>): Promise<Data<'unlockDevice'>> {
    return this.#apply(context, deviceId, this.#operations.UNLOCK, body);
  }

  ship(context: Context, deviceId: string): Promise<Data<'shipDevice'>> {
    return this.#change(context, deviceId, {
      decide: domain.ship,
      data: ({ device: { number, status }, at }) => ({
        deviceId: deviceIds.format(number),
        status,
        shippedAt: iso(at),
      }),
    });
  }

  /** Checks the state before the password: a device that is already deactivated costs no password attempt. */
  async deactivate(
    context: Context,
    deviceId: string,
    body: Body<'deactivateDevice'>,
  ): Promise<Data<'deactivateDevice'>> {
    accept(domain.refusalOf('deactivate', await readCurrent(this.store, context, deviceId)));
    await this.parts.passwords.confirmAdministrator(context, body.confirmPassword);
    return this.#apply(context, deviceId, this.#operations.DEACTIVATE, body);
  }

  /** `given` is the body as it was sent: it may repeat the fields that cannot be changed. */
  async update(
    context: Context,
    deviceId: string,
    body: Body<'updateDevice'>,
    given: Readonly<Record<string, unknown>>,
  ): Promise<Data<'updateDevice'>> {
    const user = body.userId === undefined ? null : await this.store.userByName(body.userId);
    const edit = { ...body, account: user && { id: userIds.format(user.number), name: user.username } };
    accept(domain.emptyEdit(edit, given));
    return this.#change(context, deviceId, {
      decide: (device, at) => this.#judged(domain.edit(device, edit, given, at), edit.account?.name),
      data: ({ device, at, change }) =>
        this.#operations.UPDATE.data(device, body, at, change.kind === 'device.set' ? change.set : {}),
    });
  }

  /** A device that gets the name of an account in place of its id must not become one of a person who has left. */
  async #judged(decided: OperationDecision, userId = ''): Promise<OperationDecision> {
    const { owners } = this.parts;
    if (decided instanceof Refusal || !owners || !('set' in decided.change) || !decided.change.set.userId)
      return decided;
    const { fault, guards } = (await owners.judgeOwners([userId]))(userId);
    return fault ? refusedOwner(fault) : { ...decided, guards: [...decided.guards, ...guards] };
  }

  generateCode(context: Context, body: Body<'generateActivationCode'>): Promise<Data<'generateActivationCode'>> {
    return this.#apply(context, body.deviceId, this.#operations.GENERATE_CODE, body);
  }

  /** Refuses the whole batch with 1001 or 1003 if the password that a deactivation requires is absent or wrong. */
  async batchUpdate(
    context: Context,
    { operation, items, confirmPassword }: Body<'batchUpdateDevices'>,
  ): Promise<Data<'batchUpdateDevices'>> {
    if (operation === 'DEACTIVATE') {
      if (confirmPassword === undefined) throw inputError('confirmPassword', 'is required');
      await this.parts.passwords.confirmAdministrator(context, confirmPassword);
    }
    const parts = { ...this.parts, changes: this.#changes, operations: this.#operations };
    return changeMany(parts, context, operation, items);
  }

  async recordUsage(context: Context, deviceId: string, seconds: number): Promise<Data<'recordUsage'>> {
    return this.#change(context, deviceId, {
      decide: device => domain.use(device, seconds),
      data: ({ device, at, result }) => {
        const sums = result as ResultOf<'used'>;
        return {
          deviceId: deviceIds.format(device.number),
          totalUsageCount: sums.usageCount,
          totalUsageDuration: sums.usageSeconds,
          lastUsedAt: iso(timeOf(result, at)),
        };
      },
    });
  }

  async list(context: Context, query: Query<'listDevices'>): Promise<Data<'listDevices'>> {
    const selection = { ...filterOf(query, context.caller), sortBy: query.sortBy ?? 'createTime' };
    return readPage(
      query,
      window => this.store.devices({ ...selection, ...window }),
      row => present.listItem(row, context.caller),
    );
  }

  async detail(context: Context, deviceId: string): Promise<api.DeviceDetail> {
    const device = await readDevice(this.store, deviceId);
    const bound = device.userId === null ? null : userIds.parse(device.userId);
    const [user, identity] = await Promise.all([
      bound === null ? null : this.store.user(bound),
      this.parts.identities?.shown(device.number) ?? knownBySerial,
    ]);
    return present.detail(device, context.caller, user, identity);
  }

  /** Carries out an operation on one device. */
  #apply<B, D>(context: Context, deviceId: string, operation: DeviceAction<B, D>, fields: B): Promise<Versioned<D>> {
    return this.#change(context, deviceId, {
      decide: (device, at) => operation.decide(device, fields, at, context),
      data: ({ device, at, change }) =>
        operation.data(device, fields, at, change.kind === 'device.set' ? change.set : {}),
    });
  }

  /**
   * Reads the device, decides, and commits under the guards of the decision. Other changes of the device in this process
   * wait for the end of it, so only those of other daemons undo a decision.
   */
  #change<D>(context: Context, deviceId: string, { decide, data }: DeviceStep<D>): Promise<Versioned<D>> {
    const attempt = async () => {
      const device = await readCurrent(this.store, context, deviceId);
      const at = this.now();
      const { change, guards } = accept(await decide(device, at));
      const held = holdVersion(context, guards);
      return commitLast(this.store, context, { at, changes: [change], guards: held }, ([result]) => {
        const version = versionOf(result);
        return { ...data({ device, at, change, result: result! }), version };
      });
    };
    return this.#changes.run(deviceId, () => retrying(attempt));
  }
}

type Versioned<D> = D & { readonly version: number };

/** A change of one device: what is decided, and what is returned once it is committed. */
interface DeviceStep<D> {
  readonly decide: (device: DeviceRecord, at: number) => OperationDecision | Promise<OperationDecision>;
  /** `device` is as it was right before the change. Must not have side effects: see `commitLast`. */
  readonly data: (done: {
    readonly device: DeviceRecord;
    readonly at: number;
    readonly change: DeviceChange;
    readonly result: ChangeResult;
  }) => D;
}

/** The filter of a query of devices. It reads only what the query has: most have one or two filters. */
export function filterOf(query: Query<'exportDevices'>, caller: Caller): DeviceFilter {
  const filter: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(query)) {
    if (name === 'tag') filter.tags = query.tag?.flatMap(text => parseTag(text) ?? []);
    else if (name === 'search') filter.search = wordsOf(value as string, caller);
    else if (name in deviceFilters) filter[name] = value instanceof Date ? value.getTime() : value;
  }
  return filter;
}

/** A VIEWER finds no names of persons. */
function wordsOf(search: string, { role }: Caller): readonly SearchWord[] {
  const words = searchWords(search);
  if (words.length === 0 || words.length > searchBounds.words)
    throw inputError('search', `must have 1 to ${searchBounds.words} words, not ${words.length}`);
  return role === 'VIEWER' ? words.map(word => ({ ...word, in: word.in.filter(field => field !== 'name') })) : words;
}
