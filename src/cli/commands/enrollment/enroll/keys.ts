import { describedNames } from '../../../../contract/device-description.ts';
import type { Key } from '../../../../contract/hardware.ts';
import { exitCodes } from '../../../exit-codes.ts';
import type { Fault } from '../../../fault.ts';
import type { Context } from '../../../framework/context.ts';
import { command } from '../../../framework/define.ts';
import { nameOf } from '../../../framework/devices/device.ts';
import { attachedKeyList, Registrations } from '../../../framework/devices/registration.ts';
import { listFlags } from '../../../framework/format.ts';
import { presentRows } from '../../../framework/present-list.ts';
import type { Column } from '../../../terminal/column.ts';
import { statusStyle } from '../../../terminal/style.ts';
import { safe } from '../../../terminal/text.ts';
import { localTime } from '../../../terminal/when.ts';
import { proofColumn } from '../../devices/proof.ts';
import { keyEvents, reportDrivers } from './key-events.ts';

const keyFields = [
  'keyId',
  'deviceType',
  'serialNumber',
  'serialSource',
  ...describedNames,
  'transport',
  'reader',
  'vendorId',
  'productId',
  'attachedAt',
  'simulated',
  'problem',
  'deviceId',
  'status',
  'proof',
];

/** Lists the attached keys with their devices: `GET /api/hardware/keys`. With --watch, their changes. */
export const keys = command({
  description: 'If the serial number of a key cannot be read, the reason and what to do are shown.',
  flags: {
    watch: { short: 'w', help: 'keep showing keys as they are attached and detached', conflicts: ['csv'] },
    ...listFlags(keyFields),
  },
  examples: {
    'the attached keys': 'keys',
    'only the serial numbers': 'keys --quiet',
    'changes, as JSON lines': 'keys --watch --json',
  },
  async run({ flags }, context) {
    const { out, globals } = context;
    if (flags.watch) return watched(context);
    const data = await attachedKeyList(context);
    if (globals.quiet)
      return out.text(data.list.map(key => (key.serialNumber ? `${safe(key.serialNumber)}\n` : '')).join(''));
    const registrations = new Registrations(context);
    const list = await Promise.all(data.list.map(key => registrations.of(key)));
    const { failure } = registrations;
    const isFlat = out.fields.length > 0 || flags.csv;
    const rows = list.map(flat);
    if (globals.json) return out.document({ ...data, list: isFlat ? rows : list, ...registryErrorOf(failure) });
    if (isFlat) await presentRows(context, rows, { fields: keyFields, columns: [], id: 'keyId' });
    else if (list.length) await out.table(columnsFor(list, failure ? 'unknown' : 'not registered'), list);
    else out.notice('No key is attached.');
    if (failure) warnOfRegistry(context, failure);
    if (flags.csv) return;
    for (const key of list) if (key.problem) out.warn(`${nameOf(key)}: ${safe(key.problem)}`);
    await reportDrivers(context, data.drivers);
  },
});

/** A key with the fields of its device beside its own. */
const flat = (key: Key) => ({
  ...key,
  ...(key.device ?? { deviceId: null, status: null }),
  proof: key.proof?.grade ?? null,
});

/** Added to the JSON if the registry could not be asked: then `device` is null for keys that may be registered. */
const registryErrorOf = (failure: Fault | null) =>
  failure ? { registryError: { message: failure.message, hint: failure.hint } } : {};

function warnOfRegistry({ out }: Context, { message, hint }: Fault): void {
  const next = hint ? ` (${safe(hint)})` : '';
  out.warn(`it is unknown whether the keys are registered: ${safe(message)}${next}`);
}

/** `none` is shown for a key without a device. The column for proofs appears if a key has one. */
function columnsFor(keys: readonly Key[], none: string): Column<Key>[] {
  const columns = keyColumns(none);
  const at = columns.findIndex(({ title }) => title === 'KEY');
  return keys.some(({ proof }) => proof) ? columns.toSpliced(at, 0, proofColumn<Key>(2)) : columns;
}

const keyColumns = (none: string): Column<Key>[] => [
  { title: 'TYPE', value: key => (key.simulated ? `${key.deviceType} (simulated)` : key.deviceType) },
  { title: 'SERIAL', value: key => key.serialNumber ?? '(not readable)', shorten: 'middle', least: 16 },
  {
    title: 'DEVICE',
    value: key => key.device?.deviceId ?? none,
    style: key => (key.device ? null : 'yellow'),
  },
  {
    title: 'STATUS',
    value: key => key.device?.status ?? null,
    style: key => statusStyle(key.device?.status ?? ''),
    drop: 1,
  },
  {
    title: 'KEY',
    value: key => [key.manufacturer, key.model].filter(Boolean).join(' '),
    shorten: 'end',
    drop: 3,
  },
  { title: 'FIRMWARE', value: key => key.firmwareVersion, drop: 5 },
  { title: 'BY', value: key => key.serialSource, drop: 6 },
  {
    title: 'AT',
    value: key => key.reader ?? (key.vendorId ? `${key.vendorId}:${key.productId}` : null),
    shorten: 'end',
    drop: 4,
  },
  { title: 'SINCE', value: key => localTime(key.attachedAt), drop: 7 },
];

/** Ctrl-C is how watching ends: it is not an error. */
async function watched(context: Context): Promise<number> {
  try {
    await watchKeys(context);
  } catch (error) {
    if (!context.io.interrupt.aborted) throw error;
  }
  return exitCodes.interrupted;
}

async function watchKeys(context: Context): Promise<void> {
  const { out, globals } = context;
  const { drivers } = await context.hardware.call('listKeys');
  await reportDrivers(context, drivers);
  let isWarned = false;
  for await (const { type, key: plain, again } of keyEvents(context)) {
    const registrations = new Registrations(context);
    const key = await registrations.of(plain);
    const { failure } = registrations;
    if (failure && !isWarned && !globals.json) warnOfRegistry(context, failure);
    isWarned = failure !== null;
    const timestamp = new Date().toISOString();
    if (globals.json) await out.row({ type, timestamp, data: key, ...registryErrorOf(failure) });
    else {
      const mark =
        type === 'KEY_DETACHED' ? out.paint('red', '-') : again ? out.paint('green', '~') : out.paint('green', '+');
      const device = key.device ? `  ${key.device.deviceId} ${key.device.status}` : '';
      await out.text(`${mark} ${nameOf(key)}${safe(device)}${key.problem ? `  ${safe(key.problem)}` : ''}\n`);
    }
  }
}
