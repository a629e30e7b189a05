/** What has happened to a record, in one list. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Notification } from '../../src/contract/events.ts';
import { eventPage } from '../../src/contract/limits.ts';
import { useAction } from '../api/action.ts';
import { call } from '../api/request.ts';
import { onEvents } from '../api/stream.ts';
import { text } from '../text/words.ts';
import { Button } from './button.tsx';
import type { EventSelection } from './changes.ts';
import { EventList, merged, type TimedFact } from './events.tsx';
import { ProblemNotice } from './problem.tsx';

interface HistoryProps extends EventSelection {
  /** Its newest events, if they are at hand: as many as `limit`, unless there are no others. */
  readonly newest?: readonly Notification[];
  /** Events that one request fetches. */
  readonly limit?: number;
  readonly facts?: readonly TimedFact[];
}

/** The event that was read last is null after the first one of the journal, and undefined before anything was read. */
function useHistory({ query, isAbout, newest, limit = eventPage.max }: HistoryProps) {
  const lastOf = (list: readonly Notification[]) => (list.length === limit ? (list.at(-1) ?? null) : null);
  const events = useSignal(newest ?? []);
  const last = useSignal(newest && lastOf(newest));
  const { busy, problem, run } = useAction();
  const add = (more: readonly Notification[]) => (events.value = merged(events.peek(), more));
  const readOlder = () =>
    run(async () => {
      const before = last.peek()?.id ?? Number.MAX_SAFE_INTEGER;
      const list = (await call('listEvents', { query: { ...query, before, limit } })).list as readonly Notification[];
      add(list.filter(isAbout));
      last.value = lastOf(list);
    });
  useEffect(() => void (newest ? add(newest) : readOlder()), [newest]);
  useEffect(() => onEvents(arrived => add(arrived.filter(event => event.id !== undefined && isAbout(event)))), []);
  return { events, last, busy, problem, readOlder };
}

/** The events of a record, which the page names, and what has a time without one. */
export function History({ facts = [], ...selection }: HistoryProps) {
  const { events, last, busy, problem, readOlder } = useHistory(selection);
  const since = last.value === null ? 0 : Date.parse(last.value?.timestamp ?? '');
  const shown = facts.filter(({ at }) => Date.parse(at) >= since);
  return (
    <section>
      <h2>{text.history.title}</h2>
      {events.value.length + shown.length > 0 && <EventList events={events.value} isOfRecord facts={shown} />}
      {busy.value && <p role="status">{text.common.loading}</p>}
      {last.value === null && <p class="hint">{text.history.begin}</p>}
      <ProblemNotice problem={problem.value} />
      {last.value !== null && (
        <Button words={text.history.older} disabled={busy.value} onClick={() => void readOlder()} />
      )}
    </section>
  );
}
