import { ApiError } from '../../src/contract/codes.ts';
import type { BodyOf, DataOf, QueryOf } from '../../src/contract/define.ts';
import * as api from '../../src/contract/devices.ts';
import { deviceIds, userIds } from '../../src/contract/ids.ts';
import { activationCodeDays, paging } from '../../src/contract/limits.ts';
import { toPage } from '../../src/contract/paging.ts';
import { compileReader } from '../../src/contract/validate.ts';
import { KeyedMutex } from '../concurrency.ts';
import { expiry, newActivationCode } from '../domain/activation-code.ts';
import * as domain from '../domain/device.ts';
import type { Change, DeviceRecord, Outcome, Store } from '../store/store.ts';
import { actorOf, type Context, retrying } from './context.ts';
import type { Passwords } from './passwords.ts';
import * as present from './present.ts';

export interface DeviceServiceParts {
  readonly store: Store;
  readonly passwords: Passwords;
  readonly now: () => number;
}

type Duplicate = Extract<Outcome, { kind: 'duplicate' }>;
const readRegistration = compileReader(api.registration);

/** The operations on devices. Refusals are `ApiError`s. */
export class DeviceService {
  readonly #parts: DeviceServiceParts;
  readonly #changes = new KeyedMutex<string>();

  constructor(parts: DeviceServiceParts) {
    this.#parts = parts;
  }

  async register(context: Context, body: api.Registration): Promise<DataOf<typeof api.registerDevice>> {
    const at = this.#parts.now();
    const change = addition(body, at);
    const [outcome] = await this.#commit(context, at, [change]);
    if (outcome?.kind !== 'added') throw new ApiError(2006, duplicateWords(body.serialNumber, outcome as Duplicate));
    return {
      deviceId: deviceIds.format(outcome.number),
      deviceType: body.deviceType,
      serialNumber: body.serialNumber,
      manufacturer: body.manufacturer,
      model: body.model,
      status: 'INACTIVE',
      activationCode: change.device.activationCode,
      createdAt: present.iso(at),
    };
  }

  /** Every item is judged by itself; those accepted are committed together. */
  async batchRegister(context: Context, items: readonly unknown[]): Promise<DataOf<typeof api.batchRegister>> {
    const at = this.#parts.now();
    const read = items.map(item => readRegistration(item));
    const changes = read.flatMap(item => (item.ok ? [addition(item.value, at)] : []));
    const outcomes = changes.length ? await this.#commit(context, at, changes) : [];
    let next = 0;
    const results = read.map((item, i): api.BatchItem => {
      if (!item.ok)
        return { serialNumber: serialAsGiven(items[i]), status: 'failed', message: item.message, code: 1001 };
      const { serialNumber, activationCode } = changes[next]!.device;
      const outcome = outcomes[next++]!;
      if (outcome.kind === 'added')
        return {
          serialNumber,
          deviceId: deviceIds.format(outcome.number),
          activationCode,
          status: 'success',
          message: 'registered',
        };
      return {
        serialNumber,
        status: 'failed',
        message: duplicateWords(serialNumber, outcome as Duplicate),
        code: 2006,
      };
    });
    const success = outcomes.reduce((sum, outcome) => sum + (outcome.kind === 'added' ? 1 : 0), 0);
    return { total: items.length, success, failed: items.length - success, results };
  }

  async activate(context: Context, body: BodyOf<typeof api.activate>): Promise<DataOf<typeof api.activate>> {
    const { device, at } = await this.#change(context, body.deviceId, (device, at) =>
      domain.activate(device, body.activationCode, body.userId, at),
    );
    return {
      deviceId: deviceIds.format(device.number),
      status: 'ACTIVE',
      userId: body.userId,
      activatedAt: present.iso(at),
    };
  }

  async lock(context: Context, deviceId: string, body: BodyOf<typeof api.lock>): Promise<DataOf<typeof api.lock>> {
    const { device, at } = await this.#change(context, deviceId, (device, at) =>
      domain.lock(device, body.reason, body.note ?? null, at),
    );
    return {
      deviceId: deviceIds.format(device.number),
      status: 'LOCKED',
      lockedAt: present.iso(at),
      lockReason: body.reason,
    };
  }

  async unlock(
    context: Context,
    deviceId: string,
    body: BodyOf<typeof api.unlock>,
  ): Promise<DataOf<typeof api.unlock>> {
    const { device, at } = await this.#change(context, deviceId, device => domain.unlock(device, body.note ?? null));
    return { deviceId: deviceIds.format(device.number), status: 'ACTIVE', unlockedAt: present.iso(at) };
  }

  /** State comes before the password: who asks learns of a finished device without spending an attempt. */
  async deactivate(
    context: Context,
    deviceId: string,
    body: BodyOf<typeof api.deactivate>,
  ): Promise<DataOf<typeof api.deactivate>> {
    domain.allow('deactivate', await this.#device(deviceId));
    await this.#parts.passwords.confirmAdministrator(context, body.confirmPassword);
    const { device, at } = await this.#change(context, deviceId, (device, at) =>
      domain.deactivate(device, body.reason, body.note ?? null, at),
    );
    return { deviceId: deviceIds.format(device.number), status: 'DEACTIVATED', deactivatedAt: present.iso(at) };
  }

  /** `given` is the body as it came: fields that cannot be changed may be repeated, not changed. */
  async update(
    context: Context,
    deviceId: string,
    body: BodyOf<typeof api.updateDevice>,
    given: Readonly<Record<string, unknown>>,
  ): Promise<DataOf<typeof api.updateDevice>> {
    if (body.firmwareVersion === undefined && body.note === undefined) throw new ApiError(1001, nothingToUpdate(given));
    const { device, at } = await this.#change(context, deviceId, (device, at) => {
      for (const field of api.immutableFields)
        if (Object.hasOwn(given, field) && given[field] !== device[field])
          throw new ApiError(1001, `${field} cannot be changed`);
      return domain.update(device, body, at);
    });
    return {
      deviceId: deviceIds.format(device.number),
      firmwareVersion: body.firmwareVersion === undefined ? device.firmwareVersion : body.firmwareVersion,
      note: body.note === undefined ? device.note : body.note,
      updatedAt: present.iso(at),
    };
  }

  async generateCode(
    context: Context,
    body: BodyOf<typeof api.generateActivationCode>,
  ): Promise<DataOf<typeof api.generateActivationCode>> {
    const code = newActivationCode();
    const days = body.validityDays ?? activationCodeDays.default;
    const { device, at } = await this.#change(context, body.deviceId, (device, at) =>
      domain.replaceCode(device, code, expiry(at, days), body.reason),
    );
    return {
      deviceId: deviceIds.format(device.number),
      activationCode: code,
      expiresAt: present.iso(expiry(at, days)),
      oldActivationCode: device.activationCode,
      generatedAt: present.iso(at),
    };
  }

  async recordUsage(context: Context, deviceId: string, seconds: number): Promise<DataOf<typeof api.recordUsage>> {
    const { device, at, outcome } = await this.#change(context, deviceId, device => domain.use(device, seconds));
    const sums = outcome as Extract<Outcome, { kind: 'used' }>;
    return {
      deviceId: deviceIds.format(device.number),
      totalUsageCount: sums.usageCount,
      totalUsageDuration: sums.usageSeconds,
      lastUsedAt: present.iso(at),
    };
  }

  async list(context: Context, query: QueryOf<typeof api.listDevices>): Promise<DataOf<typeof api.listDevices>> {
    const { page = paging.page, size = paging.size } = query;
    const { rows, total } = await this.#parts.store.devices({
      deviceType: query.deviceType,
      status: query.status,
      manufacturer: query.manufacturer,
      userId: query.userId,
      keyword: query.keyword,
      sortBy: query.sortBy ?? 'createTime',
      descending: query.sortOrder !== 'asc',
      offset: (page - 1) * size,
      limit: size,
    });
    const list = rows.map(row => present.listItem(row, context.caller));
    return toPage(list, total, page, size) as DataOf<typeof api.listDevices>;
  }

  async detail(context: Context, deviceId: string): Promise<api.DeviceDetail> {
    const device = await this.#device(deviceId);
    const bound = device.userId === null ? null : userIds.parse(device.userId);
    return present.detail(device, context.caller, bound === null ? null : await this.#parts.store.user(bound));
  }

  async #device(deviceId: string): Promise<DeviceRecord> {
    const number = deviceIds.parse(deviceId);
    const device = number === null ? null : await this.#parts.store.device(number);
    if (!device) throw new ApiError(2001, 'device does not exist');
    return device;
  }

  /**
   * Reads the device, decides, commits under the decision's guard. `device` is as it was right before: an answer and the
   * journal tell what a change found, and the guard alone would let another change come between the two.
   */
  #change(context: Context, deviceId: string, decide: (device: DeviceRecord, at: number) => domain.Decision) {
    const attempt = async () => {
      const device = await this.#device(deviceId);
      const at = this.#parts.now();
      const { change, guard } = decide(device, at);
      const [outcome] = await this.#parts.store.commit({
        at,
        actor: actorOf(context),
        requestId: context.requestId,
        changes: [change],
        guards: [guard],
      });
      return { device, at, outcome };
    };
    return this.#changes.run(deviceId, () => retrying(attempt));
  }

  #commit(context: Context, at: number, changes: readonly Change[]): Promise<readonly Outcome[]> {
    return this.#parts.store.commit({ at, actor: actorOf(context), requestId: context.requestId, changes });
  }
}

function addition(body: api.Registration, at: number): Extract<Change, { kind: 'device.add' }> {
  return {
    kind: 'device.add',
    device: {
      deviceType: body.deviceType,
      serialNumber: body.serialNumber,
      manufacturer: body.manufacturer,
      model: body.model,
      hardwareVersion: body.hardwareVersion ?? null,
      firmwareVersion: body.firmwareVersion ?? null,
      activationCode: newActivationCode(),
      activationCodeExpiresAt: expiry(at, activationCodeDays.default),
    },
    entry: { type: 'DEVICE_REGISTERED', data: { deviceType: body.deviceType, serialNumber: body.serialNumber } },
  };
}

function duplicateWords(serialNumber: string, found: Duplicate): string {
  return `serialNumber ${serialNumber} already exists: ${deviceIds.format(found.number)}, ${found.status}`;
}

/** Whoever tries to change a fixed field is told which one. */
function nothingToUpdate(given: Readonly<Record<string, unknown>>): string {
  const fixed = api.immutableFields.filter(field => Object.hasOwn(given, field));
  return `firmwareVersion or note is required${fixed.length ? `; ${fixed.join(', ')} cannot be changed` : ''}`;
}

/** What a failed item is called in the results: its own serial where it has one, and no more of it than a serial can be long. */
function serialAsGiven(item: unknown): string | null {
  const serial = typeof item === 'object' && item !== null ? (item as Record<string, unknown>).serialNumber : null;
  return typeof serial === 'string' ? serial.slice(0, 200) : null;
}
