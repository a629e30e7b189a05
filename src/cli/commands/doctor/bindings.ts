/** Devices that are bound to the id of an account: a filter for its name, by which other devices of the person are found, misses them. */
import { Code } from '../../../contract/codes.ts';
import { userIds } from '../../../contract/ids.ts';
import { isServerRefusal } from '../../client/failures.ts';
import { itemsOf } from '../../client/pages.ts';
import { counted } from '../../count.ts';
import { exitCodes } from '../../exit-codes.ts';
import { usage } from '../../fault.ts';
import { type Context, commandLine } from '../../framework/context.ts';
import { exportedDevices } from '../../framework/devices/export-stream.ts';
import { demandYes } from '../../terminal/prompt.ts';
import { safe } from '../../terminal/text.ts';
import { type Check, check } from './checks.ts';

interface IdBinding {
  readonly deviceId: string;
  readonly userId: string;
  /** Of the account. */
  readonly username: string;
}

/** All of them; none if the caller may not list users. */
async function boundToIds(context: Context): Promise<readonly IdBinding[]> {
  const bound: Pick<IdBinding, 'deviceId' | 'userId'>[] = [];
  for await (const { deviceId, userId } of exportedDevices(context, {}, null))
    if (userId !== null && userIds.parse(userId) !== null) bound.push({ deviceId, userId });
  if (bound.length === 0) return [];
  const names = new Map<string, string>();
  try {
    for await (const { id, username } of itemsOf(context.registry, 'listUsers')) names.set(id, username);
  } catch (error) {
    if (!isServerRefusal(error, Code.noPermission)) throw error;
  }
  return bound.flatMap(one => {
    const username = names.get(one.userId);
    return username === undefined ? [] : [{ ...one, username }];
  });
}

/** Devices that a finding names. */
const mostNamed = 5;

/** The finding; none if there are no such devices, or they cannot be read now. */
export async function bindingChecks(context: Context): Promise<readonly Check[]> {
  const registry = context.registry.with({ wait: false });
  const found = await boundToIds({ ...context, registry }).catch(() => []);
  if (found.length === 0) return [];
  const named = found
    .slice(0, mostNamed)
    .map(({ deviceId, userId, username }) => `${deviceId} (${userId}, ${username})`);
  const more = found.length > mostNamed ? ', …' : '';
  const [are, them] = found.length === 1 ? ['is', 'it'] : ['are', 'them'];
  const detail = `${counted(found.length, 'device')} ${are} bound to the id of an account, so a filter for its name misses ${them}: ${named.join(', ')}${more}`;
  return [check('bindings', 'warning', detail, `bind to the names: ${commandLine(context, 'doctor --bind-names')}`)];
}

/** Binds the devices to the names, after a confirmation. The exit code: 7 if some were refused, such as a locked one. */
export async function bindNames(context: Context, yes: boolean): Promise<number> {
  const { out, registry, globals } = context;
  const found = await boundToIds(context);
  if (found.length > 0 && !yes) {
    if (!context.canAsk) throw usage('a change of devices must be confirmed', 'add --yes');
    await demandYes(out, `Bind ${counted(found.length, 'device')} to the names of the accounts?`);
  }
  let refused = 0;
  for (const { deviceId, userId, username } of found) {
    let problem: string | null = null;
    try {
      await registry.call('updateDevice', { params: { deviceId }, body: { userId: username } });
    } catch (error) {
      if (!isServerRefusal(error, Code.deviceLocked, Code.deviceDeactivated, Code.parameterError)) throw error;
      problem = error.message;
      refused++;
    }
    if (globals.json) await out.row({ deviceId, before: userId, userId: username, problem });
    else await out.text(`${problem === null ? '✓' : '✗'} ${safe(deviceId)}  ${safe(problem ?? username)}\n`);
  }
  if (!globals.json) out.notice(`${counted(found.length - refused, 'device')} bound to the name of an account.`);
  return refused > 0 ? exitCodes.partial : exitCodes.done;
}
