import {
  type ChangedDevice,
  type Comparison,
  comparePlan,
  criteriaToCompare,
  operationOf,
} from '../../../../fleet/cleanup.ts';
import { count } from '../../../count.ts';
import { usage } from '../../../fault.ts';
import { readPassword } from '../../../framework/ask.ts';
import { type Context, notify } from '../../../framework/context.ts';
import { command } from '../../../framework/define.ts';
import { exportedDevices } from '../../../framework/devices/export-stream.ts';
import { fileFlag, passwordFlags, yesFlag } from '../../../framework/flags.ts';
import { meetServer } from '../../../session/server-identity.ts';
import { safe } from '../../../terminal/text.ts';
import { localTime } from '../../../terminal/when.ts';
import { changeMany } from '../bulk/change.ts';
import { bulkFlags } from '../bulk/flags.ts';
import { devices as counted, operations } from '../bulk/operations.ts';
import { confirmChange } from '../bulk/selection.ts';
import { type Plan, readPlan } from './plan-file.ts';

/** Carries out a plan. Devices that have changed since it was made are named and stay as they are. */
export const cleanupApply = command({
  description:
    "Locks or retires the devices of a plan. A device that was used, bound, locked or changed in another way since the plan was made is listed and skipped. With --limit, only the first N of the others are changed; run the same command again to continue. To retire devices, you confirm with an administrator's password.",
  args: [{ name: 'PLAN', help: 'the file that cleanup plan has written', offer: 'file' }],
  flags: {
    limit: { value: 'N', short: 'n', aliases: ['max'], whole: { min: 1 }, help: 'change at most N devices' },
    'dry-run': { help: 'show what would be done, and change nothing' },
    ...yesFlag,
    out: fileFlag('write the results to this file'),
    resume: bulkFlags.resume,
    ...passwordFlags,
  },
  examples: {
    'ask, then carry it out': 'cleanup apply unused.plan',
    'in a script, at most 50 devices in each run': 'cleanup apply unused.plan --limit 50 --yes',
  },
  async run({ args, flags }, context) {
    const { limit = Number.POSITIVE_INFINITY, dryRun, yes, out, resume } = flags;
    const plan = await readPlan(args[0]!);
    if (!yes && !dryRun && !context.canAsk) throw usage('a plan must be confirmed', 'add --yes');
    await demandRegistry(context, plan);
    const found = await compare(context, plan);
    await nameChanged(context, plan, found.changed);
    const total = Math.min(found.unchanged.length, limit);
    await summarize(context, plan, { found, total, dryRun, yes });
    if (dryRun || total === 0) return 0;
    const operation = operationOf[plan.action];
    if (!yes) await confirmChange(context, operation, total);
    const password = plan.action === 'deactivate' ? await readPassword(context, flags, question) : null;
    const still = yes ? found : await compareAgain(context, plan, found);
    const names = still.unchanged.slice(0, total).map(({ deviceId }) => deviceId);
    if (names.length === 0) {
      notify(context, 'Nothing was changed: every device of the plan has changed.');
      return 0;
    }
    return changeMany(context, {
      operation,
      names,
      flags: {
        ...{
          file: undefined,
          encoding: undefined,
          map: [],
          where: [],
          columns: undefined,
          saveMap: undefined,
          filter: [],
          yes: true,
          out,
          resume,
          plugged: false,
        },
        ...{ dryRun: false, max: total },
      },
      fields: async () => ({ reason: plan.reason }),
      ...(password !== null && { password: async () => password }),
    });
  },
});

const question = "An administrator's password";

/** A person has taken time to read the question: what has changed since then stays as it is, too. */
async function compareAgain(context: Context, plan: Plan, before: Comparison): Promise<Comparison> {
  const named = new Set(before.changed.map(({ device }) => device.deviceId));
  const still = await compare(context, plan);
  await nameChanged(
    context,
    plan,
    still.changed.filter(({ device }) => !named.has(device.deviceId)),
  );
  return still;
}

/** A result for each device that stays as it is. */
async function nameChanged({ out, globals }: Context, plan: Plan, changed: readonly ChangedDevice[]): Promise<void> {
  const operation = operationOf[plan.action];
  const rows = changed.map(change => ({
    operation,
    deviceId: change.device.deviceId,
    serialNumber: change.device.serialNumber,
    status: 'skipped',
    message: reasonFor(change),
  }));
  if (globals.json) return out.rows(rows);
  for (const { deviceId, serialNumber, message } of rows)
    out.notice(`${out.tint('yellow', '-')} ${safe(deviceId)}  ${safe(serialNumber)}  skipped: ${safe(message)}`);
}

interface Summary {
  readonly found: Comparison;
  /** Devices to change in this run. */
  readonly total: number;
  readonly dryRun: boolean;
  readonly yes: boolean;
}

/** Reports what will be done: as the result of a dry run, before the question, or as a notice. */
async function summarize(context: Context, plan: Plan, { found, total, dryRun, yes }: Summary): Promise<void> {
  const { unchanged, changed, done } = found;
  const { out, globals } = context;
  const rest = unchanged.length - total;
  const { done: changedTo } = operations[operationOf[plan.action]];
  const parts = [
    `${counted(total)} will be ${changedTo}: ${plan.reason}.`,
    rest > 0 ? `${count(rest)} more stay for the next run.` : '',
    changed.length > 0 ? `${counted(changed.length)} changed since the plan was made: skipped.` : '',
    done.length > 0 ? `${counted(done.length)} ${done.length === 1 ? 'is' : 'are'} ${changedTo} already.` : '',
  ];
  const text = safe(parts.filter(part => part !== '').join(' '));
  if (dryRun && globals.json)
    await out.row({ action: plan.action, total, rest, skipped: changed.length, done: done.length });
  else if (dryRun) await out.text(`${text}\n`);
  else if (yes) notify(context, text);
  else await out.preview(text);
}

/** Throws a usage fault if the plan is for devices of another registry. */
async function demandRegistry({ registry }: Context, plan: Plan): Promise<void> {
  const known = await meetServer(registry);
  if ((known?.instanceId ?? null) === plan.registry) return;
  throw usage(
    `the plan is for another registry: instance ${plan.registry ?? 'without an identity'}, and ${await registry.address()} is ${known?.instanceId ?? 'without one'}`,
    'name the registry of the plan with --server or --profile',
  );
}

/** Compares the plan with the registry by one export, whatever the number of devices. */
const compare = (context: Context, plan: Plan): Promise<Comparison> =>
  comparePlan(plan, exportedDevices(context, criteriaToCompare(plan)));

/** Why a device stays as it is. */
function reasonFor({ device, now, fields }: ChangedDevice): string {
  if (now === undefined) return 'it no longer matches the filters of the plan';
  if (fields.includes('status')) return `it was ${device.status} and is ${now.status}`;
  if (fields.includes('userId')) return `it is bound to ${now.userId ?? 'no user'}`;
  if (fields.includes('lastUsedAt') && now.lastUsedAt !== null) return `it was used: ${localTime(now.lastUsedAt)}`;
  return `its ${fields.join(' and ')} changed`;
}
