/** Which devices of a plan are as they were when it was made. */
import { type ChangedDevice, type Comparison, comparePlan, criteriaToCompare } from '../../../../fleet/cleanup.ts';
import { usage } from '../../../fault.ts';
import type { Context } from '../../../framework/context.ts';
import { exportedDevices } from '../../../framework/devices/export-stream.ts';
import { meetServer } from '../../../session/server-identity.ts';
import { localTime } from '../../../terminal/when.ts';
import type { Plan } from './plan-file.ts';

/** Throws a usage fault if the plan is for devices of another registry. */
export async function demandRegistry({ registry }: Context, plan: Plan): Promise<void> {
  const known = await meetServer(registry);
  if ((known?.instanceId ?? null) === plan.registry) return;
  throw usage(
    `the plan is for another registry: instance ${plan.registry ?? 'without an identity'}, and ${await registry.address()} is ${known?.instanceId ?? 'without one'}`,
    'name the registry of the plan with --server or --profile',
  );
}

/** Compares the plan with the registry by one export, whatever the number of devices. */
export const compare = (context: Context, plan: Plan): Promise<Comparison> =>
  comparePlan(plan, exportedDevices(context, criteriaToCompare(plan)));

/** Why a device stays as it is. */
export function reasonFor({ device, now, fields }: ChangedDevice): string {
  if (now === undefined) return 'the filters of the plan do not match it any more';
  if (fields.includes('status')) return `it was ${device.status} and is ${now.status}`;
  if (fields.includes('userId')) return `it is bound to ${now.userId ?? 'no user'}`;
  if (fields.includes('lastUsedAt') && now.lastUsedAt !== null) return `it was used: ${localTime(now.lastUsedAt)}`;
  return `its ${fields.join(' and ')} changed`;
}
