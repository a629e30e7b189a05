/** The export of the devices that the list shows, on all its pages. */

import { type ReadonlySignal, useSignal } from '@preact/signals';
import { type ExportFormat, exportFormats } from '../../../src/contract/values.ts';
import { type Problem, problemOf } from '../../api/problem.ts';
import { open } from '../../api/request.ts';
import { ProblemNotice } from '../../parts/problem.tsx';
import { saveResponse } from '../../parts/save.ts';
import { filterOf } from './query.ts';
import { listWords } from './words.ts';

/** A button for each format. */
export function ExportButtons({ query }: { readonly query: ReadonlySignal<URLSearchParams> }) {
  const words = listWords.value;
  const busy = useSignal<ExportFormat | null>(null);
  const problem = useSignal<Problem | null>(null);
  const run = async (format: ExportFormat) => {
    busy.value = format;
    problem.value = null;
    try {
      const filter = filterOf(query.peek());
      await saveResponse(`devices.${format}`, () => open('exportDevices', { query: { ...filter, format } }));
    } catch (error) {
      problem.value = problemOf(error);
    }
    busy.value = null;
  };
  return (
    <>
      {exportFormats.map(format => (
        <button key={format} type="button" disabled={busy.value !== null} onClick={() => void run(format)}>
          {busy.value === format ? words.exporting : words.export(format.toUpperCase())}
        </button>
      ))}
      <ProblemNotice problem={problem.value} />
    </>
  );
}
