/** Records of one kind as a table, with what can be done to each of them. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren, ComponentType } from 'preact';
import { text } from '../text/text.ts';
import { Table } from './table.tsx';

/** What a dialog that changes something is given. */
export interface DialogProps {
  readonly onClose: () => void;
  /** Called after the change, with what was done. */
  readonly onDone: (done?: string) => void;
}

/** What a dialog about a record is given. */
export interface RecordDialogProps<R> extends DialogProps {
  readonly record: R;
}

/** An action on a record: a button in its row, which opens a dialog or starts something. */
export type RecordAction<R> = {
  /** Absent: for all records. */
  readonly isFor?: (record: R) => boolean;
} & ({ readonly Dialog: ComponentType<RecordDialogProps<R>> } | { readonly start: (record: R) => void });

/** The words of a table of records with the columns `C` and the actions `A`. */
export interface RecordWords<C extends string, A extends string> {
  readonly title: string;
  readonly column: Readonly<Record<C, string>>;
  /** The words of each button. */
  readonly action: Readonly<Record<A, string>>;
  /** Each action with the name of its record. */
  readonly of: Readonly<Record<A, (name: string) => string>>;
}

/** A kind of records: what its table shows, and what can be done. */
export interface RecordKind<R, C extends string, A extends string> {
  readonly keyOf: (record: R) => string;
  readonly nameOf: (record: R) => string;
  /** What each column shows, in the order of the columns. */
  readonly columns: Readonly<Record<C, (record: R) => ComponentChildren>>;
  /** The column that names the record. Absent: none is its head. */
  readonly rowHead?: NoInfer<C>;
  readonly classes?: Readonly<Partial<Record<NoInfer<C>, string>>>;
  /** In the order of the buttons. */
  readonly actions: Readonly<Record<A, RecordAction<R>>>;
}

interface RecordTableProps<R, C extends string, A extends string> {
  readonly kind: RecordKind<R, C, A>;
  readonly words: RecordWords<NoInfer<C>, NoInfer<A>>;
  readonly records: readonly R[];
  /** Called after a change by a dialog. */
  readonly onDone?: DialogProps['onDone'];
}

/** The table of records, and the dialog of the action that was chosen. */
export function RecordTable<R, C extends string, A extends string>(props: RecordTableProps<R, C, A>) {
  const { kind, words, records, onDone = () => {} } = props;
  const asked = useSignal<{ readonly record: R; readonly Dialog: ComponentType<RecordDialogProps<R>> } | null>(null);
  const { record, Dialog } = asked.value ?? {};
  const choose = (action: RecordAction<R>, chosen: R) => {
    if ('start' in action) action.start(chosen);
    else asked.value = { record: chosen, Dialog: action.Dialog };
  };
  const actions = Object.entries(kind.actions) as [A, RecordAction<R>][];
  const offered = (record: R) => actions.filter(([, { isFor }]) => isFor?.(record) ?? true);
  const buttons = (record: R) =>
    offered(record).map(([name, action]) => (
      <button
        key={name}
        type="button"
        aria-label={words.of[name](kind.nameOf(record))}
        onClick={() => choose(action, record)}
      >
        {words.action[name]}
      </button>
    ));
  const hasActions = records.some(record => offered(record).length > 0);
  return (
    <>
      <Table
        title={words.title}
        heads={{ ...words.column, actions: text.value.common.actions }}
        columns={{ ...kind.columns, ...(hasActions && { actions: buttons }) }}
        {...(kind.rowHead && { rowHead: kind.rowHead })}
        classes={{ ...kind.classes, actions: 'row-actions' }}
        rows={records}
        keyOf={kind.keyOf}
        isOneLine
      />
      {Dialog && record !== undefined && (
        // Each click is another appearance: a dialog that could not be loaded is loaded again.
        <Dialog key={asked.value} record={record} onClose={() => (asked.value = null)} onDone={onDone} />
      )}
    </>
  );
}
