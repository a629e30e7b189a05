/** The line above the list: what is selected, what can be done with it, and the export of what the list shows, on all its pages. */
import { type ReadonlySignal, useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { type ExportFormat, exportFormats } from '../../../src/contract/values.ts';
import { useAction } from '../../api/action.ts';
import { open } from '../../api/request.ts';
import { mayChange } from '../../api/session.ts';
import { Button } from '../../parts/button.tsx';
import { ProblemNotice } from '../../parts/problem.tsx';
import { text, devices as words } from '../../text/words.ts';
import { type DeviceList, filterOf } from './query.ts';
import { type BulkName, bulkNames, type DeviceSelection } from './selection.ts';

function selectedOrTotal({ pagination: { total } }: DeviceList, selection: DeviceSelection): string {
  if (selection.all.value) return words.allSelected(total);
  return selection.size.value ? words.selected(selection.size.value, total) : text.common.devices(total);
}

/** Height of the bar of one line, which the style sheet assumes. */
const BAR = '48px';

interface BarProps {
  readonly list: DeviceList;
  readonly query: ReadonlySignal<URLSearchParams>;
  readonly selection: DeviceSelection;
  /** Number of devices that have changed and are not shown. */
  readonly changes: ReadonlySignal<number>;
  readonly show: () => void;
  readonly onChoose: (name: BulkName) => void;
}

/** The number of devices, and what can be done with those that are selected; without a selection, their export. */
export function Bar({ list, query, selection, changes, show, onChoose }: BarProps) {
  const bar = useRef<HTMLDivElement>(null);
  // The head of the table stays below the bar, which has as many lines as its buttons need. Cards have no head.
  useLayoutEffect(() => {
    const { style } = document.documentElement;
    const observer = new ResizeObserver(([entry]) => {
      const size = `${entry?.borderBoxSize[0]?.blockSize ?? 0}px`;
      // Every element of the page gets its style again.
      if (innerWidth >= 640 && size !== (style.getPropertyValue('--list-bar') || BAR))
        style.setProperty('--list-bar', size);
    });
    if (bar.current) observer.observe(bar.current);
    return () => observer.disconnect();
  }, []);
  return (
    <div ref={bar} class="bar list-bar">
      <p role="status">{selectedOrTotal(list, selection)}</p>
      {changes.value > 0 && <Button words={words.changes(changes.value)} onClick={show} />}
      {mayChange.value && selection.count(list) > 0 ? (
        <SelectionActions list={list} selection={selection} onChoose={onChoose} />
      ) : (
        <ExportButtons query={query} />
      )}
    </div>
  );
}

function SelectionActions({ list, selection, onChoose }: Pick<BarProps, 'list' | 'selection' | 'onChoose'>) {
  const { total } = list.pagination;
  return (
    <>
      {!selection.all.value && selection.size.value < total && (
        <Button words={words.selectAll(total)} onClick={() => selection.selectAll()} />
      )}
      <Button words={words.clear} onClick={() => selection.clear()} />
      {bulkNames.map(name => (
        <Button
          key={name}
          words={`${text.action[name]} …`}
          class={name === 'DEACTIVATE' ? 'danger' : ''}
          onClick={() => onChoose(name)}
        />
      ))}
    </>
  );
}

function ExportButtons({ query }: { readonly query: ReadonlySignal<URLSearchParams> }) {
  const { busy, problem, run } = useAction();
  const exported = useSignal<ExportFormat | null>(null);
  const save = (format: ExportFormat) => {
    exported.value = format;
    const filter = filterOf(query.peek());
    return run(async () => {
      const { saveResponse } = await import('../../parts/save.ts');
      await saveResponse(`devices.${format}`, () => open('exportDevices', { query: { ...filter, format } }));
    });
  };
  return (
    <>
      {exportFormats.map(format => (
        <Button
          key={format}
          words={busy.value && exported.value === format ? words.exporting : words.export(format.toUpperCase())}
          disabled={busy.value}
          onClick={() => void save(format)}
        />
      ))}
      <ProblemNotice problem={problem.value} />
    </>
  );
}
