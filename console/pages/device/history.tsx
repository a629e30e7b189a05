/** What has happened to a device, in one list. */
import { useSignal } from '@preact/signals';
import { Cloud, LogIn, ShieldCheck } from 'lucide';
import { useEffect } from 'preact/hooks';
import type { DeviceDetail } from '../../../src/contract/device-shapes.ts';
import type { Notification } from '../../../src/contract/events.ts';
import { useAction } from '../../api/action.ts';
import { useRefresh } from '../../api/live.ts';
import { call } from '../../api/request.ts';
import { useResource } from '../../api/resource.ts';
import { mayChange } from '../../api/session.ts';
import { onEvents } from '../../api/stream.ts';
import { GradeBadge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { EventList, merged, type TimedFact } from '../../parts/events.tsx';
import { ProblemNotice } from '../../parts/problem.tsx';
import { device as deviceWords, text } from '../../text/words.ts';
import { readCredentials } from './read-credentials.ts';

/** Events that one request fetches. */
export const historyPage = 50;

/** `newest`: its newest events, as they came with the device. */
function useHistory(deviceId: string, newest: readonly Notification[]) {
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

/** What is known of the device without an event. Credentials are those of a person: a device without one has none. */
function useFacts({ deviceId, proof, lastUsedAt, activatedAt }: DeviceDetail): readonly TimedFact[] {
  const words = deviceWords.history;
  const credentials = useResource(signal =>
    mayChange.peek() && activatedAt !== null ? readCredentials(deviceId, signal) : Promise.resolve([]),
  );
  useRefresh(credentials.reload, events => events.some(({ data }) => data.deviceId === deviceId));
  const issued = (credentials.data.value ?? []).flatMap(({ provider, createdAt, removedAt }) => [
    { at: createdAt, icon: Cloud, words: words.issued, detail: provider },
    { at: removedAt, icon: Cloud, words: words.removed, detail: provider },
  ]);
  const proved = { icon: ShieldCheck, words: words.proved, detail: proof && <GradeBadge grade={proof.grade} /> };
  return [
    ...issued,
    { at: proof?.provedAt ?? null, ...proved },
    { at: lastUsedAt, icon: LogIn, words: words.used },
  ].filter((fact): fact is TimedFact => fact.at !== null);
}

/** What has happened to a device: its events, and what has a time without one. */
export function History({ device }: { readonly device: DeviceDetail }) {
  const words = deviceWords.history;
  const newest = (device.events ?? []) as readonly Notification[];
  const { events, busy, problem, hasOlder, readOlder } = useHistory(device.deviceId, newest);
  const since = hasOlder.value ? Date.parse(events.value.at(-1)?.timestamp ?? '') : 0;
  const facts = useFacts(device).filter(({ at }) => Date.parse(at) >= since);
  return (
    <section>
      <h2>{words.title}</h2>
      {events.value.length > 0 && <EventList events={events.value} isOfDevice facts={facts} />}
      {busy.value && <p role="status">{text.common.loading}</p>}
      {!hasOlder.value && <p class="hint">{words.begin}</p>}
      <ProblemNotice problem={problem.value} />
      {hasOlder.value && <Button words={words.older} disabled={busy.value} onClick={() => void readOlder()} />}
    </section>
  );
}
