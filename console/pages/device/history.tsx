/** The events of a device. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Notification } from '../../../src/contract/events.ts';
import { type Problem, problemOf } from '../../api/problem.ts';
import { call } from '../../api/request.ts';
import { onEvents } from '../../api/stream.ts';
import { EventList, merged } from '../../parts/events.tsx';
import { ProblemNotice } from '../../parts/problem.tsx';
import { dictionary, text } from '../../text/text.ts';

const deviceWords = dictionary('device');

/** Events that one request fetches. */
const PAGE = 50;

/** The newest events of a device, live; older ones on demand. */
function useHistory(deviceId: string) {
  const events = useSignal<readonly Notification[]>([]);
  const problem = useSignal<Problem | null>(null);
  /** Null while a request is under way; whether the journal has older ones otherwise. */
  const hasOlder = useSignal<boolean | null>(null);
  const add = (more: readonly Notification[]) => {
    events.value = merged(events.peek(), more);
  };
  const read = async (signal?: AbortSignal) => {
    hasOlder.value = null;
    try {
      const before = events.peek().at(-1)?.id ?? Number.MAX_SAFE_INTEGER;
      const { list } = await call('listEvents', { query: { deviceId, before, limit: PAGE } }, signal ? { signal } : {});
      add(list as readonly Notification[]);
      problem.value = null;
      hasOlder.value = list.length === PAGE;
    } catch (error) {
      if (signal?.aborted) return;
      problem.value = problemOf(error);
      hasOlder.value = true;
    }
  };
  useEffect(() => {
    const abort = new AbortController();
    const stop = onEvents(arrived =>
      add(arrived.filter(({ id, data }) => id !== undefined && data.deviceId === deviceId)),
    );
    void read(abort.signal);
    return () => {
      stop();
      abort.abort();
    };
  }, [deviceId]);
  return { events, problem, hasOlder, readOlder: () => void read() };
}

/** The events of a device. */
export function History({ deviceId }: { readonly deviceId: string }) {
  const words = deviceWords.value.history;
  const { events, problem, hasOlder, readOlder } = useHistory(deviceId);
  return (
    <section>
      <h2>{words.title}</h2>
      {events.value.length > 0 && <EventList events={events.value} isOfDevice />}
      {hasOlder.value === null && <p role="status">{text.value.common.loading}</p>}
      {hasOlder.value === false && <p class="hint">{words.begin}</p>}
      <ProblemNotice problem={problem.value} />
      {hasOlder.value && (
        <button type="button" onClick={readOlder}>
          {words.older}
        </button>
      )}
    </section>
  );
}
