/** The devices of one page of the list. */
import type { ReadonlySignal } from '@preact/signals';
import type { DeviceSort } from '../../../src/contract/values.ts';
import { mayChange } from '../../api/session.ts';
import { GradeBadge, StatusBadge } from '../../parts/badge.tsx';
import { Table } from '../../parts/table.tsx';
import { Day } from '../../parts/time.tsx';
import { go, linkTo } from '../../router.ts';
import { dictionary, text } from '../../text/text.ts';
import { addressWith, type Device, sortOf } from './query.ts';
import type { DeviceSelection } from './selection.ts';

const listWords = dictionary('devices');

interface DeviceTableProps {
  readonly devices: readonly Device[];
  readonly query: ReadonlySignal<URLSearchParams>;
  readonly selection: DeviceSelection;
}

/** What each column shows. */
const columns = {
  device: ({ deviceId }: Device) => <a href={linkTo(`devices/${encodeURIComponent(deviceId)}`)}>{deviceId}</a>,
  serial: ({ serialNumber }: Device) => serialNumber,
  type: ({ deviceType }: Device) => text.value.type[deviceType],
  manufacturer: ({ manufacturer }: Device) => manufacturer,
  model: ({ model }: Device) => model,
  state: ({ status }: Device) => <StatusBadge status={status} />,
  user: ({ userId }: Device) => userId,
  registered: ({ createdAt }: Device) => <Day at={createdAt} />,
  used: ({ lastUsedAt }: Device) => <Day at={lastUsedAt} />,
  proof: ({ proof }: Device) => proof && <GradeBadge grade={proof.grade} />,
  tags: ({ tags }: Device) => <Tags tags={Object.entries(tags).map(([name, value]) => `${name}:${value}`)} />,
};

/** Tags that a row shows; the others are counted. */
const SHOWN_TAGS = 2;

function Tags({ tags }: { readonly tags: readonly string[] }) {
  const more = tags.length - SHOWN_TAGS;
  return (
    <span {...(more > 0 && { 'data-whole': tags.join('\n') })}>
      {tags.slice(0, SHOWN_TAGS).map(tag => (
        <span key={tag} class="tag">
          {tag}
        </span>
      ))}
      {more > 0 && `+${more}`}
    </span>
  );
}

type TableColumn = keyof typeof columns;
const columnNames = Object.keys(columns) as TableColumn[];

/** The order that the head of a column sets; by other columns nothing is sorted. */
const sorts: Readonly<Partial<Record<TableColumn, DeviceSort>>> = {
  device: 'deviceId',
  serial: 'serialNumber',
  type: 'deviceType',
  manufacturer: 'manufacturer',
  model: 'model',
  state: 'status',
  registered: 'createdAt',
  used: 'lastUsedAt',
};

/** The table, with boxes for those who may change devices. */
export function DeviceTable({ devices, query, selection }: DeviceTableProps) {
  const { sortBy, descending } = sortOf(query.value);
  const sorted = columnNames.find(name => sorts[name] === (sortBy === 'createTime' ? 'createdAt' : sortBy));
  const select = (device: Device) => (
    <input
      type="checkbox"
      aria-label={listWords.value.select(device.deviceId)}
      checked={selection.has(device.deviceId)}
      onChange={event => selection.set([device], event.currentTarget.checked, devices)}
    />
  );
  const heads = columnNames.map(name => [
    name,
    <Head key={name} name={name} query={query} isDescending={name === sorted ? descending : null} />,
  ]);
  return (
    <Table
      title={listWords.value.title}
      heads={{ select: <SelectPage devices={devices} selection={selection} />, ...Object.fromEntries(heads) }}
      columns={{ ...(mayChange.value && { select }), ...columns }}
      rowHead="device"
      classes={{ serial: 'code', type: 'keep' }}
      sorted={{ column: sorted, order: descending ? 'descending' : 'ascending' }}
      rows={devices}
      keyOf={({ deviceId }) => deviceId}
      isSelected={({ deviceId }) => selection.has(deviceId)}
      isWide
      isOneLine
    />
  );
}

function SelectPage({ devices, selection }: Omit<DeviceTableProps, 'query'>) {
  const count = devices.filter(({ deviceId }) => selection.has(deviceId)).length;
  return (
    <input
      type="checkbox"
      aria-label={listWords.value.selectPage}
      checked={count > 0 && count === devices.length}
      indeterminate={count > 0 && count < devices.length}
      onChange={event => selection.set(devices, event.currentTarget.checked, devices)}
    />
  );
}

interface HeadProps {
  readonly name: TableColumn;
  readonly query: ReadonlySignal<URLSearchParams>;
  /** Null if the table is sorted by another column. */
  readonly isDescending: boolean | null;
}

/** Times begin with the newest, texts with the first of the alphabet; the second click turns the order. */
function Head({ name, query, isDescending }: HeadProps) {
  const title = listWords.value.column[name];
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
