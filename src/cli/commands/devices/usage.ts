import { longestUse } from '../../../contract/limits.ts';
import { usage } from '../../fault.ts';
import type { Context } from '../../framework/context.ts';
import { command } from '../../framework/define.ts';
import { deviceArg, resolveDevice } from '../../framework/devices/device.ts';
import { pluggedFlag } from '../../framework/flags.ts';
import { present } from '../../framework/present.ts';
import { askText } from '../../terminal/prompt.ts';
import { safe } from '../../terminal/text.ts';
import { duration, timeAndDistance } from '../../terminal/when.ts';

/** Records a use of a device: `POST /api/devices/{deviceId}/usage`. */
export const recordUsage = command({
  description:
    'Adds one use and its length to the totals of the device, and prints the new totals. Each call counts: do not repeat a call that has succeeded. The device must be ACTIVE.',
  args: [deviceArg],
  flags: {
    seconds: {
      value: 'N',
      whole: { min: 0, max: longestUse },
      field: 'durationSeconds',
      help: 'length of the use in seconds; 0 counts the use only',
    },
    duration: {
      value: 'TIME',
      conflicts: ['seconds'],
      help: 'length of the use with units: 45s, 90m, 1h30m, 2d',
    },
    ...pluggedFlag,
  },
  examples: {
    'a use of one and a half hours': 'record-use DEV-1 --duration 1h30m',
    'the new total, in a script': 'record-use UK-2026-000001 --seconds 95 --json | jq .totalUsageDuration',
  },
  async run({ args, flags }, context) {
    const { seconds = await secondsFrom(context, flags.duration) } = flags;
    const deviceId = await resolveDevice(context, args[0], flags.plugged, ['ACTIVE']);
    const data = await context.registry.call('recordUsage', {
      params: { deviceId },
      body: { durationSeconds: seconds },
    });
    const { totalUsageCount: count, totalUsageDuration: total } = data;
    await present(context, {
      data,
      id: data.deviceId,
      title: `${safe(data.deviceId)} has been used ${safe(String(count))} ${count === 1 ? 'time' : 'times'}`,
      rows: [
        ['in total', `${duration(total)} (${safe(String(total))} s)`],
        ['last used', timeAndDistance(data.lastUsedAt)],
      ],
    });
  },
});

/** Seconds of the use, asked for if no flag specifies them. */
async function secondsFrom(context: Context, given: string | undefined): Promise<number> {
  if (given === undefined && !context.canAsk)
    throw usage('--seconds or --duration is missing', 'give the length of the use: --seconds 95, or --duration 1h30m');
  const question = 'Length of the use, such as 1h30m';
  const read = parseDuration(given ?? (await askText(context.out, question, text => parseDuration(text).fault)));
  if (read.fault !== null) throw usage(`--duration: ${read.fault}`);
  return read.seconds;
}

const secondsIn: Readonly<Record<string, number>> = { d: 86_400, h: 3_600, m: 60, s: 1 };

/** A length of time with units, `1h30m`: each unit at most once, the largest first. `fault` explains what is wrong, null if nothing is. */
export function parseDuration(text: string): { readonly seconds: number; readonly fault: string | null } {
  const typed = text.trim().toLowerCase();
  const parts = [...typed.matchAll(/(\d{1,8})([dhms])/g)];
  const units = parts.map(([, , unit]) => 'dhms'.indexOf(unit!));
  const isOrdered = units.every((unit, at) => at === 0 || unit > units[at - 1]!);
  if (parts.length === 0 || !isOrdered || parts.map(([part]) => part).join('') !== typed)
    return { seconds: 0, fault: `"${text}" is not a length of time such as 45s, 90m, 1h30m or 2d` };
  const seconds = parts.reduce((sum, [, count, unit]) => sum + Number(count) * secondsIn[unit!]!, 0);
  const fault = seconds > longestUse ? `"${text}" is longer than 366 days, the longest use that can be recorded` : null;
  return { seconds, fault };
}
