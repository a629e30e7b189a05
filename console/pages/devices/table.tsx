/** The devices of one page of the list. */
import { type ReadonlySignal, useSignal } from '@preact/signals';
import type { DeviceSort } from '../../../src/contract/values.ts';
import { mayChange } from '../../api/session.ts';
import { deviceColumns, operationsOf, type SingleOperation } from '../../parts/device-columns.tsx';
import { lazyDialog } from '../../parts/lazy.tsx';
import { MoreButton } from '../../parts/menu.tsx';
import { useRowKeys } from '../../parts/row-keys.ts';
import type { Sort } from '../../parts/sort.tsx';
import { Table } from '../../parts/table.tsx';
import { devices as listWords, text } from '../../text/words.ts';
import { addressWith, type Device, sortOf } from './query.ts';
import type { DeviceSelection } from './selection.ts';
import { columnsIn, type ListColumn, usual } from './views.tsx';

const ActionForm = lazyDialog(async () => (await import('../../parts/action-form.tsx')).ActionForm);

interface DeviceTableProps {
  readonly devices: readonly Device[];
  readonly query: ReadonlySignal<URLSearchParams>;
  readonly selection: DeviceSelection;
  /** The device that is shown at the side of the list. */
  readonly peeked: string | null;
  /** Called with the place of a row. */
  readonly onPeek: (at: number) => void;
  readonly onChanged: () => void;
}

/** The order that the head of a column sets; by other columns nothing is sorted. */
const sorts: Readonly<Partial<Record<ListColumn, DeviceSort>>> = {
  device: 'deviceId',
  serial: 'serialNumber',
  type: 'deviceType',
  manufacturer: 'manufacturer',
  model: 'model',
  state: 'status',
  registered: 'createdAt',
  used: 'lastUsedAt',
};

const classes: Readonly<Record<string, string>> = {
  select: 'select',
  device: 'id',
  serial: 'code whole',
  state: 'state',
  registered: 'when',
  used: 'when',
  tags: 'tags whole',
  actions: 'row-actions',
};

/** The columns by what a person looks for first. Where the table is narrow, the last of those that are shown give way. */
const priority: readonly ListColumn[] = [
  'device',
  'serial',
  'state',
  'user',
  'model',
  'registered',
  'used',
  'proof',
  'tags',
  'type',
  'manufacturer',
];
/** The class of a column with this many before it. */
const classAfter = (more: number): string => (more < 5 ? '' : more < 6 ? 'spare' : more < 7 ? 'minor' : 'minor last');

function classesOf(shown: readonly ListColumn[]): Readonly<Record<string, string>> {
  const inOrder = priority.filter(name => shown.includes(name));
  const narrow = inOrder.map((name, i) => [name, `${classes[name] ?? ''} ${classAfter(i)}`]);
  return { ...classes, ...Object.fromEntries(narrow) };
}

/** Fields of the columns that share the room of a row: as long as their longest text, within bounds. */
const sharing = { manufacturer: 'manufacturer', model: 'model', user: 'userId' } as const;
const bounds = { least: 5, most: 20 };

/** Other columns than the usual ones have the same width. */
function sharesOf(devices: readonly Device[], shown: readonly ListColumn[]): Readonly<Record<string, number>> {
  if (shown.some(name => !usual.includes(name))) return {};
  const lengths = Object.entries(sharing)
    .filter(([name]) => shown.includes(name as ListColumn))
    .map(([name, field]) => {
      const longest = Math.max(bounds.least, ...devices.map(device => device[field]?.length ?? 0));
      return [name, Math.min(bounds.most, longest)] as const;
    });
  const sum = lengths.reduce((all, [, length]) => all + length, 0);
  return Object.fromEntries(lengths.map(([name, length]) => [name, length / sum]));
}

/** The table, with boxes for those who may change devices. */
export function DeviceTable({ devices, query, selection, peeked, onPeek, onChanged }: DeviceTableProps) {
  useRowKeys(onPeek);
  /** Another one for each choice: a dialog that could not be loaded is loaded again. */
  const asked = useSignal<{ readonly name: SingleOperation; readonly deviceId: string } | null>(null);
  const select = (device: Device) => (
    <input
      type="checkbox"
      aria-label={listWords.select(device.deviceId)}
      checked={selection.has(device.deviceId)}
      onClick={({ currentTarget, shiftKey }) => selection.choose(device, currentTarget.checked, shiftKey, devices)}
    />
  );
  const shown = columnsIn(query.value);
  const menu = (device: Device) => {
    const { deviceId, status } = device;
    const items = mayChange.value ? operationsOf(status, name => (asked.value = { name, deviceId })) : [];
    const peek = { words: text.common.peek, onChoose: () => onPeek(devices.indexOf(device)) };
    return <MoreButton of={deviceId} groups={[{ items }, { items: [peek] }]} class="plain" />;
  };
  const table = (
    <Table
      title={text.nav.devices}
      heads={{
        select: <SelectPage devices={devices} selection={selection} />,
        actions: <span class="hidden">{text.common.actions}</span>,
      }}
      columns={{
        ...(mayChange.value && { select }),
        ...Object.fromEntries(shown.map(name => [name, deviceColumns[name]])),
        actions: menu,
      }}
      rowHead="device"
      classes={classesOf(shown)}
      shares={sharesOf(devices, shown)}
      sort={sortIn(query)}
      rows={devices}
      keyOf={({ deviceId }) => deviceId}
      isSelected={({ deviceId }) => selection.has(deviceId)}
      isPresent={({ deviceId }) => deviceId === peeked}
      isWide
      isOneLine
    />
  );
  return (
    <>
      {table}
      {asked.value && (
        <ActionForm key={asked.value} {...asked.value} onDone={onChanged} onClose={() => (asked.value = null)} />
      )}
    </>
  );
}

function SelectPage({ devices, selection }: Pick<DeviceTableProps, 'devices' | 'selection'>) {
  const count = devices.filter(({ deviceId }) => selection.has(deviceId)).length;
  return (
    <input
      type="checkbox"
      aria-label={listWords.selectPage}
      checked={count > 0 && count === devices.length}
      indeterminate={count > 0 && count < devices.length}
      onChange={event => selection.set(devices, event.currentTarget.checked, devices)}
    />
  );
}

/** The orders of the list. */
export const sortIn = (query: ReadonlySignal<URLSearchParams>): Sort => ({
  names: sorts,
  isLastFirst: column => sorts[column as ListColumn]?.endsWith('At') ?? false,
  order: sortOf(query.value),
  to: order => addressWith(query.peek(), order),
});
