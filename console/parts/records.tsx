/** Records of one kind as a table, with what can be done to each of them. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren, ComponentType } from 'preact';
import { newKey } from '../api/request.ts';
import type { common } from '../text/en.ts';
import { text } from '../text/words.ts';
import { Button } from './button.tsx';
import type { EventSelection } from './changes.ts';
import type { TimedFact } from './events.tsx';
import type { Fact } from './facts.tsx';
import { lazyDialog } from './lazy.tsx';
import { MoreButton } from './menu.tsx';
import type { Sort, SortValues } from './sort.tsx';
import { Table } from './table.tsx';
import type { Toast } from './toast.ts';

const ActionDialog = lazyDialog(async () => (await import('./action-dialog.tsx')).ActionDialog);

/** Properties of a dialog that changes something. */
export interface DialogProps {
  readonly onClose: () => void;
  /** Called after the change, with what was done. */
  readonly onDone: (done?: string, undo?: Toast['undo']) => void;
}

/** Properties of a dialog about a record. */
export interface RecordDialogProps<R> extends DialogProps {
  readonly record: R;
}

/** A change of a record that is only asked about: `ask` of the words is the question. */
interface Change<R, A> {
  /** Carries it out; `key` is the Idempotency-Key. A text that it resolves with reports what was done, else `done` of the words does. */
  readonly carryOut: (record: R, key: string) => Promise<unknown>;
  readonly isDangerous?: boolean;
  readonly undo?: A;
  readonly note?: (record: R) => ComponentChildren;
}

/** An action on a record: a button in its row, which asks, opens a dialog or starts something. */
type RecordAction<R, A extends string = string> = {
  /** Absent: for all records. */
  readonly isFor?: (record: R) => boolean;
} & (
  | Change<R, A>
  | { readonly Dialog: ComponentType<RecordDialogProps<R>>; readonly isDangerous?: boolean }
  | { readonly start: (record: R) => void }
);

/** An action whose words all pages share. */
export type CommonAction = keyof typeof common.record.action;

/** The words of a table of records with the columns `C` and the actions `A`. */
export interface RecordWords<C extends string, A extends string> {
  /** Heads that no other page has. */
  readonly column?: Readonly<Record<Exclude<C, keyof typeof common.column>, string>>;
  /** Actions that are not in the words of all pages. */
  readonly action?: Readonly<Record<Exclude<A, CommonAction>, string>>;
  /** An action with the name of its record. Absent: the words of the button, and the name. */
  readonly of?: Readonly<Partial<Record<A, (name: string) => string>>>;
  /** Effect of each action that asks. */
  readonly ask?: Readonly<Partial<Record<A, string>>>;
  /** Report of a change of the record with this name. */
  readonly done?: Readonly<Partial<Record<A, (name: string) => string>>>;
}

/** A kind of records: what its table shows, and what can be done. */
export interface RecordKind<R, C extends string, A extends string> {
  readonly keyOf: (record: R) => string;
  readonly nameOf: (record: R) => string;
  /** Cells in the order of the columns. */
  readonly columns: Readonly<Record<C, (record: R) => ComponentChildren>>;
  /** The column that names the record. Absent: none is its head. */
  readonly rowHead?: NoInfer<C>;
  readonly classes?: Readonly<Partial<Record<NoInfer<C>, string>>>;
  /** What a list that is all there is sorted by. Absent: its order is that of the daemon. */
  readonly sorts?: SortValues<R, NoInfer<C>>;
  /** The column that the daemon sorts by, the newest first. */
  readonly usualSort?: NoInfer<C>;
  /** What its page and its sheet show. Absent: the cells of its row, whole, what is below them, and its history. */
  readonly Story?: ComponentType<{ readonly record: R; readonly onChanged: () => void }>;
  /** Facts for which its row has no room. */
  readonly more?: (record: R) => readonly Fact[];
  readonly Below?: ComponentType<{ readonly record: R }>;
  /** Its events by its key, also of one that was removed. */
  readonly history?: (key: string, record?: R) => EventSelection;
  /** A hook: what has a time and no event. */
  readonly useFacts?: (record: R) => readonly TimedFact[];
  /** What else its address may have instead of its key. */
  readonly aliases?: (record: R) => readonly (string | undefined)[];
  /** In the order of the buttons. */
  readonly actions: Readonly<Record<A, RecordAction<R, NoInfer<A>>>>;
}

/** Properties of a table of records. */
export interface RecordTableProps<R, C extends string, A extends string> {
  readonly title: string;
  readonly kind: RecordKind<R, C, A>;
  readonly words: RecordWords<NoInfer<C>, NoInfer<A>>;
  readonly records: readonly R[];
  readonly sort?: Sort;
  /** Shown if there are none. Shown instead of a table without rows. Absent: the table shows only its head. */
  readonly none?: string;
  /** Called after a change by a dialog. */
  readonly onDone?: DialogProps['onDone'];
  /** Called for a record that is to be shown at the side, with its place. Absent: none can be. */
  readonly onPeek?: (at: number) => void;
  /** The key of the record that is. */
  readonly peeked?: string | null;
}

/** Actions on records of a kind, and the dialog of the chosen one. */
export function useRecordActions<R, C extends string, A extends string>(
  kind: RecordKind<R, C, A>,
  words: RecordWords<C, A>,
  onDone: DialogProps['onDone'],
) {
  /** Another one for each click: a dialog that could not be loaded is loaded again. */
  const asked = useSignal<{ readonly name: A; readonly record: R } | null>(null);
  const actions = Object.entries(kind.actions) as [A, RecordAction<R, A>][];
  const offered = (record: R) => actions.filter(([, { isFor }]) => isFor?.(record) ?? true);
  const itemsOf = (record: R) =>
    offered(record).map(([name, action]) => ({
      words: actionOf(words, name),
      name: titleOf(words, name, kind.nameOf(record)),
      isDangerous: 'isDangerous' in action && action.isDangerous === true,
      onChoose() {
        if ('start' in action) action.start(record);
        else asked.value = { name, record };
      },
    }));
  /** A button for the one action of a kind, else a menu. */
  const control = (record: R, menuClass = '', onPeek?: () => void) =>
    actions.length !== 1 ? (
      <MoreButton
        of={kind.nameOf(record)}
        groups={[{ items: itemsOf(record) }, { items: onPeek ? [{ words: text.common.peek, onChoose: onPeek }] : [] }]}
        class={menuClass}
      />
    ) : (
      itemsOf(record).map(({ words: each, name, onChoose }) => (
        <Button key={name} words={each} aria-label={name} onClick={onChoose} />
      ))
    );
  const dialog = asked.value && (
    <RecordDialog
      key={asked.value}
      {...asked.value}
      kind={kind}
      words={words}
      onClose={() => (asked.value = null)}
      onDone={onDone}
    />
  );
  return { offered, itemsOf, control, dialog };
}

/** The table of records, and the dialog of the action that was chosen. */
export function RecordTable<R, C extends string, A extends string>(props: RecordTableProps<R, C, A>) {
  const { title, kind, words, records, sort, none, onDone = () => {}, onPeek, peeked } = props;
  const { offered, control, dialog } = useRecordActions(kind, words, onDone);
  // The dialog stays: its record may have gone while it was open.
  if (none !== undefined && records.length === 0)
    return (
      <>
        <p class="hint">{none}</p>
        {dialog}
      </>
    );
  const hasNone = Object.keys(kind.actions).length === 0;
  const hasActions = (hasNone && onPeek) || records.some(record => offered(record).length > 0);
  return (
    <>
      <Table
        title={title}
        heads={{ ...words.column, actions: text.common.actions }}
        columns={{
          ...kind.columns,
          ...(hasActions && {
            actions: (record: R) => control(record, 'plain', onPeek && (() => onPeek(records.indexOf(record)))),
          }),
        }}
        {...(onPeek && { isPresent: (record: R) => kind.keyOf(record) === peeked })}
        {...(kind.rowHead && { rowHead: kind.rowHead })}
        classes={{ ...kind.classes, actions: 'row-actions' }}
        {...(sort && { sort })}
        rows={records}
        keyOf={kind.keyOf}
        isOneLine
      />
      {dialog}
    </>
  );
}

type WordsOfActions<A extends string> = Pick<RecordWords<string, A>, 'action' | 'done' | 'of'>;

/** The words of a page, else those of all pages. */
const actionOf = <A extends string>({ action }: WordsOfActions<A>, name: A): string => {
  const all: Readonly<Record<string, string>> = { ...text.record.action, ...action };
  return all[name] ?? '';
};

const doneWords = <A extends string>(
  { done }: WordsOfActions<A>,
  name: A,
): ((record: string) => string) | undefined => {
  const all: Readonly<Record<string, (record: string) => string>> = { ...text.record.done, ...done };
  return all[name];
};

const titleOf = <A extends string>(words: WordsOfActions<A>, name: A, record: string): string =>
  words.of?.[name]?.(record) ?? text.common.of(actionOf(words, name), record);

interface ChosenActionProps<R, C extends string, A extends string> extends RecordDialogProps<R> {
  readonly name: A;
  readonly kind: RecordKind<R, C, A>;
  readonly words: RecordWords<C, A>;
}

function RecordDialog<R, C extends string, A extends string>(props: ChosenActionProps<R, C, A>) {
  const { name, kind, words, record, onClose, onDone } = props;
  const action = kind.actions[name];
  if ('Dialog' in action) return <action.Dialog record={record} onClose={onClose} onDone={onDone} />;
  if ('start' in action) return null;
  const doneOf = (each: A) => doneWords(words, each)?.(kind.nameOf(record));
  const revert = async (undo: A) => {
    const reverting = kind.actions[undo];
    if ('carryOut' in reverting) await reverting.carryOut(record, newKey());
    onDone();
    return doneOf(undo) ?? '';
  };
  const carryOut = async (key: string) => {
    const done = await action.carryOut(record, key);
    onDone(typeof done === 'string' ? done : doneOf(name), action.undo && (() => revert(action.undo as A)));
  };
  const note = action.note?.(record);
  return (
    <ActionDialog
      title={titleOf(words, name, kind.nameOf(record))}
      submit={actionOf(words, name)}
      isDangerous={action.isDangerous ?? false}
      onSubmit={carryOut}
      onClose={onClose}
    >
      <p>{words.ask?.[name]}</p>
      {note && <p>{note}</p>}
    </ActionDialog>
  );
}
