/** The devices of one page of the list. */
import { type ReadonlySignal, useSignal } from '@preact/signals';
import type { DeviceSort } from '../../../src/contract/values.ts';
import { mayChange } from '../../api/session.ts';
import { deviceColumns, operationsOf, type SingleOperation } from '../../parts/device-columns.tsx';
import { Choice } from '../../parts/inputs.tsx';
import { lazy } from '../../parts/lazy.tsx';
import { MoreButton } from '../../parts/menu.tsx';
import { Table } from '../../parts/table.tsx';
import { go } from '../../router.ts';
import { devices as listWords, text } from '../../text/words.ts';
import { addressWith, type Device, sortOf } from './query.ts';
import { useRowKeys } from './row-keys.ts';
import type { DeviceSelection } from './selection.ts';
import { columnNames, columnsIn, type ListColumn } from './views.tsx';

const ActionForm = lazy(async () => (await import('../../parts/action-form.tsx')).ActionForm);

interface DeviceTableProps {
  readonly devices: readonly Device[];
  readonly query: ReadonlySignal<URLSearchParams>;
  readonly selection: DeviceSelection;
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
const classAfter = (more: number): string => (more < 5 ? '' : more < 6 ? 'spare' : 'minor');

function classesOf(shown: readonly ListColumn[]): Readonly<Record<string, string>> {
  const inOrder = priority.filter(name => shown.includes(name));
  const narrow = inOrder.map((name, i) => [name, `${classes[name] ?? ''} ${classAfter(i)}`]);
  return { ...classes, ...Object.fromEntries(narrow) };
}

/** The table, with boxes for those who may change devices. */
export function DeviceTable({ devices, query, selection, onChanged }: DeviceTableProps) {
  useRowKeys();
  /** Another one for each choice: a dialog that could not be loaded is loaded again. */
  const asked = useSignal<{ readonly name: SingleOperation; readonly deviceId: string } | null>(null);
  const { sortBy, descending } = sortOf(query.value);
  const sorted = columnNames.find(name => sorts[name] === sortBy);
  const select = (device: Device) => (
    <input
      type="checkbox"
      aria-label={listWords.select(device.deviceId)}
      checked={selection.has(device.deviceId)}
      onClick={({ currentTarget, shiftKey }) => selection.choose(device, currentTarget.checked, shiftKey, devices)}
    />
  );
  const shown = columnsIn(query.value);
  const heads = shown.map(name => [
    name,
    <Head key={name} name={name} query={query} isDescending={name === sorted ? descending : null} />,
  ]);
  const menu = ({ deviceId, status }: Device) => {
    const items = operationsOf(status, name => (asked.value = { name, deviceId }));
    return <MoreButton of={deviceId} groups={[{ items }]} class="plain" />;
  };
  const table = (
    <Table
      title={text.nav.devices}
      heads={{
        select: <SelectPage devices={devices} selection={selection} />,
        ...Object.fromEntries(heads),
        actions: <span class="hidden">{text.common.actions}</span>,
      }}
      columns={{
        ...(mayChange.value && { select }),
        ...Object.fromEntries(shown.map(name => [name, deviceColumns[name]])),
        ...(mayChange.value && { actions: menu }),
      }}
      rowHead="device"
      classes={classesOf(shown)}
      sorted={{ column: sorted, order: descending ? 'descending' : 'ascending' }}
      rows={devices}
      keyOf={({ deviceId }) => deviceId}
      isSelected={({ deviceId }) => selection.has(deviceId)}
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

function SelectPage({ devices, selection }: Omit<DeviceTableProps, 'query' | 'onChanged'>) {
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

interface HeadProps {
  readonly name: ListColumn;
  readonly query: ReadonlySignal<URLSearchParams>;
  /** Null if the table is sorted by another column. */
  readonly isDescending: boolean | null;
}

/** The orders as a list to choose from, for phones: there the table has no heads. */
export function OrderChoice({ query }: Pick<DeviceTableProps, 'query'>) {
  const { sortBy, descending } = sortOf(query.value);
  const orders = Object.entries(sorts).flatMap(([name, by]) => [
    [`${by} asc`, `${text.column[name as ListColumn]} ↑`],
    [`${by} desc`, `${text.column[name as ListColumn]} ↓`],
  ]);
  const choose = (chosen: string) => {
    const [by = '', sortOrder = ''] = chosen.split(' ');
    go(addressWith(query.peek(), { sortBy: by, sortOrder }));
  };
  return (
    <div class="order">
      <Choice
        isInline
        label={listWords.order}
        values={orders.map(([order = '']) => order)}
        words={Object.fromEntries(orders)}
        value={`${sortBy} ${descending ? 'desc' : 'asc'}`}
        onChange={choose}
      />
    </div>
  );
}

/** Times begin with the newest, texts with the first of the alphabet; the second click turns the order. */
function Head({ name, query, isDescending }: HeadProps) {
  const title = text.column[name];
  const sortBy = sorts[name];
  if (!sortBy) return <>{title}</>;
  const next = isDescending === null ? sortBy.endsWith('At') : !isDescending;
  return (
    <button
      type="button"
      class="sort"
      onClick={() => go(addressWith(query.peek(), { sortBy, sortOrder: next ? 'desc' : 'asc' }))}
    >
      {title}
      <span aria-hidden="true">{isDescending === null ? '' : isDescending ? ' ↓' : ' ↑'}</span>
    </button>
  );
}
