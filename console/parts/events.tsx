/** Events of the journal as lines. */
import type { FieldChange, Notification } from '../../src/contract/events.ts';
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
      {events.map(({ id, type, timestamp, data, actor, changes }) => (
        <li key={id}>
          <Moment at={timestamp} />
          {isOfDevice ? null : typeof data.deviceId === 'string' ? (
            <a href={linkTo(`devices/${encodeURIComponent(data.deviceId)}`)}>{data.deviceId}</a>
          ) : (
            <span>{String(data.versionId ?? '')}</span>
          )}
          <span>{text.value.event[type]}</span>
          {actor && <span>{text.value.who.by(text.value.who.kind[actor.kind], actor.name)}</span>}
          <span>{detailOf(data)}</span>
          {changes && changes.length > 0 && <Changes changes={changes} />}
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

/** What an update changed: the value before and after. */
function Changes({ changes }: { readonly changes: readonly FieldChange[] }) {
  const words = text.value.who;
  const names: Readonly<Record<string, string>> = words.field;
  return (
    <dl class="changes" aria-label={words.changes}>
      {changes.map(({ field, before, after }) => (
        <div key={field}>
          <dt>{names[field] ?? field}</dt>
          <dd>
            <del>{shown(before)}</del> → <ins>{shown(after)}</ins>
          </dd>
        </div>
      ))}
    </dl>
  );
}

function shown(value: FieldChange['before']): string {
  const written =
    typeof value === 'string'
      ? value
      : Object.entries(value ?? {})
          .map(([name, each]) => `${name}:${each}`)
          .join(', ');
  return written || text.value.common.none;
}

/** Both lists, each event once, the newest first. */
export function merged(some: readonly Notification[], others: readonly Notification[]): readonly Notification[] {
  const byId = new Map([...some, ...others].map(event => [event.id ?? 0, event]));
  return [...byId.entries()].sort(([a], [b]) => b - a).map(([, event]) => event);
}
