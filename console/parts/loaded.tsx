/** What a page shows of data that it loads. */
import type { ComponentChildren } from 'preact';
import type { Resource } from '../api/resource.ts';
import { text } from '../text/text.ts';
import { ProblemNotice } from './problem.tsx';

interface LoadedProps<T> {
  readonly from: Pick<Resource<T>, 'data' | 'problem' | 'reload'>;
  readonly children: (data: T) => ComponentChildren;
}

/** The data that was loaded last, or that it is on its way; above it why the last request failed. */
export function Loaded<T>({ from: { data, problem, reload }, children }: LoadedProps<T>) {
  return (
    <>
      <ProblemNotice problem={problem.value} retry={reload} />
      {data.value === undefined
        ? !problem.value && <p role="status">{text.value.common.loading}</p>
        : children(data.value)}
    </>
  );
}
