/** Decisions: which operation a device allows in which state, and what it changes. No I/O. */

import { Code } from '../../src/contract/codes.ts';
import { descriptionOf } from '../../src/contract/device-description.ts';
import type { Registration } from '../../src/contract/devices.ts';
import { deviceIds } from '../../src/contract/ids.ts';
import { activationCodeDays, tagBounds } from '../../src/contract/limits.ts';
import { hasTags, mergeTags, noTags, type TagChanges } from '../../src/contract/tags.ts';
import { type DeviceStatus, immutableFields } from '../../src/contract/values.ts';
import { type Decision, inputRefusal, Refusal } from '../base/decision.ts';
import { iso } from '../base/time.ts';
import type { Entry } from '../store/journal.ts';
import { expiry, sameActivationCode } from './activation-code.ts';
import { codeDigest, proofDigest } from './digest.ts';
import type {
  DeviceAdd,
  DeviceGuard,
  DeviceIdentity,
  DeviceRecord,
  DeviceSet,
  DeviceUpdate,
  DeviceUse,
  HeldFields,
  NewDevice,
} from './records.ts';

/** A change of an existing device, and its guards. */
export type DeviceDecision = Decision<DeviceUpdate | DeviceUse, DeviceGuard>;

type Denial = readonly [code: Refusal['code'], why: string];

const locked: Denial = [Code.deviceLocked, 'is locked; unlock it first'];
const lockedAlready: Denial = [Code.deviceLocked, 'is already locked'];
const deactivated: Denial = [Code.deviceDeactivated, 'is permanently deactivated'];
const activated: Denial = [Code.alreadyActivated, 'is already activated'];
const notActive: Denial = [Code.parameterError, 'is not active; activate it first'];
const notLocked: Denial = [Code.parameterError, 'is not locked'];

/** Operation × state. */
const rules = {
  activate: { INACTIVE: 'yes', ACTIVE: activated, LOCKED: locked, DEACTIVATED: deactivated },
  lock: { INACTIVE: notActive, ACTIVE: 'yes', LOCKED: lockedAlready, DEACTIVATED: deactivated },
  unlock: { INACTIVE: notLocked, ACTIVE: notLocked, LOCKED: 'yes', DEACTIVATED: deactivated },
  // A stolen key can be retired without first making it usable.
  deactivate: { INACTIVE: 'yes', ACTIVE: 'yes', LOCKED: 'yes', DEACTIVATED: deactivated },
  update: { INACTIVE: 'yes', ACTIVE: 'yes', LOCKED: locked, DEACTIVATED: deactivated },
  newCode: { INACTIVE: 'yes', ACTIVE: 'yes', LOCKED: 'yes', DEACTIVATED: deactivated },
  use: { INACTIVE: notActive, ACTIVE: 'yes', LOCKED: locked, DEACTIVATED: deactivated },
  backUp: { INACTIVE: notActive, ACTIVE: 'yes', LOCKED: locked, DEACTIVATED: deactivated },
  handOver: { INACTIVE: notActive, ACTIVE: 'yes', LOCKED: locked, DEACTIVATED: deactivated },
  // The key of a leaver is locked or retired before it comes back.
  takeBack: { INACTIVE: notActive, ACTIVE: 'yes', LOCKED: 'yes', DEACTIVATED: 'yes' },
  restore: { INACTIVE: 'yes', ACTIVE: 'yes', LOCKED: 'yes', DEACTIVATED: deactivated },
} as const satisfies Record<string, Readonly<Record<DeviceStatus, 'yes' | Denial>>>;

/** Operations on an existing device. */
export type DeviceOperation = keyof typeof rules;

/** Why the state of the device does not allow the operation; null if it does. */
export function refusalOf(operation: DeviceOperation, device: DeviceRecord): Refusal | null {
  const rule: 'yes' | Denial = rules[operation][device.status];
  return rule === 'yes' ? null : new Refusal(rule[0], `device ${deviceIds.format(device.number)} ${rule[1]}`);
}

/** Operations decided on the activation code: their guards hold it, so that a new code in between undoes the decision. */
const codeOperations: ReadonlySet<DeviceOperation> = new Set(['activate', 'newCode']);

/** Fields that the decision, its journal entry or its response repeats beside state and code: the guard holds it. */
function heldFields(operation: DeviceOperation, device: DeviceRecord): HeldFields | null {
  const { firmwareVersion, note, tags, lockReason } = device;
  if (operation === 'update') return { firmwareVersion, note, tags };
  return operation === 'unlock' ? { lockReason } : null;
}

/** Holds as long as the device is in a state that allows the operation, and has what the decision follows from. */
export function guardOf(operation: DeviceOperation, device: DeviceRecord): DeviceGuard {
  const states = Object.keys(rules[operation]) as DeviceStatus[];
  const allowed = states.filter(state => rules[operation][state] === 'yes');
  // The journal records which state a deactivation has ended.
  const status = operation === 'deactivate' ? [device.status] : allowed;
  const fields = heldFields(operation, device);
  return {
    kind: 'device',
    device: device.number,
    status,
    ...(codeOperations.has(operation) ? { activationCode: device.activationCode } : {}),
    ...(fields ? { fields } : {}),
  };
}

/** Sets fields of the device, unless its state does not allow the operation. */
function decide(
  operation: DeviceOperation,
  device: DeviceRecord,
  set: DeviceSet,
  entry: Entry,
): DeviceDecision | Refusal {
  const change = { kind: 'device.set', device: device.number, set, entry } as const;
  return refusalOf(operation, device) ?? { change, guards: [guardOf(operation, device)] };
}

/** `activationCode` is a new code; its validity starts at `now`. `proof`: see `DeviceRecord`. */
export function register(
  registration: Registration,
  activationCode: string,
  now: number,
  proof: string | null = null,
): DeviceAdd {
  const { deviceType, serialNumber } = registration;
  const device = {
    deviceType,
    serialNumber,
    ...descriptionOf(registration),
    activationCode,
    activationCodeExpiresAt: expiry(now, activationCodeDays.default),
    tags: registration.tags ?? noTags,
    proof,
  };
  const data = { deviceType, serialNumber };
  return { kind: 'device.add', device, entry: { type: 'DEVICE_REGISTERED', data, detail: registeredDetail(device) } };
}

/** The registration of a device that `userId` has already. */
export const registerBound = (add: DeviceAdd, userId: string): DeviceAdd => ({
  ...add,
  owner: { userId, entry: activationEntry(add.device, userId) },
});

const activationEntry = ({ deviceType }: Pick<DeviceRecord, 'deviceType'>, userId: string): Entry => ({
  type: 'DEVICE_ACTIVATED',
  data: { deviceType, userId },
});

function registeredDetail(device: NewDevice): NonNullable<Entry['detail']> {
  const detail = { codeDigest: codeDigest(device) };
  const { tags, proof } = device;
  if (proof === null && !hasTags(tags)) return detail;
  return {
    ...detail,
    ...(hasTags(tags) ? { tags } : {}),
    ...(proof === null ? {} : { proofDigest: proofDigest(proof) }),
  };
}

/** The registration as it is if the device is created so many milliseconds later: its code is valid as long as before. */
export function registeredLater({ device, entry, ...add }: DeviceAdd, milliseconds: number): DeviceAdd {
  const moved = { ...device, activationCodeExpiresAt: device.activationCodeExpiresAt + milliseconds };
  return { ...add, device: moved, entry: { ...entry, detail: { ...entry.detail, codeDigest: codeDigest(moved) } } };
}

/** The refusal of a registration whose serial number belongs to `existing`. */
export function duplicateSerial(
  serialNumber: string,
  existing: { readonly number: number; readonly status: DeviceStatus | null },
): Refusal {
  const id = deviceIds.format(existing.number);
  return new Refusal(Code.serialDuplicated, `serialNumber ${serialNumber} already exists: ${id}, ${existing.status}`);
}

/** The refusal of a registration for another reason, unless the serial number is registered already: then that is the reason. */
export const duplicateOr = (refusal: Refusal, serialNumber: string, existing: DeviceIdentity | undefined): Refusal =>
  existing ? duplicateSerial(serialNumber, existing) : refusal;

/** Binds the device to `userId`. `code` may be in upper or lower case. */
export function activate(device: DeviceRecord, code: string, userId: string, now: number): DeviceDecision | Refusal {
  const refusal = refusalOf('activate', device);
  if (refusal) return refusal;
  if (!sameActivationCode(code, device.activationCode) || now >= device.activationCodeExpiresAt)
    return new Refusal(
      Code.activationCodeInvalid,
      `the activation code does not match ${deviceIds.format(device.number)} or has expired`,
    );
  const set = { status: 'ACTIVE', userId, activatedAt: now } as const;
  return decide('activate', device, set, activationEntry(device, userId));
}

/** `note` goes into the journal; the note of the device stays as it is. */
export function lock(device: DeviceRecord, reason: string, note: string | null, now: number) {
  const data = { deviceType: device.deviceType, lockReason: reason };
  const set = { status: 'LOCKED', lockedAt: now, lockReason: reason } as const;
  return decide('lock', device, set, { type: 'DEVICE_LOCKED', data, detail: { note } });
}

/** `note` goes into the journal; the device loses the reason and the time of its lock. */
export function unlock(device: DeviceRecord, note: string | null) {
  const { deviceType, lockReason } = device;
  const set = { status: 'ACTIVE', lockedAt: null, lockReason: null } as const;
  const detail = { note, wasLockedFor: lockReason };
  return decide('unlock', device, set, { type: 'DEVICE_UNLOCKED', data: { deviceType }, detail });
}

/** Retires the device permanently. `reason` and `note` go into the journal. */
export function deactivate(device: DeviceRecord, reason: string, note: string | null, now: number) {
  const { deviceType, status: before } = device;
  const set = { status: 'DEACTIVATED', deactivatedAt: now } as const;
  const detail = { reason, note, before };
  return decide('deactivate', device, set, { type: 'DEVICE_DEACTIVATED', data: { deviceType }, detail });
}

/** The fields that an update may set. Absent fields keep their values, null clears. */
interface DeviceEdit {
  readonly firmwareVersion?: string | null | undefined;
  readonly note?: string | null | undefined;
  /** Null removes a tag; tags that are not named stay. */
  readonly tags?: TagChanges | undefined;
  /** An account: a device that is bound to its id is bound to its name. One person then has one name in all filters. */
  readonly account?: { readonly id: string; readonly name: string } | null;
}

const FIXED = 'cannot be changed';

/** Why a request changes nothing; null if it changes something. `given` is the body as it was sent. */
export function emptyEdit(edit: DeviceEdit, given: Readonly<Record<string, unknown>>): Refusal | null {
  const { firmwareVersion, note, tags, account = null } = edit;
  if (firmwareVersion !== undefined || note !== undefined || tags !== undefined || account !== null) return null;
  const fixed = immutableFields.filter(field => Object.hasOwn(given, field));
  const which = fixed.length ? `; ${fixed.join(', ')} ${FIXED}` : '';
  const missing = 'firmwareVersion, note or tags is required';
  const details = [{ field: '', reason: missing }, ...fixed.map(field => ({ field, reason: FIXED }))];
  return new Refusal(Code.parameterError, missing + which, details);
}

/** `given` is the body as it was sent: it may repeat the fields that cannot be changed, with their present values. */
export function edit(
  device: DeviceRecord,
  { firmwareVersion, note, tags: changes, account = null }: DeviceEdit,
  given: Readonly<Record<string, unknown>>,
  now: number,
): DeviceDecision | Refusal {
  const fixed = immutableFields.filter(field => Object.hasOwn(given, field) && given[field] !== device[field]);
  if (fixed.length > 0) {
    const details = fixed.map(field => ({ field, reason: FIXED }));
    return new Refusal(Code.parameterError, `${fixed[0]} ${FIXED}`, details);
  }
  const tags = changes && mergeTags(device.tags, changes);
  if (tags && Object.keys(tags).length > tagBounds.perDevice)
    return refusalOf('update', device) ?? inputRefusal('tags', `: a device has at most ${tagBounds.perDevice} tags`);
  const after = {
    ...(firmwareVersion === undefined ? {} : { firmwareVersion }),
    ...(note === undefined ? {} : { note }),
    ...(tags === undefined ? {} : { tags }),
    ...(account === null || device.userId !== account.id ? {} : { userId: account.name }),
  };
  if (Object.keys(after).length === 0)
    return inputRefusal('userId', `: the device is not bound to the id of the account ${account?.name}`);
  const before = Object.fromEntries(Object.keys(after).map(field => [field, device[field as keyof typeof after]]));
  const data = { deviceType: device.deviceType };
  const set = { ...after, updatedAt: now };
  return decide('update', device, set, { type: 'DEVICE_UPDATED', data, detail: { before, after } });
}

/** The device is on its way to its person from then on. */
export function ship(device: DeviceRecord, now: number) {
  const set = { shippedAt: now, receivedAt: null } as const;
  return decide('handOver', device, set, { type: 'DEVICE_SHIPPED', data: { deviceType: device.deviceType } });
}

/** Records that the person of a device has reported it lost, once and as its person. Its state stays as it is: see `lock`. */
export function noteLost({ number, deviceType, status, version }: DeviceRecord, reason: string): DeviceDecision {
  const entry: Entry = { type: 'DEVICE_LOST', data: { deviceType, reason } };
  const change = { kind: 'device.set', device: number, set: {}, entry } as const;
  return { change, guards: [{ kind: 'device', device: number, status: [status], version }] };
}

/** Records once that the arrival of a device that was sent is overdue: another entry about the device makes a conflict. */
export function noteOverdue({ number, deviceType, status, shippedAt, version }: DeviceRecord): DeviceDecision {
  const entry: Entry = { type: 'SHIPMENT_OVERDUE', data: { deviceType, shippedAt: iso(shippedAt!) } };
  const change = { kind: 'device.set', device: number, set: {}, entry } as const;
  return { change, guards: [{ kind: 'device', device: number, status: [status], version }] };
}

/** The previous code is invalid from the commit on. */
export function replaceCode(device: DeviceRecord, code: string, expiresAt: number, reason: string) {
  const data = { deviceType: device.deviceType };
  const set = { activationCode: code, activationCodeExpiresAt: expiresAt };
  const detail = { reason, codeDigest: codeDigest({ ...device, ...set }) };
  return decide('newCode', device, set, { type: 'ACTIVATION_CODE_GENERATED', data, detail });
}

/** Gives the device a proof that follows from `detail`, in any state: a retired key may still be examined. */
export function prove(
  { number, status, proof: before }: Pick<DeviceRecord, 'number' | 'status' | 'proof'>,
  proof: string,
  entry: Entry,
): DeviceDecision {
  const detail = { ...entry.detail, proofDigest: proofDigest(proof) };
  const change = { kind: 'device.set', device: number, set: { proof }, entry: { ...entry, detail } } as const;
  return { change, guards: [{ kind: 'device', device: number, status: [status], fields: { proof: before } }] };
}

/** Records one use of `seconds`. */
export function use(device: DeviceRecord, seconds: number): DeviceDecision | Refusal {
  const entry: Entry = { type: 'DEVICE_USED', detail: { seconds } };
  const change = { kind: 'device.use', device: device.number, seconds, entry } as const;
  return refusalOf('use', device) ?? { change, guards: [guardOf('use', device)] };
}
