/** What has happened to a device, in one list. */
import { Cloud, LogIn, ShieldCheck } from 'lucide';
import type { DeviceDetail } from '../../../src/contract/device-shapes.ts';
import type { Notification } from '../../../src/contract/events.ts';
import { useRefresh } from '../../api/live.ts';
import { useResource } from '../../api/resource.ts';
import { mayChange } from '../../api/session.ts';
import { GradeBadge } from '../../parts/badge.tsx';
import type { TimedFact } from '../../parts/events.tsx';
import { History } from '../../parts/history.tsx';
import { device as deviceWords } from '../../text/words.ts';
import { readCredentials } from './read-credentials.ts';

/** Events that one request fetches. */
export const historyPage = 50;

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
export function DeviceHistory({ device }: { readonly device: DeviceDetail }) {
  const { deviceId, events } = device;
  const facts = useFacts(device);
  const isAbout = ({ data }: Notification) => data.deviceId === deviceId;
  const newest = events && { newest: events as readonly Notification[] };
  return <History {...{ query: { deviceId }, isAbout, limit: historyPage, facts }} {...newest} />;
}
