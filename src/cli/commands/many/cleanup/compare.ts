/** Which devices of a plan are as they were when it was made. */
import type { DeviceListItem } from '../../../../contract/devices.ts';
import { usage } from '../../../fault.ts';
import type { Context } from '../../../framework/context.ts';
import { exportedDevices } from '../../../framework/devices/export-stream.ts';
import { meetServer } from '../../../session/server-identity.ts';
import { localTime } from '../../../terminal/when.ts';
import { operationOf, type Plan, type PlannedDevice, plannedFields } from './plan-file.ts';

/** A device that stays as it is, and why. */
export interface ChangedDevice {
  readonly device: PlannedDevice;
  readonly why: string;
}

/** The devices of a plan, each in one of the lists, in the order of the plan. */
export interface Comparison {
  readonly unchanged: readonly PlannedDevice[];
  readonly changed: readonly ChangedDevice[];
  /** Those that already are in the state that the plan is for. */
  readonly done: readonly PlannedDevice[];
}

/** Throws a usage fault if the plan is for devices of another registry. */
export async function demandRegistry({ registry }: Context, plan: Plan): Promise<void> {
  const known = await meetServer(registry);
  if ((known?.instanceId ?? null) === plan.registry) return;
  throw usage(
    `the plan is for another registry: instance ${plan.registry ?? 'without an identity'}, and ${await registry.address()} is ${known?.instanceId ?? 'without one'}`,
    'name the registry of the plan with --server or --profile',
  );
}

const goals = { LOCK: 'LOCKED', DEACTIVATE: 'DEACTIVATED' } as const;

/** Compares the plan with the registry by one export, whatever the number of devices. */
export async function compare(context: Context, plan: Plan): Promise<Comparison> {
  // Without the filter for states, so that a device in another state is found, and its state can be named.
  const { status: _, ...criteria } = plan.criteria;
  const planned = new Set(plan.devices.map(({ deviceId }) => deviceId));
  const found = new Map<string, DeviceListItem>();
  for await (const device of exportedDevices(context, criteria))
    if (planned.has(device.deviceId)) found.set(device.deviceId, device);
  const unchanged: PlannedDevice[] = [];
  const changed: ChangedDevice[] = [];
  const done: PlannedDevice[] = [];
  const goal = goals[operationOf[plan.action] as keyof typeof goals];
  for (const device of plan.devices) {
    const now = found.get(device.deviceId);
    const fields = now && plannedFields.filter(field => now[field] !== device[field]);
    if (fields?.length === 0) unchanged.push(device);
    else if (now?.status === goal) done.push(device);
    else changed.push({ device, why: reasonFor(device, now, fields ?? []) });
  }
  return { unchanged, changed, done };
}

function reasonFor(
  device: PlannedDevice,
  now: DeviceListItem | undefined,
  fields: readonly (typeof plannedFields)[number][],
): string {
  if (now === undefined) return 'the filters of the plan do not match it any more';
  if (fields.includes('status')) return `it was ${device.status} and is ${now.status}`;
  if (fields.includes('userId')) return `it is bound to ${now.userId ?? 'no user'}`;
  if (fields.includes('lastUsedAt') && now.lastUsedAt !== null) return `it was used: ${localTime(now.lastUsedAt)}`;
  return `its ${fields.join(' and ')} changed`;
}
