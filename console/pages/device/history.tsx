/** The events of a device. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Notification } from '../../../src/contract/events.ts';
import { useAction } from '../../api/action.ts';
import { call } from '../../api/request.ts';
import { onEvents } from '../../api/stream.ts';
import { Button } from '../../parts/button.tsx';
import { EventList, merged } from '../../parts/events.tsx';
import { ProblemNotice } from '../../parts/problem.tsx';
import { device as deviceWords, text } from '../../text/words.ts';

/** Events that one request fetches. */
export const historyPage = 50;

interface HistoryProps {
  readonly deviceId: string;
  /** Its newest events, as they came with the device. */
  readonly newest: readonly Notification[];
}

function useHistory({ deviceId, newest }: HistoryProps) {
  const events = useSignal(newest);
  const { busy, problem, run } = useAction();
  const hasOlder = useSignal(newest.length === historyPage);
  const add = (more: readonly Notification[]) => (events.value = merged(events.peek(), more));
  useEffect(() => void add(newest), [newest]);
  useEffect(
    () => onEvents(arrived => add(arrived.filter(({ id, data }) => id !== undefined && data.deviceId === deviceId))),
    [],
  );
  const readOlder = () =>
    run(async () => {
      const before = events.peek().at(-1)?.id ?? Number.MAX_SAFE_INTEGER;
      const { list } = await call('listEvents', { query: { deviceId, before, limit: historyPage } });
      add(list as readonly Notification[]);
      hasOlder.value = list.length === historyPage;
    });
  return { events, busy, problem, hasOlder, readOlder };
}

/** The events of a device. */
export function History(props: HistoryProps) {
  const words = deviceWords.history;
  const { events, busy, problem, hasOlder, readOlder } = useHistory(props);
  return (
    <section>
      <h2>{words.title}</h2>
      {events.value.length > 0 && <EventList events={events.value} isOfDevice />}
      {busy.value && <p role="status">{text.common.loading}</p>}
      {!hasOlder.value && <p class="hint">{words.begin}</p>}
      <ProblemNotice problem={problem.value} />
      {hasOlder.value && <Button words={words.older} disabled={busy.value} onClick={() => void readOlder()} />}
    </section>
  );
}
