/** A page that lists records of one kind. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren, ComponentType } from 'preact';
import type { Page } from '../../src/contract/paging.ts';
import type { Resource } from '../api/resource.ts';
import { linkTo, place } from '../router.ts';
import type { PageName } from '../text/en.ts';
import { text } from '../text/words.ts';
import { Button } from './button.tsx';
import { lazy } from './lazy.tsx';
import { Loaded } from './loaded.tsx';
import { Pager } from './pager.tsx';
import { usePeek } from './peek.ts';
import {
  type CommonAction,
  type DialogProps,
  type RecordKind,
  RecordTable,
  type RecordTableProps,
  type RecordWords,
} from './records.tsx';
import { useRowKeys } from './row-keys.ts';
import { OrderChoice, orderTexts, type Sort, type SortValues, sorted } from './sort.tsx';
import { reporting } from './toast.ts';

/** The page of a record of a list. */
export const RecordPage = lazy(async () => (await import('./record-page.tsx')).RecordPage);
const RecordSheet = lazy(async () => (await import('./record-sheet.tsx')).RecordSheet);

interface ListWords<C extends string, A extends string> extends RecordWords<C, A> {
  /** Absent: the name of the page in the navigation. */
  readonly title?: string;
  /** Absent: there are none. */
  readonly action?: Readonly<Record<Exclude<A, CommonAction> | 'create', string>>;
  readonly total: (count: number) => string;
  readonly hint?: string;
  /** Shown instead of a table without rows. */
  readonly empty?: string;
}

interface ListPageProps<R, C extends string, A extends string> {
  /** First part of its address. */
  readonly path: PageName;
  /** Query of the address without the number of the page. */
  readonly query?: Readonly<Record<string, string>>;
  readonly kind: RecordKind<R, C, A>;
  readonly words: ListWords<NoInfer<C>, NoInfer<A>>;
  readonly list: Resource<Page<R>>;
  /** The dialog that makes a record. Absent: the person may not. */
  readonly Create?: ComponentType<DialogProps> | undefined;
  /** Buttons beside the one that makes a record. */
  readonly actions?: ComponentChildren;
  /** Shown instead of a table without rows. Absent: that of the words. */
  readonly empty?: ComponentChildren;
  /** Stands between the title and the table. */
  readonly children?: ComponentChildren;
}

/** The number of records, the table, and links to the other pages. */
export function ListPage<R, C extends string, A extends string>(props: ListPageProps<R, C, A>) {
  const { path, query = {}, kind, words, list, Create, actions, children, empty = words.empty } = props;
  const { title = text.nav[path] } = words;
  const total = list.data.value?.pagination.total;
  const onDone = reporting(list.reload);
  /** The dialog outlives its button: what it makes ends the empty page. Another one for each click, as of `DialogButton`. */
  const creating = useSignal<object | null>(null);
  const create = Create && (
    <Button words={`${words.action?.create} …`} class="main" onClick={() => (creating.value = {})} />
  );
  // The first step of an empty page stands where its records would.
  const isEmpty = empty !== undefined && total === 0;
  const search = { ...query, ...orderTexts(place.value.query) };
  const to: Sort['to'] = order => linkTo(path, { ...query, ...order });
  return (
    <>
      <div class="bar">
        <h1>{title}</h1>
        <p role="status">{total !== undefined && words.total(total)}</p>
        {actions}
        {!isEmpty && create}
      </div>
      {words.hint && <p class="hint">{words.hint}</p>}
      {children}
      <Loaded from={list}>
        {({ list: records, pagination }) => (
          <>
            {isEmpty ? (
              <div class="empty">
                <p>{empty}</p>
                {create}
              </div>
            ) : (
              <SortedTable
                {...{ title, kind, words, records, onDone, to }}
                isWhole={pagination.totalPages < 2}
                onChanged={list.reload}
              />
            )}
            <Pager {...pagination} to={page => linkTo(path, { ...search, ...(page > 1 && { page }) })} />
          </>
        )}
      </Loaded>
      {Create && creating.value && (
        <Create key={creating.value} onClose={() => (creating.value = null)} onDone={onDone} />
      )}
    </>
  );
}

interface SortedTableProps<R, C extends string, A extends string> extends RecordTableProps<R, C, A> {
  readonly to: Sort['to'];
  /** Whether these are all records: a list of several pages has the order of the daemon alone. */
  readonly isWhole: boolean;
  readonly onChanged: () => void;
}

/** The records as the address sorts them, and the one that is shown at the side. */
function SortedTable<R, C extends string, A extends string>(props: SortedTableProps<R, C, A>) {
  const { isWhole, to, onChanged, ...rest } = props;
  const { sorts, columns, usualSort, keyOf } = rest.kind;
  const values = Object.fromEntries(
    Object.entries(sorts ?? {}).filter(([column]) => column in columns),
  ) as SortValues<R>;
  const { rows, sort } = sorted(props.records, values, to, usualSort, isWhole);
  const { peeked, show, onStep, onClose } = usePeek(() => rows.map(keyOf));
  useRowKeys(show);
  const record = rows.find(each => keyOf(each) === peeked.value);
  return (
    <>
      {sorts && <OrderChoice sort={sort} heads={{ ...text.column, ...rest.words.column }} />}
      <RecordTable {...rest} records={rows} {...(sorts && { sort })} onPeek={show} peeked={peeked.value} />
      {record && <RecordSheet {...rest} {...{ record, onStep, onClose, onChanged }} />}
    </>
  );
}
