/** The export of the devices that the list shows, on all its pages. */

import { type ReadonlySignal, useSignal } from '@preact/signals';
import { type ExportFormat, exportFormats } from '../../../src/contract/values.ts';
import { useAction } from '../../api/action.ts';
import { open } from '../../api/request.ts';
import { ProblemNotice } from '../../parts/problem.tsx';
import { dictionary } from '../../text/text.ts';
import { filterOf } from './query.ts';

const listWords = dictionary('devices');

/** A button for each format. */
export function ExportButtons({ query }: { readonly query: ReadonlySignal<URLSearchParams> }) {
  const words = listWords.value;
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
        <button key={format} type="button" disabled={busy.value} onClick={() => void save(format)}>
          {busy.value && exported.value === format ? words.exporting : words.export(format.toUpperCase())}
        </button>
      ))}
      <ProblemNotice problem={problem.value} />
    </>
  );
}
