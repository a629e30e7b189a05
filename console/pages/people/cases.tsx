/** Cases of persons who have left: what they still have, with what is to be done next. */

import type { LeaverCase } from '../../../src/contract/cases.ts';
import type { DataOf } from '../../../src/contract/define.ts';
import { textLengths } from '../../../src/contract/limits.ts';
import type { Routes } from '../../../src/contract/routes.ts';
import { useRefresh } from '../../api/live.ts';
import { Problem } from '../../api/problem.ts';
import { call } from '../../api/request.ts';
import { useResource } from '../../api/resource.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { DialogButton } from '../../parts/button.tsx';
import { Field, useEntries } from '../../parts/field.tsx';
import { Back, RecordLink } from '../../parts/item.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Pager, pageIn } from '../../parts/pager.tsx';
import { type DialogProps, type RecordDialogProps, type RecordKind, RecordTable } from '../../parts/records.tsx';
import { Moment } from '../../parts/time.tsx';
import { reporting } from '../../parts/toast.ts';
import { linkTo, place } from '../../router.ts';
import type { PageName } from '../../text/en.ts';
import { moment } from '../../text/numbers.ts';
import { people, text } from '../../text/words.ts';
import { isOfPersons } from './states.ts';

type CaseItem = LeaverCase['items'][number];
type ListedCase = DataOf<Routes['listCases']>['list'][number];

const words = people.case;
const itemName = ({ kind, id }: Pick<CaseItem, 'kind' | 'id'>) => `${words.kind[kind]} ${id}`;
/** Pages of what a person who has left may still have. */
const itemPages: Readonly<Record<string, PageName>> = { device: 'devices', account: 'users', token: 'tokens' };

function CaseItemName({ item }: { readonly item: Pick<CaseItem, 'kind' | 'id'> }) {
  const page = itemPages[item.kind];
  return page ? <RecordLink page={page} id={item.id} name={itemName(item)} /> : itemName(item);
}

/** A person has written that of a kept item. */
const reasonOf = ({ state, reason }: CaseItem) =>
  state === 'kept'
    ? reason
    : ((text.status as Readonly<Record<string, string>>)[`${reason}`] ?? words.reason(`${reason}`));

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
    next: ({ next }) => (next ? <CaseItemName item={next} /> : people.cases.action.close),
  },
  rowHead: 'userName',
  classes: { open: 'number', kept: 'number' },
  actions: {
    close: { carryOut: ({ personId }, key) => closing(personId, key), isFor: ({ open }) => open === 0 },
  },
};

/** The open cases, the oldest first. */
export function CasesPage() {
  const cases = useResource(signal => call('listCases', { query: pageIn(place.value.query) }, { signal }));
  useRefresh(cases.reload, () => true);
  return (
    <>
      <Back to="people" words={people.back} />
      <h1>{people.cases.title}</h1>
      <p class="hint">{people.cases.hint}</p>
      <Loaded from={cases}>
        {({ list, pagination }) => (
          <>
            {list.length === 0 && <p>{people.cases.none}</p>}
            {list.length > 0 && (
              <RecordTable
                title={people.cases.title}
                kind={listed}
                words={people.cases}
                records={list}
                onDone={reporting(cases.reload)}
              />
            )}
            <Pager page={pagination.page} totalPages={pagination.totalPages} to={page => linkTo('cases', { page })} />
          </>
        )}
      </Loaded>
    </>
  );
}

/** A link to the open cases, with their number once it is known: what is below does not move. */
export function OpenCases() {
  const cases = useResource(signal => call('listCases', { query: { size: 1 } }, { signal }));
  useRefresh(cases.reload, isOfPersons);
  const total = cases.data.value?.pagination.total;
  return (
    <p>
      <a href={linkTo('cases')}>
        {people.cases.title}
        {total !== undefined && `: ${total}`}
      </a>
    </p>
  );
}

/** Null of a person who left before there were cases. */
export const readCase = (personId: string, signal: AbortSignal): Promise<LeaverCase | null> =>
  call('showCase', { params: { personId } }, { signal }).catch(problem => {
    if (problem instanceof Problem && problem.code === 404) return null;
    throw problem;
  });

/** The case of a person who has left, with what can be done about each item. */
export const PersonCase = (props: ItemsProps) => (
  <section>
    <h2>{words.title}</h2>
    <Items {...props} />
  </section>
);

interface ItemsProps extends Pick<DialogProps, 'onDone'> {
  readonly personId: string;
  readonly known: LeaverCase;
}

function Items({ personId, known: { closed, items }, onDone }: ItemsProps) {
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
        <ul class="events">
          {items.map(item => (
            <li key={itemName(item)}>
              <CaseItemName item={item} />
              <span>
                {words.states[item.state]} {item.reason && `· ${reasonOf(item)}`}
              </span>
              {closed === null && item.state !== 'closed' && (
                <DialogButton
                  words={words.keep(itemName(item))}
                  dialog={onClose => <Keep record={item} personId={personId} onClose={onClose} onDone={onDone} />}
                />
              )}
            </li>
          ))}
        </ul>
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
      title={words.keep(itemName(record))}
      isReady={reason.value.trim() !== ''}
      onSubmit={submit}
      onClose={onClose}
    >
      <Field label={words.why} entry={reason} required maxLength={textLengths.reason} />
    </ActionDialog>
  );
}
