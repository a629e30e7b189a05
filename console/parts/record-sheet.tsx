/** A record of any list at the side of it, with what can be done to it: the parts are also those of its page. */
import { capitalized } from '../text/text.ts';
import { text } from '../text/words.ts';
import { Button } from './button.tsx';
import { FactList } from './facts.tsx';
import { History } from './history.tsx';
import { MoreButton } from './menu.tsx';
import { type DialogProps, type RecordKind, type RecordWords, useRecordActions } from './records.tsx';
import { Sheet, type SheetProps } from './sheet.tsx';

/** A record and what is known of its kind. */
export interface RecordProps {
  // biome-ignore lint/suspicious/noExplicitAny: a component that is loaded later has no type parameters
  readonly record: any;
  // biome-ignore lint/suspicious/noExplicitAny: as its record
  readonly kind: RecordKind<any, string, string>;
  readonly words: RecordWords<string, string>;
}

/** The action that comes next, and a menu with the others. The dialog stays: its record may have gone while it was open. */
export function RecordActions({ record, kind, words, onDone }: RecordProps & Pick<DialogProps, 'onDone'>) {
  const { itemsOf, dialog } = useRecordActions(kind, words, onDone);
  const [next, ...others] = record ? itemsOf(record) : [];
  const groups = [false, true].map(isEnd => ({ items: others.filter(({ isDangerous }) => isDangerous === isEnd) }));
  return (
    <>
      {next && (
        <Button words={`${next.words} …`} class={next.isDangerous ? 'danger' : 'main'} onClick={next.onChoose} />
      )}
      {record && <MoreButton of={kind.nameOf(record)} groups={groups} />}
      {dialog}
    </>
  );
}

const noFacts = () => [];

/** What is known of a record. `left`: the columns that are shown elsewhere. */
export function RecordStory({ record, kind, words, onChanged, left = [] }: StoryProps) {
  const { keyOf, columns, rowHead = '', Story, more, Below, history, useFacts = noFacts } = kind;
  const facts = useFacts(record);
  if (Story) return <Story record={record} onChanged={onChanged} />;
  const heads: Readonly<Record<string, string>> = { ...text.column, ...words.column };
  const cells = Object.entries(columns).filter(([name]) => ![rowHead, ...left].includes(name));
  return (
    <>
      <div class="cards">
        <section>
          <FactList
            facts={[
              ...cells.map(([name, cell]) => [capitalized(heads[name] ?? ''), cell(record)] as const),
              ...(more?.(record) ?? []),
            ]}
          />
        </section>
      </div>
      {Below && <Below record={record} />}
      {history && <History {...history(keyOf(record), record)} facts={facts} />}
    </>
  );
}

type StoryProps = RecordProps & { readonly onChanged: () => void; readonly left?: readonly string[] };
type RecordSheetProps = StoryProps & Partial<Pick<DialogProps, 'onDone'>> & Pick<SheetProps, 'onStep' | 'onClose'>;

/** A record at the side of its list. */
export function RecordSheet({ onDone = () => {}, onStep, onClose, ...rest }: RecordSheetProps) {
  const { record, kind } = rest;
  return (
    <Sheet title={kind.columns[kind.rowHead ?? '']?.(record) ?? kind.nameOf(record)} onStep={onStep} onClose={onClose}>
      <div class="bar">
        <RecordActions {...rest} onDone={onDone} />
      </div>
      <RecordStory key={kind.keyOf(record)} {...rest} />
    </Sheet>
  );
}
