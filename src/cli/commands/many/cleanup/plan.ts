import type { DeviceStatus } from '../../../../contract/values.ts';
import {
  isSelective,
  maxPlanned,
  operationOf,
  type PlannedDevice,
  planActions,
  planDevices,
} from '../../../../fleet/cleanup.ts';
import { count } from '../../../count.ts';
import { usage } from '../../../fault.ts';
import { reasonOf } from '../../../framework/ask.ts';
import { command } from '../../../framework/define.ts';
import { exportedDevices } from '../../../framework/devices/export-stream.ts';
import { filterFlags, filterOf, timeOrAge } from '../../../framework/devices/filter.ts';
import { type FlagValues, fileFlag } from '../../../framework/flags.ts';
import { present } from '../../../framework/present.ts';
import { meetServer } from '../../../session/server-identity.ts';
import { safe, shellWord } from '../../../terminal/text.ts';
import { devices as counted, fittingStates, operations } from '../bulk/operations.ts';
import { checkPlanFile, type Plan, writePlan } from './plan-file.ts';

const { 'last-used-before': _, ...selecting } = filterFlags;
const flags = {
  action: { value: 'ACTION', choices: planActions, help: 'what to do with the devices' },
  'unused-since': {
    value: 'AGE',
    help: 'only devices not used since this time or for this long: 90d, 12w, 36h; a device that was never used matches if it was not activated since then',
  },
  ...selecting,
  reason: { value: 'TEXT', help: 'reason, for the journal; asked for at a terminal' },
  out: fileFlag('the plan file; an existing file is not overwritten'),
} as const;

/** Writes a plan: what would be done with which devices. Changes nothing in the registry. */
export const cleanupPlan = command({
  description: `Selects devices to lock or to retire, and writes them to a plan file. It changes nothing in the registry. Read the plan, delete the lines of devices that must not change, and carry it out with cleanup apply. Without --status, it selects devices in every state that the action accepts. A plan has at most ${count(maxPlanned)} devices.`,
  flags,
  examples: {
    'keys without a use for 90 days':
      'cleanup plan --action lock --unused-since 90d --status ACTIVE --reason "not in use" --out unused.plan',
    'keys of a lot that were never activated':
      'cleanup plan --action deactivate --status INACTIVE --tag lot=7 --reason "recalled" --out lot-7.plan',
  },
  async run({ flags: { action, out: file, reason, ...selection } }, context) {
    if (action === undefined) throw usage('--action is missing', `give one of ${planActions.join(', ')}`);
    if (file === undefined) throw usage('--out is missing', 'name the plan file: --out FILE');
    checkPlanFile(file);
    const fits = fittingStates[operationOf[action]];
    checkStates(action, fits, selection.status);
    const criteria = { status: [...fits], ...criteriaOf(selection) };
    const given = await reasonOf(context, reason);
    const createdAt = new Date().toISOString();
    const known = await meetServer(context.registry);
    const devices = await planDevices(exportedDevices(context, criteria), () => {
      throw usage(`more than ${count(maxPlanned)} devices match`, 'select fewer devices with more filters');
    });
    const texts: Plan['criteria'] = JSON.parse(JSON.stringify(criteria));
    const header = { registry: known?.instanceId ?? null, createdAt, action, reason: given, criteria: texts };
    writePlan(file, { ...header, devices });
    const what = `${operations[operationOf[action]].verb} ${counted(devices.length)}`;
    return present(context, {
      data: { file, ...header, total: devices.length, devices },
      id: file,
      title: `${safe(file)}: ${what}`,
      rows: [
        ['states', statesOf(devices) || null],
        ['reason', safe(given)],
      ],
      ...(devices.length > 0 && { next: `devmgr cleanup apply ${shellWord(safe(file))}` }),
    });
  },
});

/** Devices in another state would be in the plan, and each of them would fail. */
function checkStates(action: string, fits: readonly DeviceStatus[], given: readonly string[]): void {
  const unfit = given.find(status => !fits.some(fit => fit === status));
  if (unfit !== undefined)
    throw usage(
      `--action ${action} does not change a device that is ${unfit}`,
      `give --status ${fits.join(',')}, or none`,
    );
}

type Selection = Omit<FlagValues<typeof flags>, 'action' | 'out' | 'reason'>;

function criteriaOf({ unusedSince, ...filters }: Selection): ReturnType<typeof filterOf> {
  const time = unusedSince === undefined ? undefined : timeOrAge('--unused-since', unusedSince);
  const criteria = { ...filterOf({ ...filters, lastUsedBefore: undefined }), ...(time && { lastUsedBefore: time }) };
  if (!isSelective(criteria))
    throw usage('a plan needs a filter besides --status', 'give --unused-since 90d, or another filter');
  return criteria;
}

function statesOf(devices: readonly PlannedDevice[]): string {
  const states = Map.groupBy(devices, ({ status }) => status);
  return [...states].map(([state, { length }]) => `${count(length)} ${safe(state)}`).join(', ');
}
