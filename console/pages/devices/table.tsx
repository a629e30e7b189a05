/** The devices of one page of the list. */

import type { ReadonlySignal } from '@preact/signals';
import type { DeviceSort } from '../../../src/contract/values.ts';
import { mayChange } from '../../api/session.ts';
import { GradeBadge, StatusBadge } from '../../parts/badge.tsx';
import { go, linkTo } from '../../router.ts';
import { day, moment } from '../../text/numbers.ts';
import { dictionary, text } from '../../text/text.ts';
import { addressWith, type Device, sortOf } from './query.ts';
import type { Selection } from './selection.ts';

const listWords = dictionary('devices');

interface TableProps {
  readonly devices: readonly Device[];
  readonly query: ReadonlySignal<URLSearchParams>;
  readonly selection: Selection;
}

/** Columns, with the order that their head sets; those without are not sorted by. */
const columns = [
  { name: 'device', sort: 'deviceId' },
  { name: 'serial', sort: 'serialNumber' },
  { name: 'type', sort: 'deviceType' },
  { name: 'manufacturer', sort: 'manufacturer' },
  { name: 'model', sort: 'model' },
  { name: 'state', sort: 'status' },
  { name: 'user', sort: null },
  { name: 'registered', sort: 'createdAt' },
  { name: 'used', sort: 'lastUsedAt' },
  { name: 'proof', sort: null },
  { name: 'tags', sort: null },
] as const satisfies readonly { readonly name: string; readonly sort: DeviceSort | null }[];
type TableColumn = (typeof columns)[number];

/** The table. Text of the registry is shown as text, never as markup. */
export function DeviceTable({ devices, query, selection }: TableProps) {
  const words = listWords.value;
  return (
    <div class="scroll">
      <table class="dense wide">
        <caption class="hidden">{words.title}</caption>
        <thead>
          <tr>
            {mayChange.value && (
              <th scope="col">
                <SelectPage devices={devices} selection={selection} />
              </th>
            )}
            {columns.map(column => (
              <Head key={column.name} column={column} query={query} />
            ))}
          </tr>
        </thead>
        <tbody>
          {devices.map(device => (
            <Row key={device.deviceId} device={device} devices={devices} selection={selection} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function SelectPage({ devices, selection }: Omit<TableProps, 'query'>) {
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

/** Times begin with the newest, texts with the first of the alphabet; the second click turns the order. */
function Head({ column, query }: { readonly column: TableColumn } & Pick<TableProps, 'query'>) {
  const title = listWords.value.column[column.name];
  const { sort } = column;
  if (!sort) return <th scope="col">{title}</th>;
  const { sortBy, descending } = sortOf(query.value);
  const isSorted = sortBy === sort || (sortBy === 'createTime' && sort === 'createdAt');
  const next = isSorted ? !descending : sort.endsWith('At');
  return (
    <th scope="col" {...(isSorted && { 'aria-sort': descending ? 'descending' : 'ascending' })}>
      <button
        type="button"
        class="sort"
        onClick={() => go(addressWith(query.peek(), { sortBy: sort, sortOrder: next ? 'desc' : 'asc' }))}
      >
        {title}
        <span aria-hidden="true">{isSorted ? (descending ? ' ↓' : ' ↑') : ''}</span>
      </button>
    </th>
  );
}

function Row({ device, devices, selection }: Omit<TableProps, 'query'> & { readonly device: Device }) {
  const { deviceId, serialNumber, deviceType, manufacturer, model, status, userId, proof, tags } = device;
  const isSelected = selection.has(deviceId);
  return (
    <tr class={isSelected ? 'selected' : undefined}>
      {mayChange.value && (
        <td>
          <input
            type="checkbox"
            aria-label={listWords.value.select(deviceId)}
            checked={isSelected}
            onChange={event => selection.set([device], event.currentTarget.checked, devices)}
          />
        </td>
      )}
      <th scope="row">
        <a href={linkTo(`devices/${encodeURIComponent(deviceId)}`)}>{deviceId}</a>
      </th>
      <td class="code">{serialNumber}</td>
      <td class="keep">{text.value.type[deviceType]}</td>
      <td>{manufacturer}</td>
      <td>{model}</td>
      <td>
        <StatusBadge status={status} />
      </td>
      <td>{userId}</td>
      <Time at={device.createdAt} />
      <Time at={device.lastUsedAt} />
      <td>{proof && <GradeBadge grade={proof.grade} />}</td>
      <td>
        <Tags tags={tags} />
      </td>
    </tr>
  );
}

const Time = ({ at }: { readonly at: string | null }) => (
  <td>
    {at ? (
      <time dateTime={at} title={moment(at)}>
        {day(at)}
      </time>
    ) : (
      <small>{text.value.common.never}</small>
    )}
  </td>
);

const Tags = ({ tags }: Pick<Device, 'tags'>) => (
  <>
    {Object.entries(tags).map(([name, value]) => (
      <span key={name} class="tag">
        {name}:{value}
      </span>
    ))}
  </>
);
