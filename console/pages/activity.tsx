/** All events that the stream carries, the newest first. */
import { useSignal, useSignalEffect } from '@preact/signals';
import { useLayoutEffect, useMemo } from 'preact/hooks';
import type { Notification } from '../../src/contract/events.ts';
import { journalEventTypes } from '../../src/contract/values.ts';
import { useAction } from '../api/action.ts';
import { call } from '../api/request.ts';
import { onEvents, recent } from '../api/stream.ts';
import { EventList } from '../parts/events.tsx';
import { CheckBoxes } from '../parts/inputs.tsx';
import { ProblemNotice } from '../parts/problem.tsx';
import { go, linkTo, place } from '../router.ts';
import { dictionary, text } from '../text/text.ts';

const activityWords = dictionary('activity');

/** Earlier events that one request fetches. */
const PAGE = 100;
/** Events that stay on the page while new ones arrive. */
const MOST = 1000;

/** The events of the journal: the newest as they happen, earlier ones on demand. The types to show are in the address. */
export function ActivityPage() {
  const words = activityWords.value;
  const types = place.value.query.get('types') ?? '';
  return (
    <>
      <h1>{words.title}</h1>
      <TypeFilter types={types} />
      <Events key={types} types={types} />
    </>
  );
}

function TypeFilter({ types }: { readonly types: string }) {
  return (
    <CheckBoxes
      label={activityWords.value.types}
      values={journalEventTypes}
      chosen={types.split(',')}
      wordOf={type => text.value.event[type]}
      onChoose={chosen => go(linkTo('activity', { types: chosen.join(',') }), true)}
    />
  );
}

/** The events of some types: the newest as they happen, earlier ones on demand. */
function useEvents(types: string) {
  const isShown = useMemo(() => shownBy(types), [types]);
  const events = useSignal(recent.peek().filter(isShown));
  /** Lowest id that was read; null before the first events have arrived. */
  const lowest = useSignal(recent.peek().at(-1)?.id ?? null);
  // The first events may come after the page.
  useSignalEffect(() => {
    if (lowest.peek() !== null || !recent.value.length) return;
    lowest.value = recent.value.at(-1)?.id ?? null;
    events.value = recent.value.filter(isShown);
  });
  // Before the next task: an event between the first drawing and this would be in neither.
  useLayoutEffect(
    () =>
      onEvents(arrived => {
        const added = arrived.filter(event => event.id !== undefined && isShown(event)).reverse();
        if (!added.length || lowest.peek() === null) return;
        const all = [...added, ...events.peek()];
        if (all.length > MOST) lowest.value = all[MOST - 1]?.id ?? null;
        events.value = all.slice(0, MOST);
      }),
    [events, isShown, lowest],
  );
  const readEarlier = async () => {
    const before = lowest.value ?? Number.MAX_SAFE_INTEGER;
    const { list } = await call('listEvents', { query: { before, limit: PAGE, ...(types && { types }) } });
    const earlier = list as readonly Notification[];
    events.value = [...events.value, ...earlier];
    lowest.value = earlier.length < PAGE ? 1 : (earlier.at(-1)?.id ?? 1);
  };
  return { events, lowest, readEarlier };
}

function Events({ types }: { readonly types: string }) {
  const words = activityWords.value;
  const { events, lowest, readEarlier } = useEvents(types);
  const { busy, problem, run } = useAction();
  return (
    <>
      <EventList events={events.value} />
      <ProblemNotice problem={problem.value} />
      {lowest.value === 1 ? (
        <p class="hint">{words.whole}</p>
      ) : (
        <button type="button" onClick={() => void run(readEarlier)} disabled={busy.value}>
          {words.earlier}
        </button>
      )}
    </>
  );
}

function shownBy(types: string): (event: Notification) => boolean {
  const chosen = new Set(types.split(',').filter(Boolean));
  return ({ type }) => chosen.size === 0 || chosen.has(type);
}
