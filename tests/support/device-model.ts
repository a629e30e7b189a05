/** A second, plain model of devices and their changes, which the daemon is compared with. */
import { isDeepStrictEqual } from 'node:util';
import { undescribed } from '../../src/contract/device-description.ts';
import type { DeviceDetail } from '../../src/contract/devices.ts';
import type { DeviceStatus } from '../../src/contract/values.ts';

/** A device as an ADMIN sees it; null before it is registered. */
export type Modelled = DeviceDetail | null;

export interface Reply {
  readonly status: number;
  readonly code: number;
  readonly message: string;
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  readonly data: any;
}

/** The state after an operation with this answer, or undefined where the answer is a wrong one in this state. */
export type Step = (state: Modelled, reply: Reply) => Modelled | undefined;

const http: Readonly<Record<number, number>> = { 1003: 403, 2001: 404, 2007: 403 };

/** The reply is this refusal, whatever the state. */
export const refuses =
  (code: number): Step =>
  (state, reply) =>
    reply.code === code && reply.status === (http[code] ?? 400) && reply.data === null ? state : undefined;

type Rule = readonly [inactive: number, active: number, locked: number, deactivated: number];
/** 0 where the state allows it. */
const rules = {
  activate: [0, 2002, 2004, 2005],
  lock: [1001, 0, 2004, 2005],
  unlock: [1001, 1001, 0, 2005],
  deactivate: [0, 0, 0, 2005],
  update: [0, 0, 2004, 2005],
  newCode: [0, 0, 0, 2005],
  use: [1001, 0, 2004, 2005],
} as const satisfies Record<string, Rule>;
const places: Readonly<Record<DeviceStatus, number>> = { INACTIVE: 0, ACTIVE: 1, LOCKED: 2, DEACTIVATED: 3 };

/** A change of a registered device: refused by its state, or `then` shows what it makes of it and of the reply. */
function changes(
  rule: keyof typeof rules,
  then: (device: DeviceDetail, reply: Reply) => readonly [after: DeviceDetail, data: object] | number,
): Step {
  return (state, reply) => {
    if (!state) return refuses(2001)(state, reply);
    const refusal = rules[rule][places[state.status]]!;
    if (refusal) return refuses(refusal)(state, reply);
    const outcome = then(state, { ...reply, data: reply.data ?? {} });
    if (typeof outcome === 'number') return refuses(outcome)(state, reply);
    const version = state.version + (rule === 'use' ? 0 : 1);
    return succeeds(reply, { ...outcome[1], version }) ? { ...outcome[0], version } : undefined;
  };
}

const succeeds = (reply: Reply, data: object): boolean =>
  reply.status === 200 && reply.code === 200 && reply.message === 'success' && isDeepStrictEqual(reply.data, data);

const day = 86_400_000;
const later = (time: string, days: number): string => new Date(Date.parse(time) + days * day).toISOString();

export interface Registering {
  readonly deviceType: 'UKEY' | 'SIMKEY';
  readonly serialNumber: string;
  readonly manufacturer: string;
  readonly model: string;
  readonly firmwareVersion?: string;
  readonly tags?: Readonly<Record<string, string>>;
}

function born(body: Registering, deviceId: string, activationCode: string, createdAt: string): DeviceDetail {
  return {
    ...undescribed,
    tags: {},
    proof: null,
    identity: 'serial',
    identityProvedAt: null,
    ...body,
    deviceId,
    status: 'INACTIVE',
    userId: null,
    personId: null,
    userName: null,
    userEmail: null,
    activationCode,
    activationCodeExpiresAt: later(createdAt, 365),
    note: null,
    createdAt,
    activatedAt: null,
    lastUsedAt: null,
    lockReason: null,
    lockedAt: null,
    deactivatedAt: null,
    shippedAt: null,
    receivedAt: null,
    updatedAt: null,
    version: 1,
    statistics: { totalUsageCount: 0, totalUsageDuration: 0, backupCount: 0, lastBackupAt: null },
  };
}

const isDuplicate = (state: DeviceDetail, message: string): boolean =>
  ['already exists', state.serialNumber, state.deviceId, state.status].every(word => message.includes(word));

export const register =
  (body: Registering): Step =>
  (state, reply) => {
    if (state) return isDuplicate(state, reply.message) ? refuses(2006)(state, reply) : undefined;
    const { deviceId, activationCode, createdAt } = reply.data ?? {};
    const { firmwareVersion: _, tags: __, ...told } = body;
    const data = { deviceId, ...told, status: 'INACTIVE', activationCode, createdAt, version: 1 };
    return succeeds(reply, data) ? born(body, deviceId, activationCode, createdAt) : undefined;
  };

/** `reply.data` is the result of the one item; when it was registered is only known from a later look. */
export const registerInBatch =
  (body: Registering, createdAt: () => string): Step =>
  (state, { data: item }) => {
    const { serialNumber } = body;
    if (state)
      return item.status === 'failed' &&
        item.code === 2006 &&
        !('deviceId' in item) &&
        isDuplicate(state, item.message) &&
        item.serialNumber === serialNumber
        ? state
        : undefined;
    const { deviceId, activationCode, message } = item;
    return isDeepStrictEqual(item, { serialNumber, deviceId, activationCode, status: 'success', message })
      ? born(body, deviceId, activationCode, createdAt())
      : undefined;
  };

export const activate = (code: string, userId: string): Step =>
  changes('activate', (device, { data: { activatedAt } }) => {
    if (code.toUpperCase() !== device.activationCode) return 2003;
    const changed = { status: 'ACTIVE', userId, activatedAt } as const;
    return [
      { ...device, ...changed },
      { deviceId: device.deviceId, ...changed },
    ];
  });

export const lock = (lockReason: string): Step =>
  changes('lock', (device, { data: { lockedAt } }) => {
    const changed = { status: 'LOCKED', lockedAt, lockReason } as const;
    return [
      { ...device, ...changed },
      { deviceId: device.deviceId, ...changed },
    ];
  });

export const unlock = (): Step =>
  changes('unlock', (device, { data: { unlockedAt } }) => [
    { ...device, status: 'ACTIVE', lockedAt: null, lockReason: null },
    { deviceId: device.deviceId, status: 'ACTIVE', unlockedAt },
  ]);

export const deactivate = (isRight: boolean): Step =>
  changes('deactivate', (device, { data: { deactivatedAt } }) => {
    if (!isRight) return 1003;
    const changed = { status: 'DEACTIVATED', deactivatedAt } as const;
    return [
      { ...device, ...changed },
      { deviceId: device.deviceId, ...changed },
    ];
  });

export interface Tag {
  readonly name: string;
  readonly value: string;
}

export interface Edit {
  readonly note?: string | null;
  readonly firmwareVersion?: string | null;
  readonly tags?: Readonly<Record<string, string | null>>;
}

export const update = ({ tags: edits = {}, ...set }: Edit): Step =>
  changes('update', (device, { data: { updatedAt } }) => {
    const tags: Record<string, string> = {};
    for (const [name, value] of Object.entries({ ...device.tags, ...edits }).sort()) if (value) tags[name] = value;
    if (Object.keys(tags).length > 16) return 1001;
    const after = { ...device, ...set, tags, updatedAt };
    const { deviceId, firmwareVersion, note } = after;
    return [after, { deviceId, firmwareVersion, note, tags, updatedAt }];
  });

export const newCode = (days: number): Step =>
  changes('newCode', (device, { data: { activationCode, generatedAt } }) => {
    const expiresAt = later(generatedAt ?? '1970-01-01', days);
    const { deviceId, activationCode: oldActivationCode } = device;
    return [
      { ...device, activationCode, activationCodeExpiresAt: expiresAt },
      { deviceId, activationCode, expiresAt, oldActivationCode, generatedAt },
    ];
  });

export const use = (seconds: number): Step =>
  changes('use', (device, { data: { lastUsedAt } }) => {
    const { totalUsageCount, totalUsageDuration, ...rest } = device.statistics;
    const sums = { totalUsageCount: totalUsageCount + 1, totalUsageDuration: totalUsageDuration + seconds };
    return [
      { ...device, lastUsedAt, statistics: { ...rest, ...sums } },
      { deviceId: device.deviceId, ...sums, lastUsedAt },
    ];
  });

const shownTo = (device: DeviceDetail, isViewer: boolean): DeviceDetail =>
  isViewer ? { ...device, activationCode: null } : device;

export const detail =
  (isViewer: boolean): Step =>
  (state, reply) => {
    if (!state) return refuses(2001)(state, reply);
    return succeeds(reply, shownTo(state, isViewer)) ? state : undefined;
  };

export function listed(device: DeviceDetail, isViewer: boolean): object {
  const { deviceId, deviceType, serialNumber, manufacturer, model, status, userId, personId } = device;
  const { activationCode, createdAt, activatedAt, lastUsedAt, tags, proof } = shownTo(device, isViewer);
  const fixed = { deviceId, deviceType, serialNumber, manufacturer, model, status, userId, personId };
  return { ...fixed, activationCode, createdAt, activatedAt, lastUsedAt, tags, proof };
}

/** A list that only this device can be in, and only in this status and with this tag where one is asked for. */
export const find =
  (isViewer: boolean, status?: DeviceStatus, tag?: Tag): Step =>
  (state, reply) => {
    const has =
      state &&
      (!tag || Object.entries(state.tags).some(([name, value]) => `${name}:${value}` === `${tag.name}:${tag.value}`));
    const list = has && (!status || state.status === status) ? [listed(state, isViewer)] : [];
    const pagination = { page: 1, size: 20, total: list.length, totalPages: list.length };
    return succeeds(reply, { list, pagination }) ? state : undefined;
  };
