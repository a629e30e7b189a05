/** A page that lists records of one kind. */
import type { ComponentChildren, ComponentType } from 'preact';
import type { Page } from '../../src/contract/paging.ts';
import type { Resource } from '../api/resource.ts';
import { linkTo } from '../router.ts';
import type { PageName } from '../text/en.ts';
import { text } from '../text/words.ts';
import { DialogButton } from './button.tsx';
import { Loaded } from './loaded.tsx';
import { Pager } from './pager.tsx';
import { type CommonAction, type DialogProps, type RecordKind, RecordTable, type RecordWords } from './records.tsx';
import { reporting } from './toast.ts';

interface ListWords<C extends string, A extends string> extends RecordWords<C, A> {
  /** Absent: the name of the page in the navigation. */
  readonly title?: string;
  readonly action: Readonly<Record<Exclude<A, CommonAction> | 'create', string>>;
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
  /** Stands between the title and the table. */
  readonly children?: ComponentChildren;
}

/** The number of records, the table, and links to the other pages. */
export function ListPage<R, C extends string, A extends string>(props: ListPageProps<R, C, A>) {
  const { path, query = {}, kind, words, list, Create, actions, children } = props;
  const { title = text.nav[path] } = words;
  const total = list.data.value?.pagination.total;
  const onDone = reporting(list.reload);
  return (
    <>
      <div class="bar">
        <h1>{title}</h1>
        <p role="status">{total !== undefined && words.total(total)}</p>
        {actions}
        {Create && (
          <DialogButton
            words={words.action.create}
            class="main"
            dialog={onClose => <Create onClose={onClose} onDone={onDone} />}
          />
        )}
      </div>
      {words.hint && <p class="hint">{words.hint}</p>}
      {children}
      <Loaded from={list}>
        {({ list: records, pagination }) => (
          <>
            {words.empty && pagination.total === 0 ? (
              <p class="empty">{words.empty}</p>
            ) : (
              <RecordTable title={title} kind={kind} words={words} records={records} onDone={onDone} />
            )}
            <Pager {...pagination} to={page => linkTo(path, { ...query, ...(page > 1 && { page }) })} />
          </>
        )}
      </Loaded>
    </>
  );
}
