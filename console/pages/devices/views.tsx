/** Which columns the list shows, and named views: searches with their columns. The address has both; the browser keeps the names. */
import type { ReadonlySignal } from '@preact/signals';
import { Button, DialogButton } from '../../parts/button.tsx';
import { Details } from '../../parts/details.tsx';
import { deviceColumns } from '../../parts/device-columns.tsx';
import { Field, useEntries } from '../../parts/field.tsx';
import { CheckBoxes } from '../../parts/inputs.tsx';
import { lazyDialog } from '../../parts/lazy.tsx';
import { prefer, preferences } from '../../preferences.ts';
import { go, linkTo } from '../../router.ts';
import { text, devices as words } from '../../text/words.ts';
import { addressWith } from './query.ts';

const ActionDialog = lazyDialog(async () => (await import('../../parts/action-dialog.tsx')).ActionDialog);

/** The columns that can be chosen, in their order. */
const columnNames = Object.keys(deviceColumns) as ListColumn[];
/** A column of the list. */
export type ListColumn = keyof typeof deviceColumns;

/** The columns before any are chosen. */
export const usual: readonly ListColumn[] = [
  'device',
  'serial',
  'manufacturer',
  'model',
  'state',
  'user',
  'registered',
  'tags',
];

/** The columns that an address names, else those that were chosen last in this browser. */
export function columnsIn(query: URLSearchParams): readonly ListColumn[] {
  const named: readonly string[] = query.get('columns')?.split(',') ?? preferences.value.columns ?? usual;
  return columnNames.filter(name => name === 'device' || named.includes(name));
}

type ViewsProps = Readonly<{ query: ReadonlySignal<URLSearchParams> }>;

/** A box for each column but the device. */
export function Columns({ query }: ViewsProps) {
  const choose = (columns: readonly string[]) => {
    prefer(() => ({ columns }));
    go(addressWith(query.peek(), { columns: columns.join(','), page: query.peek().get('page') ?? '' }), true);
  };
  return (
    <Details summary={text.common.columns}>
      {() => (
        <CheckBoxes
          label={text.common.columns}
          values={columnNames.filter(name => name !== 'device')}
          value={columnsIn(query.value)}
          words={text.column}
          onChange={choose}
        />
      )}
    </Details>
  );
}

const othersThan = (name: string, { views = [] }: typeof preferences.value) => views.filter(view => view.name !== name);

/** Links to the views, and what can be done with the one that is shown: an unnamed one is saved, a named one is removed. */
export function Views({ query }: ViewsProps) {
  const { views = [] } = preferences.value;
  const shown = new URLSearchParams(query.value);
  shown.delete('page');
  const present = shown.toString();
  if (!views.length && !present) return null;
  const saved = views.find(view => view.query === present);
  return (
    <nav class="views" aria-label={words.views}>
      {[{ name: words.every, query: '' }, ...views].map(view => (
        <a
          key={view.name}
          class="view"
          href={linkTo('devices', new URLSearchParams(view.query))}
          aria-current={view.query === present ? 'page' : undefined}
        >
          {view.name}
        </a>
      ))}
      {saved ? (
        <Button
          words={words.removeView(saved.name)}
          class="plain"
          onClick={() => prefer(present => ({ views: othersThan(saved.name, present) }))}
        />
      ) : (
        present && (
          <DialogButton
            words={words.saveView}
            class="plain"
            dialog={onClose => <NameView query={present} onClose={onClose} />}
          />
        )
      )}
    </nav>
  );
}

/** Asks for the name of a view. A view of the same name is replaced. */
function NameView({ query, onClose }: { readonly query: string; readonly onClose: () => void }) {
  const { name } = useEntries({ name: '' });
  const save = async () => {
    const view = { name: name.value.trim(), query };
    prefer(present => ({ views: [...othersThan(view.name, present), view] }));
  };
  return (
    <ActionDialog
      title={words.saveView}
      submit={text.common.save}
      isReady={name.value.trim() !== ''}
      onSubmit={save}
      onClose={onClose}
    >
      <Field label={words.viewName} entry={name} maxLength={40} />
      <p class="hint">{words.viewHint}</p>
    </ActionDialog>
  );
}
