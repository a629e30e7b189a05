/** Cases of persons who have left: what they still have, with what is to be done next. */
import type { DataOf } from '../../../src/contract/define.ts';
import { textLengths } from '../../../src/contract/limits.ts';
import type { LeaverCase } from '../../../src/contract/people.ts';
import type { Routes } from '../../../src/contract/routes.ts';
import { useRefresh } from '../../api/live.ts';
import { Problem } from '../../api/problem.ts';
import { call } from '../../api/request.ts';
import { useResource } from '../../api/resource.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { DialogButton } from '../../parts/button.tsx';
import { Field, useEntries } from '../../parts/field.tsx';
import { DeviceLink } from '../../parts/item.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { type DialogProps, type RecordDialogProps, type RecordKind, RecordTable } from '../../parts/records.tsx';
import { Moment } from '../../parts/time.tsx';
import { reporting } from '../../parts/toast.ts';
import { linkTo } from '../../router.ts';
import { moment } from '../../text/numbers.ts';
import { people } from '../../text/words.ts';

type CaseItem = LeaverCase['items'][number];
type ListedCase = DataOf<Routes['listCases']>['list'][number];

const words = people.case;
const itemName = ({ kind, id }: Pick<CaseItem, 'kind' | 'id'>) => `${words.kind[kind]} ${id}`;
const closing = (personId: string, key: string) => call('closeCase', { params: { personId } }, { key });

const listed: RecordKind<ListedCase, 'userName' | 'name' | 'left' | 'open' | 'kept' | 'next', 'close'> = {
  keyOf: ({ personId }) => personId,
  nameOf: ({ userName }) => userName,
  columns: {
    userName: ({ personId, userName }) => <a href={linkTo(`people/${personId}`)}>{userName}</a>,
    name: ({ name }) => name,
    left: ({ opened }) => <Moment at={opened} />,
    open: ({ open }) => open,
    kept: ({ kept }) => kept,
    next: ({ next }) => (next ? itemName(next) : people.cases.action.close),
  },
  rowHead: 'userName',
  classes: { open: 'number', kept: 'number' },
  actions: {
    close: { carryOut: ({ personId }, key) => closing(personId, key), isFor: ({ open }) => open === 0 },
  },
};

/** Open cases that the page shows; `devmgr people cases` has all of them. */
const mostCases = 20;

/** The open cases, the oldest first. Draws nothing if there is none. */
export function OpenCases() {
  const cases = useResource(signal => call('listCases', { query: { open: true, size: mostCases } }, { signal }));
  useRefresh(cases.reload, () => true);
  const { list = [], pagination } = cases.data.value ?? {};
  if (list.length === 0 && !cases.problem.value) return null;
  return (
    <section>
      <h2>
        {people.cases.title} {pagination?.total}
      </h2>
      <p class="hint">{people.cases.hint}</p>
      <Loaded from={cases}>
        {() => (
          <RecordTable
            title={people.cases.title}
            kind={listed}
            words={people.cases}
            records={list}
            onDone={reporting(cases.reload)}
          />
        )}
      </Loaded>
    </section>
  );
}

/** Null of a person who left before there were cases. */
const readCase = (personId: string, signal: AbortSignal): Promise<LeaverCase | null> =>
  call('showCase', { params: { personId } }, { signal }).catch(problem => {
    if (problem instanceof Problem && problem.code === 404) return null;
    throw problem;
  });

/** The case of a person who has left, with what can be done about each item. */
export function PersonCase({ personId }: { readonly personId: string }) {
  const resource = useResource(signal => readCase(personId, signal));
  useRefresh(resource.reload, () => true);
  if (resource.data.value === null) return null;
  const onDone = reporting(resource.reload);
  return (
    <section>
      <h2>{words.title}</h2>
      <Loaded from={resource}>{known => known && <Items personId={personId} known={known} onDone={onDone} />}</Loaded>
    </section>
  );
}

interface ItemsProps extends Pick<DialogProps, 'onDone'> {
  readonly personId: string;
  readonly known: LeaverCase;
}

function Items({ personId, known: { closed, items }, onDone }: ItemsProps) {
  const kind: RecordKind<CaseItem, 'item' | 'state' | 'reason', 'keep'> = {
    keyOf: itemName,
    nameOf: itemName,
    columns: {
      item: item => (item.kind === 'device' ? <DeviceLink id={item.id} /> : itemName(item)),
      state: ({ state }) => words.states[state],
      reason: ({ reason }) => reason,
    },
    rowHead: 'item',
    actions: {
      keep: {
        Dialog: dialog => <Keep {...dialog} personId={personId} />,
        isFor: ({ state }) => closed === null && state !== 'closed',
      },
    },
  };
  const close = (onClose: () => void) => (
    <ActionDialog
      title={people.cases.action.close}
      onSubmit={async key => {
        await closing(personId, key);
        onDone();
      }}
      onClose={onClose}
    >
      <p>{people.cases.ask.close}</p>
    </ActionDialog>
  );
  return (
    <>
      <p class="hint">{closed === null ? words.open : words.closed(moment(closed))}</p>
      {items.length === 0 ? (
        <p class="hint">{words.none}</p>
      ) : (
        <RecordTable title={words.title} kind={kind} words={words} records={items} onDone={onDone} />
      )}
      {closed === null && items.every(({ state }) => state !== 'open') && (
        <p class="actions">
          <DialogButton words={people.cases.action.close} class="main" dialog={close} />
        </p>
      )}
    </>
  );
}

function Keep({ record, personId, onClose, onDone }: RecordDialogProps<CaseItem> & { readonly personId: string }) {
  const { reason } = useEntries({ reason: '' });
  const { kind, id } = record;
  const submit = async (key: string) => {
    await call('keepCaseItem', { params: { personId }, body: { kind, id, reason: reason.value.trim() } }, { key });
    onDone(words.kept(itemName(record)));
  };
  return (
    <ActionDialog
      title={words.of.keep(itemName(record))}
      isReady={reason.value.trim() !== ''}
      onSubmit={submit}
      onClose={onClose}
    >
      <Field label={words.column.reason} entry={reason} required maxLength={textLengths.reason} />
    </ActionDialog>
  );
}
