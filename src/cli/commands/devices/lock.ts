import { counted } from '../../count.ts';
import { noteFlag, reasonOf } from '../../framework/ask.ts';
import { type Context, notify } from '../../framework/context.ts';
import { command, definedFields } from '../../framework/define.ts';
import { deviceSearch } from '../../framework/devices/find-device.ts';
import { pluggedFlag } from '../../framework/flags.ts';
import { leftWords, personsOf, personWords } from '../../framework/persons.ts';
import { present, stateTitle } from '../../framework/present.ts';
import { safe } from '../../terminal/text.ts';
import { localTime } from '../../terminal/when.ts';
import { bulkDescription, bulkFlags, devicesArg } from '../many/bulk/flags.ts';
import { changeTargets } from '../many/bulk/targets.ts';
import { noteRemovals, warnOfLostCredentials } from './credentials.ts';

/** Locks devices: `POST /api/devices/{deviceId}/lock`. */
export const lock = command({
  description: bulkDescription,
  args: [devicesArg('LOCK')],
  flags: {
    reason: { value: 'TEXT', help: 'reason, for the journal; shown with the device' },
    ...noteFlag,
    ...bulkFlags,
    ...pluggedFlag,
  },
  examples: {
    'a lost key': 'lock UK-2026-000001 --reason "reported lost"',
    'all keys of a user': 'lock --filter user=alice --filter status=ACTIVE --reason "left the company"',
  },
  async run({ args, flags }, context) {
    const fields = async () => definedFields({ reason: await reasonOf(context, flags.reason), note: flags.note });
    return changeTargets(context, { operation: 'LOCK', names: args, flags, fields }, async deviceId => {
      const data = await context.registry.call('lockDevice', { params: { deviceId }, body: await fields() });
      await present(context, {
        data,
        id: data.deviceId,
        title: stateTitle(context, data),
        rows: [
          ['reason', safe(data.lockReason)],
          ['locked', localTime(data.lockedAt)],
        ],
        next: `devmgr unlock ${safe(data.deviceId)} if it is found`,
      });
      return noteRemovals(context, data.deviceId);
    });
  },
});

/** Unlocks devices: `POST /api/devices/{deviceId}/unlock`. */
export const unlock = command({
  description: bulkDescription,
  args: [devicesArg('UNLOCK')],
  flags: { ...noteFlag, ...bulkFlags, ...pluggedFlag },
  examples: {
    'a key that was found': 'unlock DEV-1 --note "was in the drawer"',
    'the devices in a file, in a script': 'unlock --file found.txt --yes --out unlocked.csv',
  },
  async run({ args, flags }, context) {
    const body = definedFields({ note: flags.note });
    const changed = (unlocked: readonly string[]) => remarkLeavers(context, unlocked);
    const change = { operation: 'UNLOCK', names: args, flags, fields: async () => body, changed } as const;
    return changeTargets(context, change, async deviceId => {
      const data = await context.registry.call('unlockDevice', { params: { deviceId }, body });
      await present(context, {
        data,
        id: data.deviceId,
        title: stateTitle(context, data),
        rows: [['unlocked', localTime(data.unlockedAt)]],
      });
      await changed([data.deviceId]);
      return warnOfLostCredentials(context, data.deviceId);
    });
  },
});

/** Leavers that are named one by one. */
const mostNamed = 5;

/** Names the devices that were unlocked although their persons have left. */
async function remarkLeavers(context: Context, deviceIds: readonly string[]): Promise<void> {
  const targets = deviceIds.map(deviceId => ({ deviceId }));
  const find = await deviceSearch(context, targets);
  const devices = (await Promise.all(targets.map(find))).filter(device => device !== null);
  const persons = await personsOf(
    context.registry,
    devices.map(({ userId }) => userId),
  );
  const lines = devices.flatMap(({ deviceId, userId }) => {
    const person = persons.get(userId ?? '');
    const left = person && leftWords(person);
    return left ? [`${deviceId} belongs to ${personWords(person)}, who ${left}`] : [];
  });
  for (const line of lines.slice(0, mostNamed)) notify(context, safe(`${line}.`));
  if (lines.length > mostNamed)
    notify(context, `${counted(lines.length - mostNamed, 'more device')} belong to persons who have left.`);
}
