/** Events of the journal as lines. */
import type { Notification } from '../../src/contract/events.ts';
import { linkTo } from '../router.ts';
import { text } from '../text/text.ts';
import { Moment } from './time.tsx';

interface EventListProps {
  readonly events: readonly Notification[];
  /** All events are of one device, which the page names. */
  readonly isOfDevice?: boolean;
}

/** Events in the given order. What they carry is shown as text, never as markup. */
export function EventList({ events, isOfDevice = false }: EventListProps) {
  if (!events.length) return <p class="hint">{text.value.common.noEvents}</p>;
  return (
    <ol class="events">
      {events.map(({ id, type, timestamp, data }) => (
        <li key={id}>
          <Moment at={timestamp} />
          {isOfDevice ? null : typeof data.deviceId === 'string' ? (
            <a href={linkTo(`devices/${encodeURIComponent(data.deviceId)}`)}>{data.deviceId}</a>
          ) : (
            <span>{String(data.versionId ?? '')}</span>
          )}
          <span>{text.value.event[type]}</span>
          <span>{detailOf(data)}</span>
        </li>
      ))}
    </ol>
  );
}

/** The details of an event, without its device. */
function detailOf(data: Notification['data']): string {
  const { serialNumber, userId, lockReason, platform, version } = data;
  return [serialNumber, userId, lockReason, platform, version].filter(part => typeof part === 'string').join(' ');
}
