/** All events that the stream carries, the newest first. */
import { useSignal, useSignalEffect } from '@preact/signals';
import { useEffect, useLayoutEffect, useMemo } from 'preact/hooks';
import { journalEventTypes } from '../../src/contract/event-types.ts';
import type { Notification } from '../../src/contract/events.ts';
import { useAction } from '../api/action.ts';
import { call } from '../api/request.ts';
import { isAdmin } from '../api/session.ts';
import { onEvents, recent } from '../api/stream.ts';
import { Button } from '../parts/button.tsx';
import { Details } from '../parts/details.tsx';
import { EventList, merged } from '../parts/events.tsx';
import { CheckBoxes } from '../parts/inputs.tsx';
import { ProblemNotice } from '../parts/problem.tsx';
import { go, linkTo, place } from '../router.ts';
import { labels } from '../text/text.ts';
import { text, activity as words } from '../text/words.ts';

/** Earlier events that one request fetches. */
const PAGE = 100;
/** Events that stay on the page while new ones arrive. */
const MOST = 1000;

/** Selection in the address, as text. */
interface EventSearch {
  readonly types: string;
  readonly deviceId: string;
  /** For an administrator, as are the days. */
  readonly actor: string;
  /** First and last day, in local time. */
  readonly from: string;
  readonly to: string;
}
type SearchName = keyof EventSearch;

const names: readonly SearchName[] = ['types', 'deviceId', 'actor', 'from', 'to'];

const searchIn = (query: URLSearchParams): EventSearch =>
  Object.fromEntries(names.map(name => [name, query.get(name) ?? ''])) as unknown as EventSearch;

/** The events of the journal: the newest as they happen, earlier ones on demand. What is searched for is in the address. */
export function ActivityPage() {
  const search = searchIn(place.value.query);
  return (
    <>
      <h1>{text.nav.activity}</h1>
      <SearchFields search={search} />
      <Events key={linkTo('', { ...search })} search={search} />
    </>
  );
}

function SearchFields({ search }: { readonly search: EventSearch }) {
  const change = (part: Partial<EventSearch>) => go(linkTo('activity', { ...search, ...part }), true);
  // Only at first: a person who clears the last field has not closed them.
  const isSearched = useMemo(() => names.some(name => search[name] !== ''), []);
  const offered = (['deviceId', 'actor', 'from', 'to'] as const).filter(name => name === 'deviceId' || isAdmin.value);
  return (
    <div class="tools">
      <Details summary={text.common.filters} isOpened={isSearched}>
        {() => (
          <>
            <div class="columns">
              {offered.map(name => (
                <label key={name} class="field">
                  {words.search[name]}
                  <input
                    {...(name === 'from' || name === 'to' ? { type: 'date' } : { type: 'text' })}
                    value={search[name]}
                    autocomplete="off"
                    spellcheck={false}
                    onChange={event => change({ [name]: event.currentTarget.value.trim() })}
                  />
                </label>
              ))}
            </div>
            <CheckBoxes
              label={words.types}
              values={journalEventTypes}
              value={search.types.split(',')}
              words={labels(text.event)}
              onChange={chosen => change({ types: chosen.join(',') })}
            />
          </>
        )}
      </Details>
    </div>
  );
}

/** The first moment of a local day, or of the one `later` days after it; undefined if there is none. */
function momentOf(date: string, later = 0): Date | undefined {
  const moment = new Date(`${date}T00:00`);
  moment.setDate(moment.getDate() + later);
  return date && !Number.isNaN(moment.getTime()) ? moment : undefined;
}

/** The events that a search selects: the newest as they happen, earlier ones on demand. */
function useEvents(search: EventSearch) {
  const isShown = useMemo(() => shownBy(search), []);
  const { types, deviceId, actor, from, to } = search;
  /** The newest events are at hand; those of a search are read. */
  const isAtHand = !deviceId && !actor && !from && !to;
  const events = useSignal<readonly Notification[]>(isAtHand ? recent.peek().filter(isShown) : []);
  /** Lowest id that was read; null before the first events have arrived. */
  const lowest = useSignal(isAtHand ? (recent.peek().at(-1)?.id ?? null) : Number.MAX_SAFE_INTEGER);
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
    const given = { types, deviceId, actor, from: momentOf(from), to: momentOf(to, 1) };
    const query = Object.fromEntries(Object.entries(given).filter(([, value]) => value));
    const { list } = await call('listEvents', { query: { before, limit: PAGE, ...query } });
    const earlier = list as readonly Notification[];
    // One that arrived during the first request may be in its response, too.
    events.value = merged(events.value, earlier);
    lowest.value = earlier.length < PAGE ? 1 : (earlier.at(-1)?.id ?? 1);
  };
  return { events, lowest, readEarlier, isAtHand };
}

function Events({ search }: { readonly search: EventSearch }) {
  const { events, lowest, readEarlier, isAtHand } = useEvents(search);
  const { busy, problem, run } = useAction();
  useEffect(() => {
    if (!isAtHand) void run(readEarlier);
  }, []);
  return (
    <>
      {(events.value.length > 0 || !busy.value) && <EventList events={events.value} />}
      <ProblemNotice problem={problem.value} />
      {lowest.value === 1 ? (
        <p class="hint">{words.whole}</p>
      ) : (
        <Button words={words.earlier} onClick={() => void run(readEarlier)} disabled={busy.value} />
      )}
    </>
  );
}

function shownBy({ types, deviceId, actor, from, to }: EventSearch): (event: Notification) => boolean {
  const chosen = new Set(types.split(',').filter(Boolean));
  const [begin, end] = [momentOf(from), momentOf(to, 1)];
  return event =>
    (chosen.size === 0 || chosen.has(event.type)) &&
    (!deviceId || event.data.deviceId === deviceId) &&
    (!actor || event.actor?.name === actor) &&
    (!begin || new Date(event.timestamp) >= begin) &&
    (!end || new Date(event.timestamp) < end);
}
