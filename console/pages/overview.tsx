/** All devices at a glance. */
import { call } from '../api/request.ts';
import { useResource } from '../api/resource.ts';
import { recent } from '../api/stream.ts';
import { EventList } from '../parts/events.tsx';
import { ProblemNotice } from '../parts/problem.tsx';
import { text } from '../text/text.ts';

/** How many of the newest events the page shows. */
const SHOWN = 20;

/** Figures about all devices, and the newest events as they happen. */
export function OverviewPage() {
  const words = text.value.overview;
  const { data, problem, reload } = useResource(signal => call('statistics', {}, { signal }));
  const figures = data.value;
  return (
    <>
      <h1>{words.title}</h1>
      <ProblemNotice problem={problem.value} retry={reload} />
      {figures && <p class="total">{words.total(figures.total)}</p>}
      <section>
        <h2>{words.newest}</h2>
        <EventList events={recent.value.slice(0, SHOWN)} />
      </section>
    </>
  );
}
