/** A record of any list at the side of it, with what can be done to it. */
import { capitalized } from '../text/text.ts';
import { text } from '../text/words.ts';
import { Button } from './button.tsx';
import { FactList } from './facts.tsx';
import { type RecordKind, type RecordWords, useRecordActions } from './records.tsx';
import { Sheet, type SheetProps } from './sheet.tsx';
import type { Toast } from './toast.ts';

interface RecordSheetProps extends Pick<SheetProps, 'onStep' | 'onClose'> {
  // biome-ignore lint/suspicious/noExplicitAny: a component that is loaded later has no type parameters
  readonly record: any;
  // biome-ignore lint/suspicious/noExplicitAny: as its record
  readonly kind: RecordKind<any, string, string>;
  readonly words: RecordWords<string, string>;
  readonly onDone?: (done?: string, undo?: Toast['undo']) => void;
  readonly onChanged: () => void;
}

/** What its page shows if it has one, else the cells of its row, whole. */
export function RecordSheet({ record, kind, words, onDone = () => {}, onChanged, onStep, onClose }: RecordSheetProps) {
  const { itemsOf, dialog } = useRecordActions(kind, words, onDone);
  const { keyOf, nameOf, columns, rowHead = '', Story } = kind;
  const heads: Readonly<Record<string, string>> = { ...text.column, ...words.column };
  const cells = Object.entries(columns).filter(([name]) => name !== rowHead);
  return (
    <Sheet title={columns[rowHead]?.(record) ?? nameOf(record)} onStep={onStep} onClose={onClose}>
      <div class="bar">
        {itemsOf(record).map(({ words: each, isDangerous, onChoose }) => (
          <Button key={each} words={`${each} …`} class={isDangerous ? 'danger' : ''} onClick={onChoose} />
        ))}
      </div>
      {Story ? (
        <Story key={keyOf(record)} record={record} onChanged={onChanged} />
      ) : (
        <div class="cards">
          <section>
            <FactList facts={cells.map(([name, cell]) => [capitalized(heads[name] ?? ''), cell(record)])} />
          </section>
        </div>
      )}
      {dialog}
    </Sheet>
  );
}
