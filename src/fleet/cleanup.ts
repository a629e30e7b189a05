/** Plans for devices that are not needed: which devices, as they were then, and which of them are as they were. No I/O. */
import type { DeviceListItem } from '../contract/device-shapes.ts';
import type { BatchOperation, DeviceStatus } from '../contract/values.ts';

/** Actions of a plan. */
export const planActions = ['lock', 'deactivate'] as const;
/** Action of a plan. */
export type PlanAction = (typeof planActions)[number];

/** The operation of each action. */
export const operationOf = { lock: 'LOCK', deactivate: 'DEACTIVATE' } as const satisfies Readonly<
  Record<PlanAction, BatchOperation>
>;
/** The state that each action leads to. */
export const goalOf: Readonly<Record<PlanAction, DeviceStatus>> = { lock: 'LOCKED', deactivate: 'DEACTIVATED' };

/** The most devices of one plan: a plan is read by a person. */
export const maxPlanned = 100_000;

/** State of a device in a plan: whatever differs later is a change. */
export const plannedFields = ['serialNumber', 'status', 'userId', 'activatedAt', 'lastUsedAt'] as const;
/** A device as it was when the plan was made. */
export type PlannedDevice = Pick<DeviceListItem, 'deviceId' | (typeof plannedFields)[number]>;

/** Filters of devices, as the query of an export. */
type Criteria = Readonly<Record<string, unknown>>;

/** Which devices a plan is for. */
export interface PlanTargets {
  readonly action: PlanAction;
  readonly criteria: Criteria;
  readonly devices: readonly PlannedDevice[];
}

/** The devices of a plan, as they are. Calls `tooMany`, which throws, if there are more than a plan may have. */
export async function planDevices(
  devices: AsyncIterable<DeviceListItem>,
  tooMany: () => never,
): Promise<readonly PlannedDevice[]> {
  const planned: PlannedDevice[] = [];
  for await (const { deviceId, serialNumber, status, userId, activatedAt, lastUsedAt } of devices) {
    if (planned.length === maxPlanned) tooMany();
    planned.push({ deviceId, serialNumber, status, userId, activatedAt, lastUsedAt });
  }
  return planned;
}

/** Whether criteria select by more than the state: a plan for all devices of a state would be a mistake. */
export const isSelective = (criteria: Criteria): boolean => Object.keys(criteria).some(name => name !== 'status');

/** The criteria that find the devices of a plan again: in any state, so that the state of one in another state can be named. */
export function criteriaToCompare<C extends Criteria>({ criteria }: { readonly criteria: C }): Omit<C, 'status'> {
  const { status: _, ...others } = criteria;
  return others as Omit<C, 'status'>;
}

/** A device that stays as it is, with what it is now and how it differs. */
export interface ChangedDevice {
  readonly device: PlannedDevice;
  /** Absent if the filters of the plan do not match it any more. */
  readonly now?: DeviceListItem;
  readonly fields: readonly (typeof plannedFields)[number][];
}

/** The devices of a plan, each in one of the lists, in the order of the plan. */
export interface Comparison {
  readonly unchanged: readonly PlannedDevice[];
  readonly changed: readonly ChangedDevice[];
  /** Devices that already are in the state that the plan is for. */
  readonly done: readonly PlannedDevice[];
}

/** Compares a plan with the devices that `criteriaToCompare` selects. */
export async function comparePlan(plan: PlanTargets, present: AsyncIterable<DeviceListItem>): Promise<Comparison> {
  const planned = new Set(plan.devices.map(({ deviceId }) => deviceId));
  const found = new Map<string, DeviceListItem>();
  for await (const device of present) if (planned.has(device.deviceId)) found.set(device.deviceId, device);
  const unchanged: PlannedDevice[] = [];
  const changed: ChangedDevice[] = [];
  const done: PlannedDevice[] = [];
  for (const device of plan.devices) {
    const now = found.get(device.deviceId);
    const fields = now ? plannedFields.filter(field => now[field] !== device[field]) : [];
    if (now && fields.length === 0) unchanged.push(device);
    else if (now?.status === goalOf[plan.action]) done.push(device);
    else changed.push({ device, fields, ...(now && { now }) });
  }
  return { unchanged, changed, done };
}
