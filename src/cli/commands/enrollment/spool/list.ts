import { namesIn } from '../../../../contract/names.ts';
import { count, counted } from '../../../count.ts';
import type { Context } from '../../../framework/context.ts';
import { command } from '../../../framework/define.ts';
import { listFlags } from '../../../framework/format.ts';
import { presentRows } from '../../../framework/present-list.ts';
import type { Column } from '../../../terminal/column.ts';
import { safe, shellWord } from '../../../terminal/text.ts';
import { localTime } from '../../../terminal/when.ts';
import type { SpoolHeader } from './lines.ts';
import type { SpoolIndex, SpoolItem } from './read.ts';
import { readSpool } from './spool-file.ts';

/** A key that is not delivered. `sent`: its registration was sent, and the response is missing. */
interface Row {
  readonly state: 'waiting' | 'sent' | 'conflict' | 'failed';
  readonly serialNumber: string;
  readonly deviceType: string;
  readonly manufacturer: string;
  readonly model: string;
  readonly userId: string | null;
  readonly spooledAt: string;
  readonly deviceId: string | null;
  readonly message: string | null;
}

const fields = namesIn(
  'state serialNumber deviceType manufacturer model userId spooledAt deviceId message',
) satisfies readonly (keyof Row)[];

const isRefused = ({ state }: Row): boolean => state === 'conflict' || state === 'failed';

const columns: Column<Row>[] = [
  { title: 'STATE', value: row => row.state, style: row => (isRefused(row) ? 'red' : 'yellow') },
  { title: 'TYPE', value: row => row.deviceType },
  { title: 'SERIAL', value: row => row.serialNumber, shorten: 'middle', least: 16 },
  { title: 'USER', value: row => row.userId, shorten: 'end' },
  { title: 'SPOOLED', value: row => localTime(row.spooledAt), drop: 2 },
  { title: 'KEY', value: row => `${row.manufacturer} ${row.model}`, shorten: 'end', drop: 1 },
  { title: 'REASON', value: row => row.message, shorten: 'end', drop: 3 },
];

interface Listing {
  readonly header: SpoolHeader;
  readonly rows: readonly Row[];
  readonly waiting: number;
  readonly delivered: number;
  readonly isTorn: boolean;
}

/** Shows the keys of a spool file that are not delivered. Needs no server. */
export const spoolList = command({
  description:
    'Shows the keys that are waiting, and those that were conflicts or failed. Changes nothing and needs no server. The state sent means that the registration was sent, but no response was received; enroll spool flush finds out whether the key was registered.',
  args: [{ name: 'FILE', help: 'the file that enroll --spool has written', offer: 'file' }],
  flags: listFlags(fields),
  examples: {
    'the waiting keys': 'enroll spool list keys.spool',
    'the conflicts': `enroll spool list keys.spool --jq '.list[] | select(.state == "conflict")'`,
  },
  async run({ args }, context) {
    const { out } = context;
    const file = args[0]!;
    const { header, rows, waiting, delivered, isTorn } = listed(readSpool(file));
    if (isTorn) out.trace(`the last line of ${file} is incomplete: it does not count`);
    if (out.json) return out.document({ file, ...header, waiting, delivered, list: rows });
    if (rows.length > 0 || out.quiet || out.format !== 'table')
      await presentRows(context, rows, { fields, columns, id: 'serialNumber' });
    if (!out.quiet && out.format === 'table') summarize(context, file, { header, rows, waiting, delivered, isTorn });
  },
});

function listed({ header, items, isTorn }: SpoolIndex): Listing {
  const all = [...items.values()];
  const rows = all.flatMap(rowOf);
  const waiting = all.filter(item => item.delivered === null).length;
  return { header, rows, waiting, delivered: all.length - rows.length, isTorn };
}

/** Empty for a key that was delivered. */
function rowOf({ entry, sentAt, delivered }: SpoolItem): Row[] {
  if (delivered?.result === 'registered' || delivered?.result === 'known') return [];
  const { registration, at, userId } = entry;
  const { serialNumber, deviceType, manufacturer, model } = registration;
  const state = delivered?.result ?? (sentAt === null ? 'waiting' : 'sent');
  const { deviceId = null, message = null } = delivered ?? {};
  return [{ state, serialNumber, deviceType, manufacturer, model, userId, spooledAt: at, deviceId, message }];
}

function summarize({ out }: Context, file: string, { header, rows, waiting, delivered }: Listing): void {
  const refused = rows.length - waiting;
  const parts = [
    `${counted(waiting, 'key')} ${waiting === 1 ? 'waits' : 'wait'}`,
    `${count(delivered)} delivered`,
    ...(refused === 0 ? [] : [`${count(refused)} refused`]),
  ];
  out.notice(`${parts.join(', ')}; for the registry at ${safe(header.servers.join(','))}.`);
  if (waiting > 0) out.notice(`${out.tint('cyan', 'Next:')} devmgr enroll spool flush ${shellWord(safe(file))}`);
}
