/** The devices of the registry: search, filters, pages, and what is done with many of them. */

import { computed, type ReadonlySignal, useSignal } from '@preact/signals';
import { useMemo, useRef } from 'preact/hooks';
import { call } from '../../api/request.ts';
import { useResource } from '../../api/resource.ts';
import { mayChange } from '../../api/session.ts';
import { lazy } from '../../parts/lazy.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Pager } from '../../parts/pager.tsx';
import { place } from '../../router.ts';
import { dictionary, text } from '../../text/text.ts';
import { type UnseenChanges, useChanges } from './changes.ts';
import { ExportButtons } from './export.tsx';
import { Applied, Filters } from './filters.tsx';
import { addressWith, type DeviceList, listRequest } from './query.ts';
import { Search } from './search.tsx';
import { type BulkName, bulkNames, type DeviceSelection, useSelection } from './selection.ts';
import { DeviceTable } from './table.tsx';

const listWords = dictionary('devices');

const BulkDialog = lazy(async () => (await import('./bulk/dialog.tsx')).BulkDialog);

/** The list of devices. */
export function DevicesPage() {
  const query = useListQuery();
  const selection = useSelection(query);
  const resource = useResource(signal => call('listDevices', listRequest(query.value), { signal }));
  const changes = useChanges(resource.data, resource.reload);
  const operation = useSignal<BulkName | null>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const closeBulk = (hasRun: boolean) => {
    operation.value = null;
    if (!hasRun) return;
    selection.clear();
    resource.reload();
    // The button that opened the dialog goes with the selection.
    requestAnimationFrame(() => heading.current?.focus());
  };
  return (
    <>
      <h1 ref={heading} tabIndex={-1}>
        {listWords.value.title}
      </h1>
      <Search query={query} />
      <Filters query={query} />
      <Applied query={query} />
      <Loaded from={resource}>
        {list => (
          <>
            <Bar {...{ list, query, selection, changes }} onChoose={name => (operation.value = name)} />
            <DeviceTable devices={list.list} query={query} selection={selection} />
            {list.pagination.total === 0 && <p class="hint">{listWords.value.empty}</p>}
            <Pager {...list.pagination} to={page => addressWith(query.value, { page: page > 1 ? `${page}` : '' })} />
          </>
        )}
      </Loaded>
      {operation.value && (
        <BulkDialog name={operation.value} query={query.peek()} selection={selection} onClose={closeBulk} />
      )}
    </>
  );
}

/** The query of the address while it is that of the list: on the way to another page nothing is requested. */
function useListQuery(): ReadonlySignal<URLSearchParams> {
  return useMemo(() => {
    let last = '';
    const shown = computed(() => {
      const { path, query } = place.value;
      if (path.length === 1 && path[0] === 'devices') last = query.toString();
      return last;
    });
    return computed(() => new URLSearchParams(shown.value));
  }, []);
}

function selectedOrTotal({ pagination: { total } }: DeviceList, selection: DeviceSelection): string {
  const words = listWords.value;
  if (selection.all.value) return words.allSelected(total);
  return selection.size.value ? words.selected(selection.size.value, total) : words.total(total);
}

interface BarProps {
  readonly list: DeviceList;
  readonly query: ReadonlySignal<URLSearchParams>;
  readonly selection: DeviceSelection;
  readonly changes: UnseenChanges;
  readonly onChoose: (name: BulkName) => void;
}

/** The number of devices, and what can be done with those that are selected; without a selection, their export. */
function Bar({ list, query, selection, changes, onChoose }: BarProps) {
  return (
    <div class="bar">
      <p role="status">{selectedOrTotal(list, selection)}</p>
      {changes.value > 0 && (
        <button type="button" onClick={changes.show}>
          {listWords.value.changes(changes.value)}
        </button>
      )}
      {mayChange.value && selection.count(list) > 0 ? (
        <SelectionActions list={list} selection={selection} onChoose={onChoose} />
      ) : (
        <ExportButtons query={query} />
      )}
    </div>
  );
}

function SelectionActions({ list, selection, onChoose }: Pick<BarProps, 'list' | 'selection' | 'onChoose'>) {
  const words = listWords.value;
  const { total } = list.pagination;
  return (
    <>
      {!selection.all.value && selection.size.value < total && (
        <button type="button" onClick={() => selection.selectAll()}>
          {words.selectAll(total)}
        </button>
      )}
      <button type="button" onClick={() => selection.clear()}>
        {words.clear}
      </button>
      {bulkNames.map(name => (
        <button type="button" key={name} class={name === 'DEACTIVATE' ? 'danger' : ''} onClick={() => onChoose(name)}>
          {text.value.action[name]} …
        </button>
      ))}
    </>
  );
}
