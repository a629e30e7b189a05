/** All events that the stream carries, the newest first. */
import { useSignal, useSignalEffect } from '@preact/signals';
import { useEffect, useLayoutEffect, useMemo } from 'preact/hooks';
import { administrationEventTypes } from '../../src/contract/administration-events.ts';
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
import { toast } from '../parts/toast.ts';
import { go, linkTo, place } from '../router.ts';
import { dayOf } from '../text/numbers.ts';
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

/** The kinds of types: those of administration are for an administrator. */
const kindsOf = () => [
  ['devices', journalEventTypes] as const,
  ...(isAdmin.value ? [['administration', administrationEventTypes] as const] : []),
];

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
  const chosen = search.types.split(',').filter(Boolean);
  const shownKind = kindsOf().find(([, values]) => values.join() === search.types)?.[0] ?? '';
  const offered = (['deviceId', 'actor', 'from', 'to'] as const).filter(name => name === 'deviceId' || isAdmin.value);
  return (
    <div class="tools">
      {isAdmin.value && (
        <label class="field">
          {words.show}
          <select
            value={shownKind}
            onChange={event => {
              const kind = event.currentTarget.value;
              change({
                types:
                  kindsOf()
                    .find(([name]) => name === kind)?.[1]
                    .join() ?? '',
              });
            }}
          >
            <option value="">{words.all}</option>
            {kindsOf().map(([kind]) => (
              <option key={kind} value={kind}>
                {words.kinds[kind]}
              </option>
            ))}
          </select>
        </label>
      )}
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
            {kindsOf().map(([kind, values]) => (
              <CheckBoxes
                key={kind}
                label={words.kinds[kind]}
                values={values}
                value={chosen.filter(type => (values as readonly string[]).includes(type))}
                words={labels(text.event)}
                onChange={some =>
                  change({
                    types: [...chosen.filter(type => !(values as readonly string[]).includes(type)), ...some].join(','),
                  })
                }
              />
            ))}
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

function queryOf({ types, deviceId, actor, from, to }: EventSearch): object {
  const given = { types, deviceId, actor, from: momentOf(from), to: momentOf(to, 1) };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value));
}

/** The events of each local day, in the given order. */
function daysOf(events: readonly Notification[]): readonly (readonly [day: string, events: readonly Notification[]])[] {
  const days = new Map<string, Notification[]>();
  for (const event of events) {
    const day = dayOf(event.timestamp);
    const some = days.get(day) ?? [];
    some.push(event);
    days.set(day, some);
  }
  return [...days];
}

/** The events that a search selects: the newest as they happen, earlier ones on demand. */
function useEvents(search: EventSearch) {
  const isShown = useMemo(() => shownBy(search), []);
  const { deviceId, actor, from, to } = search;
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
    const { list } = await call('listEvents', { query: { before, limit: PAGE, ...queryOf(search) } });
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
  const saveAll = async () => {
    const { exportEvents } = await import('./activity-export.ts');
    const { count, hasMore } = await exportEvents(queryOf(search));
    toast(words.exported(count, hasMore));
  };
  useEffect(() => {
    if (!isAtHand) void run(readEarlier);
  }, []);
  return (
    <>
      <Button words={words.export} onClick={() => void run(saveAll)} disabled={busy.value} />
      {events.value.length === 0 && !busy.value && <EventList events={[]} />}
      {daysOf(events.value).map(([day, some]) => (
        <section key={day} class="day">
          <h2>{day}</h2>
          <EventList events={some} />
        </section>
      ))}
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
