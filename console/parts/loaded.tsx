/** State of loaded data on a page. */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Resource } from '../api/resource.ts';
import { text } from '../text/words.ts';
import { ProblemNotice } from './problem.tsx';

interface LoadedProps<T> {
  readonly from: Resource<T>;
  readonly children: (data: T) => ComponentChildren;
}

/** The data that was loaded last, or that it is on its way; above it why the last request failed. */
export const Loaded = <T,>({ from: { data, isOutdated, problem, reload }, children }: LoadedProps<T>) => (
  <>
    <ProblemNotice problem={problem.value} retry={reload} />
    {data.value === undefined ? (
      !problem.value && <p role="status">{text.common.loading}</p>
    ) : (
      <Shown isOutdated={isOutdated.value} hasFailed={problem.value !== null}>
        {children(data.value)}
      </Shown>
    )}
  </>
);

type ShownProps = Readonly<{ isOutdated: boolean; hasFailed: boolean; children: ComponentChildren }>;

/** Data of an earlier request stays to be seen, and nothing can be done with it. The focus returns when the new data is there. */
function Shown({ isOutdated, hasFailed, children }: ShownProps) {
  const ref = useRef<HTMLDivElement>(null);
  const focused = useRef<Element | null>(null);
  useLayoutEffect(() => {
    const { activeElement } = document;
    if (isOutdated) focused.current = ref.current?.contains(activeElement) ? activeElement : null;
    if (ref.current) ref.current.inert = isOutdated;
    const before = focused.current;
    if (!isOutdated && before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
    if (!isOutdated) focused.current = null;
  }, [isOutdated]);
  return (
    <div class="loaded">
      <p role="status" class="updating">
        {isOutdated && !hasFailed && text.common.updating}
      </p>
      <div ref={ref} class={isOutdated ? 'outdated' : undefined} aria-busy={isOutdated}>
        {children}
      </div>
    </div>
  );
}
