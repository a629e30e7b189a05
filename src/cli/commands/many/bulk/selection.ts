/** Devices that a command is about to change, and the question before it does. */
import type { DeviceListItem } from '../../../../contract/devices.ts';
import type { BatchOperation, DeviceStatus } from '../../../../contract/values.ts';
import { count } from '../../../count.ts';
import { usage } from '../../../fault.ts';
import type { Context } from '../../../framework/context.ts';
import { exportedDevices } from '../../../framework/devices/export-stream.ts';
import { filterFlags, filterOf } from '../../../framework/devices/filter.ts';
import { camel, type FlagShape, type FlagValues } from '../../../framework/flags.ts';
import { Flag } from '../../../framework/options.ts';
import { askText, demandYes } from '../../../terminal/prompt.ts';
import { safe } from '../../../terminal/text.ts';
import { devices, fittingStates, operations } from './operations.ts';
import { foundItems, type Item, itemsNamed } from './source.ts';

/** The filter for `NAME=VALUE` texts; names and values are those of the flags of `list`. */
export function filterOfPairs(pairs: readonly string[]): ReturnType<typeof filterOf> {
  const values: Record<string, unknown> = { type: [], status: [], proof: [], tag: [] };
  for (const pair of pairs) {
    const [name = '', ...rest] = pair.split('=');
    const value = rest.join('=').trim();
    const shape: FlagShape | undefined = Object.hasOwn(filterFlags, name)
      ? filterFlags[name as keyof typeof filterFlags]
      : undefined;
    if (shape === undefined || value === '')
      throw usage(
        shape === undefined ? `--filter has no filter "${name}"` : `--filter ${name} has no value`,
        `give NAME=VALUE with one of these names: ${Object.keys(filterFlags).join(', ')}`,
      );
    if (!shape.many && values[camel(name)] !== undefined) throw usage(`--filter ${name} is given twice`);
    values[camel(name)] = parsed(name, shape, value, values[camel(name)]);
  }
  return filterOf(values as FlagValues<typeof filterFlags>, name => `--filter ${name}`);
}

function parsed(name: string, shape: FlagShape, value: string, earlier: unknown): unknown {
  const parse = new Flag(name, shape).parseArg!;
  try {
    return parse(value, earlier as string);
  } catch (error) {
    throw usage(`--filter ${name}=${value} is not valid`, error instanceof Error ? error.message : null);
  }
}

/** The devices that match and are still to be changed, and how many of them are in each state. */
interface Selection {
  readonly items: readonly Item[];
  readonly states: ReadonlyMap<string, number>;
  /** Matches that an earlier run has changed. */
  readonly skipped: number;
}

/** One request, whatever the number of devices. Activation takes the codes that it returns. */
export async function selectedDevices(
  context: Context,
  pairs: readonly string[],
  operation: BatchOperation,
  isDone: (item: Item) => boolean,
): Promise<Selection> {
  const items: Item[] = [];
  let skipped = 0;
  const states = new Map<string, number>();
  for await (const device of exportedDevices(context, filterOfPairs(pairs))) {
    const item = itemOf(device, operation);
    if (isDone(item)) {
      skipped++;
      continue;
    }
    states.set(device.status, (states.get(device.status) ?? 0) + 1);
    items.push(item);
  }
  return { items, states, skipped };
}

const itemOf = (device: DeviceListItem, operation: BatchOperation): Item => ({
  target: { deviceId: device.deviceId },
  fields: operation === 'ACTIVATE' ? codeOf(device) : {},
  problem: null,
});

const codeOf = ({ activationCode }: Pick<DeviceListItem, 'activationCode'>): Item['fields'] =>
  activationCode === null ? {} : { activationCode };

/** The devices that the command line names. Activation looks their codes up. */
export async function namedDevices(
  context: Context,
  names: readonly string[],
  operation: BatchOperation,
): Promise<readonly Item[]> {
  const items = await itemsNamed(context, names);
  if (operation !== 'ACTIVATE') return items;
  const found = await foundItems(context, items);
  return found.map(({ item, device, problem }) => ({
    ...item,
    fields: device === null ? {} : codeOf(device),
    problem,
  }));
}

/** "12 devices match: 10 LOCKED, 2 ACTIVE.", which of them will be refused, and how many an earlier run has changed. */
export function previewOf({ items, states, skipped }: Selection, operation: BatchOperation): string {
  if (items.length === 0) return skipped === 0 ? 'No device matches.' : 'Nothing to do: every device is done.';
  const counts = [...states].map(([state, amount]) => `${count(amount)} ${safe(state)}`).join(', ');
  const refused = [...states].reduce(
    (sum, [state, count]) => sum + (fittingStates[operation].includes(state as DeviceStatus) ? 0 : count),
    0,
  );
  const note = refused ? ` ${devices(refused)} will be refused because of the state.` : '';
  const earlier = skipped ? ` ${devices(skipped)} changed by an earlier run will be skipped.` : '';
  return `${devices(items.length)} ${items.length === 1 ? 'matches' : 'match'}: ${counts}.${note}${earlier}`;
}

/** Asks once. Throws a usage fault if the answer is not a confirmation. */
export async function confirmChange({ out }: Context, operation: BatchOperation, count: number): Promise<void> {
  const { verb } = operations[operation];
  if (operation === 'DEACTIVATE') {
    out.notice(`${devices(count)} will be retired. This cannot be undone.`);
    const typed = await askText(out, `Type ${count} to continue`);
    if (typed !== String(count)) throw usage('that is not the number of devices: nothing was changed');
  } else await demandYes(out, `${verb} ${devices(count)}?`);
}
