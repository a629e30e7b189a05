/** A page that lists records of one kind. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren, ComponentType } from 'preact';
import type { Page } from '../../src/contract/paging.ts';
import type { Resource } from '../api/resource.ts';
import { linkTo } from '../router.ts';
import { Loaded } from './loaded.tsx';
import { Pager } from './pager.tsx';
import { type DialogProps, type RecordKind, RecordTable, type RecordWords } from './records.tsx';

/** The words of such a page. */
interface ListWords<C extends string, A extends string> extends RecordWords<C, A> {
  readonly action: Readonly<Record<A | 'create', string>>;
  readonly total: (count: number) => string;
  /** What the records are for. */
  readonly hint?: string;
  /** Shown instead of a table without rows. */
  readonly empty?: string;
}

interface ListPageProps<R, C extends string, A extends string> {
  /** First part of its address. */
  readonly path: string;
  /** What the address has besides the number of the page. */
  readonly query?: Readonly<Record<string, string>>;
  readonly kind: RecordKind<R, C, A>;
  readonly words: ListWords<NoInfer<C>, NoInfer<A>>;
  readonly list: Resource<Page<R>>;
  /** The dialog that makes a record. Absent: the person may not. */
  readonly Create?: ComponentType<DialogProps> | undefined;
  /** Stands between the title and the table. */
  readonly children?: ComponentChildren;
}

/** The number of records or what was done last, the table, and links to the other pages. */
export function ListPage<R, C extends string, A extends string>(props: ListPageProps<R, C, A>) {
  const { path, query = {}, kind, words, list, Create, children } = props;
  /** Another one for each click: a dialog that could not be loaded is loaded again. */
  const creating = useSignal<object | null>(null);
  const lastDone = useSignal('');
  const total = list.data.value?.pagination.total;
  const onDone = (done = '') => {
    lastDone.value = done;
    list.reload();
  };
  return (
    <>
      <h1>{words.title}</h1>
      {words.hint && <p class="hint">{words.hint}</p>}
      {children}
      <div class="bar">
        <p role="status">{lastDone.value || (total !== undefined && words.total(total))}</p>
        {Create && (
          <button type="button" class="main" onClick={() => (creating.value = {})}>
            {words.action.create} …
          </button>
        )}
      </div>
      <Loaded from={list}>
        {({ list: records, pagination }) => (
          <>
            {words.empty && pagination.total === 0 ? (
              <p class="hint">{words.empty}</p>
            ) : (
              <RecordTable kind={kind} words={words} records={records} onDone={onDone} />
            )}
            <Pager {...pagination} to={page => linkTo(path, { ...query, ...(page > 1 && { page }) })} />
          </>
        )}
      </Loaded>
      {Create && creating.value && (
        <Create key={creating.value} onClose={() => (creating.value = null)} onDone={onDone} />
      )}
    </>
  );
}
