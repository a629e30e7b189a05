/** The devices of the registry: search, filters, pages, and what is done with many of them. */
import { computed, type ReadonlySignal, useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { personsNamed } from '../../api/people.ts';
import { call } from '../../api/request.ts';
import { useResource } from '../../api/resource.ts';
import { mayChange } from '../../api/session.ts';
import { Button } from '../../parts/button.tsx';
import { FirstDevice } from '../../parts/first-device.tsx';
import { lazy, lazyDialog } from '../../parts/lazy.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { addDevice } from '../../parts/open.ts';
import { Pager } from '../../parts/pager.tsx';
import { usePeek } from '../../parts/peek.ts';
import { Search } from '../../parts/search.tsx';
import { OrderChoice } from '../../parts/sort.tsx';
import { go, linkTo, place } from '../../router.ts';
import { text, devices as words } from '../../text/words.ts';
import { Bar } from './bar.tsx';
import { recallList, useChanges } from './changes.ts';
import { Applied, Filters } from './filters.tsx';
import { addressWith, filtersIn, listRequest } from './query.ts';
import { type BulkName, useSelection } from './selection.ts';
import { DeviceTable, sortIn } from './table.tsx';
import { Columns, Views } from './views.tsx';

const DeviceSheet = lazy(async () => (await import('../device/sheet.tsx')).DeviceSheet);
const BulkDialog = lazyDialog(async () => (await import('./bulk/dialog.tsx')).BulkDialog);

/** The list of devices. */
export function DevicesPage() {
  const query = useListQuery();
  const selection = useSelection(query);
  const resource = useResource(
    signal => call('listDevices', listRequest(query.value), { signal }),
    () => recallList(query.value),
  );
  const changes = useChanges(query, resource.reload);
  const { peeked, shown, show, onStep, onClose } = usePeek(
    () => resource.data.peek()?.list.map(({ deviceId }) => deviceId) ?? [],
  );
  const operation = useSignal<BulkName | null>(null);
  const closeBulk = (hasRun: boolean) => {
    operation.value = null;
    if (!hasRun) return;
    selection.clear();
    resource.reload();
  };
  const findTargets = async (name: BulkName, signal: AbortSignal, onCount: (count: number) => void) => {
    const { targetsAmong, targetsMatching } = await import('./bulk/targets.ts');
    return selection.all.peek()
      ? targetsMatching(name, query.peek(), signal, onCount)
      : targetsAmong(name, selection.picked());
  };
  return (
    <>
      <div class="bar">
        <h1>{text.nav.devices}</h1>
        {mayChange.value && (
          <>
            <a class="button" href={linkTo('import')}>
              {words.import}
            </a>
            <Button words={`${text.common.addDevice} …`} class="main" onClick={addDevice} />
          </>
        )}
      </div>
      <Views query={query} />
      <div class="tools">
        <Search
          label={words.filter.search}
          placeholder={words.searchHint}
          applied={() => query.value.get('search') ?? ''}
          onApply={(search, replace) => go(addressWith(query.peek(), { search }), replace)}
        >
          {typed => (
            <Button
              words={`${text.column.user}: ${typed}`}
              class="plain"
              onClick={() => go(addressWith(query.peek(), { search: '', userId: typed }))}
            />
          )}
        </Search>
        <Filters query={query} />
        <Columns query={query} />
        <OrderChoice sort={sortIn(query)} heads={text.column} />
      </div>
      <Applied query={query} />
      <Loaded from={resource}>
        {list => (
          <>
            <Bar
              {...{ list, query, selection, changes }}
              show={resource.reload}
              onChoose={name => (operation.value = name)}
            />
            {list.pagination.total === 0 ? (
              <Empty query={query.value} />
            ) : (
              <DeviceTable
                devices={list.list}
                {...{ query, selection }}
                peeked={peeked.value}
                onPeek={show}
                onChanged={resource.reload}
              />
            )}
            <Pager {...list.pagination} to={page => addressWith(query.value, { page: page > 1 ? `${page}` : '' })} />
          </>
        )}
      </Loaded>
      {peeked.value !== null && <DeviceSheet deviceId={shown} {...{ onStep, onClose }} onChanged={resource.reload} />}
      {operation.value && <BulkDialog name={operation.value} find={findTargets} onClose={closeBulk} />}
    </>
  );
}

function Empty({ query }: { readonly query: URLSearchParams }) {
  if (filtersIn(query).length === 0)
    return (
      <div class="empty">
        <FirstDevice />
      </div>
    );
  const isSearch = query.has('search') && !query.has('userId');
  return (
    <>
      <p class="empty">{words.empty}</p>
      {isSearch && <Persons key={query.toString()} query={query} />}
    </>
  );
}

/** The query of the address of the list. It keeps its value while the person leaves the page, so that nothing is requested. */
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

const mostPersons = 5;

interface PersonsProps {
  /** A search that has found no device. */
  readonly query: URLSearchParams;
}

/** The persons with devices whose e-mail address or id has the searched text. */
function Persons({ query }: PersonsProps) {
  const found = useResource(async signal =>
    (await personsNamed(query.get('search') ?? '', mostPersons, signal)).filter(({ devices }) => devices > 0),
  );
  return (
    <ul class="chips" aria-label={words.persons}>
      {found.data.value?.map(({ personId, userName, name, devices }) => (
        <li key={personId}>
          <a href={addressWith(query, { search: '', userId: userName })}>{name ?? userName}</a>{' '}
          {text.common.devices(devices)}
        </li>
      ))}
    </ul>
  );
}
