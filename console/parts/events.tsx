/** Events of the journal as lines. */
import { signal } from '@preact/signals';
import * as icons from 'lucide';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import type { EventType } from '../../src/contract/event-types.ts';
import type { EventActor, FieldChange, Notification } from '../../src/contract/events.ts';
import { personIds } from '../../src/contract/ids.ts';
import { mayChange } from '../api/session.ts';
import { platformLabels } from '../text/text.ts';
import { text } from '../text/words.ts';
import { Details } from './details.tsx';
import { Icon, type IconNode } from './icon.tsx';
import { ActorLink, PersonLink, RecordLink } from './item.tsx';
import { Moment } from './time.tsx';

interface EventListProps {
  readonly events: readonly Notification[];
  /** All events are of one record, which the page names. */
  readonly isOfRecord?: boolean;
  /** Facts of the record that have a time and no event. */
  readonly facts?: readonly TimedFact[];
}

/** A fact that stands among the events. */
export interface TimedFact {
  readonly at: string;
  readonly icon: IconNode;
  readonly words: string;
  readonly detail?: ComponentChildren;
}

/** This many equal events in a row are one line, if each followed the previous one within this many milliseconds. */
const group = { least: 3, apartMs: 600_000 };

/** Events in the given order, equal ones as one line that opens. What they carry is shown as text, never as markup. */
export function EventList({ events, isOfRecord = false, facts = [] }: EventListProps) {
  if (!events.length && !facts.length) return <p class="empty">{text.common.noEvents}</p>;
  const lines = groupsOf(events).flatMap(each => {
    const line = (event: Notification) => <EventLine key={event.id} event={event} isOfRecord={isOfRecord} />;
    if (each.length < group.least) return each.map(event => ({ at: event.timestamp, line: line(event) }));
    // New events are added at the beginning of a group: its last one stays.
    const folded = <EventGroup key={`group ${each.at(-1)?.id}`} events={each} isOfRecord={isOfRecord} />;
    return [{ at: each[0]?.timestamp ?? '', line: folded }];
  });
  for (const { at, icon, words, detail } of facts) {
    const line = (
      <li key={`${words} ${at}`}>
        <Moment at={at} />
        <span>
          <Icon of={icon} /> {words}
        </span>
        <span>{detail}</span>
      </li>
    );
    const older = lines.findIndex(each => Date.parse(each.at) <= Date.parse(at));
    lines.splice(older < 0 ? lines.length : older, 0, { at, line });
  }
  return <ol class="events">{lines.map(({ line }) => line)}</ol>;
}

/** Common fields of equal events. */
const nameOf = ({ type, data, actor, changes }: Notification) =>
  data.deviceId === undefined ? null : JSON.stringify([type, data.lockReason, actor, changes]);

/** The events, those that may be one line together. */
export function groupsOf(events: readonly Notification[]): readonly (readonly Notification[])[] {
  const groups: Notification[][] = [];
  let last: string | null = null;
  for (const event of events) {
    const name = nameOf(event);
    const before = groups.at(-1)?.at(-1);
    const isNear = before && Date.parse(before.timestamp) - Date.parse(event.timestamp) <= group.apartMs;
    if (name !== null && name === last && isNear) groups.at(-1)?.push(event);
    else groups.push([event]);
    last = name;
  }
  return groups;
}

function EventGroup({ events, isOfRecord }: Required<Omit<EventListProps, 'facts'>>) {
  const [event] = events;
  if (!event) return null;
  const { type, timestamp, data, actor, changes } = event;
  const words = text.common;
  const ids = new Set(events.map(({ data: { deviceId } }) => `${deviceId}`));
  const isRepeated = ids.size < events.length;
  const summary = (
    <>
      {!isOfRecord && <strong>{ids.size > 1 ? words.devices(ids.size) : [...ids]}</strong>} {text.event[type]}{' '}
      {actor && text.who.by(text.who.kind[actor.kind]) + actorName(actor)}{' '}
      {isRepeated && `· ${words.times(events.length)}`} {typeof data.lockReason === 'string' && `· ${data.lockReason}`}
    </>
  );
  return (
    <li>
      <Moment at={timestamp} />
      <Details summary={summary}>
        {() => (
          <>
            {changes && changes.length > 0 && <Changes changes={changes} type={null} />}
            <ol class="events">
              {events.map(each => (
                <EventLine key={each.id} event={each} isOfRecord={isOfRecord} />
              ))}
            </ol>
          </>
        )}
      </Details>
    </li>
  );
}

/** The words around it state the kind, which is before each name but those of persons. */
function actorName({ kind, name }: EventActor): string {
  const about: Readonly<Record<string, string>> = text.who.about;
  const own = kind === 'user' ? name : name.replace(`${kind}:`, '');
  return kind === 'provider' ? (about[own] ?? own) : own;
}

const Actor = ({ kind, name }: EventActor) => (
  <span>
    {text.who.by(text.who.kind[kind])}
    <ActorLink kind={kind} name={name} shown={actorName({ kind, name })} />
  </span>
);

type EventLineProps = Readonly<{ event: Notification; isOfRecord: boolean }>;

const EventLine = ({ event: { type, timestamp, data, actor, changes }, isOfRecord }: EventLineProps) => (
  <li>
    <Moment at={timestamp} />
    {!isOfRecord && <Subject data={data} />}
    <span>
      <Icon of={iconOf(type)} /> {text.event[type]}
    </span>
    {actor && <Actor {...actor} />}
    <span>
      {typeof data.deviceId === 'string' && typeof data.userId === 'string' && (
        <>
          <PersonLink name={data.userId} />{' '}
        </>
      )}
      {detailOf(data)}
    </span>
    {changes && changes.length > 0 && <Changes changes={changes} type={data.deviceId === undefined ? type : null} />}
  </li>
);

/** An icon for each kind of event, by the first word of its type. */
const kindIcons: Readonly<Record<string, IconNode>> = {
  ACTIVATION: icons.Hash,
  APP: icons.Package,
  CASE: icons.ClipboardList,
  DIRECTORY: icons.FolderTree,
  LOAN: icons.FileText,
  PEOPLE: icons.Users,
  PERSON: icons.Users,
  POLICY: icons.Scale,
  PROVIDER: icons.Cloud,
  PROVISIONING: icons.Users,
  RECEIPT: icons.FileText,
  SETTINGS: icons.Settings,
  SSO: icons.LogIn,
  TOKEN: icons.Ticket,
  USER: icons.UserRound,
  WEBHOOK: icons.Webhook,
};

const iconOf = (type: string): IconNode => kindIcons[type.slice(0, type.indexOf('_'))] ?? icons.KeyRound;

/** The pages of what events are about, by the names of their ids. */
const subjectPages = {
  deviceId: 'devices',
  personId: 'people',
  versionId: null,
  userId: 'users',
  tokenId: 'tokens',
  webhookId: 'webhooks',
  providerId: 'providers',
} as const;

const subjectName = (data: Notification['data']) =>
  (Object.keys(subjectPages) as (keyof typeof subjectPages)[]).find(name => data[name] !== undefined);

/** Id of what an event is about; '' if it is about the registry. */
export function subjectIn(data: Notification['data']): string {
  const name = subjectName(data);
  return name === undefined ? '' : String(data[name]);
}

/** Subject of an event, with a link to its page. A VIEWER has no page of persons. */
function Subject({ data }: Pick<Notification, 'data'>) {
  const name = subjectName(data);
  const id = subjectIn(data);
  const page = name === undefined || (name === 'personId' && !mayChange.value) ? null : subjectPages[name];
  // A device is known by its id; what else has a name is known by that.
  const named = [id, ...(name === 'deviceId' ? [] : [data.username, data.name, data.url])].filter(Boolean).join(' ');
  // Entries about an account at the provider have no id of it.
  if (typeof data.username === 'string' && !id) return <ActorLink kind="user" name={data.username} />;
  if (!page) return <span>{named}</span>;
  return <RecordLink page={page} id={id} name={named} />;
}

function detailOf(data: Notification['data']): string {
  const { serialNumber, lockReason, platform, version, devices, lockedDevices } = data;
  const { policy, setting } = data;
  const { devices: counted, stillLocked } = text.common;
  const about: Readonly<Record<string, string>> = text.who.about;
  const parts = [serialNumber, lockReason, platformLabels[platform as keyof typeof platformLabels], version];
  return [
    ...[...parts, about[`${policy ?? setting}`]].filter(part => typeof part === 'string'),
    ...(typeof devices === 'number' ? [counted(devices)] : []),
    ...(Array.isArray(lockedDevices) && lockedDevices.length > 0 ? [stillLocked(lockedDevices.join(', '))] : []),
  ].join(' ');
}

/** The words of settings; null before they are loaded. */
const settingWords = signal<typeof import('./setting-words.ts') | null>(null);
const loadSettingWords = () =>
  import('./setting-words.ts').then(
    words => (settingWords.value = words),
    () => {},
  );

interface ChangesProps {
  readonly changes: readonly FieldChange[];
  /** The type of the event; null of a device. */
  readonly type: EventType | null;
}

function Changes({ changes, type }: ChangesProps) {
  const words = text.who;
  const names: Readonly<Record<string, string>> = words.field;
  useEffect(() => void (type && !settingWords.peek() && loadSettingWords()), []);
  const { fieldName, valueWords } = (type && settingWords.value) || {};
  const shown = (field: string, value: FieldChange['before']) =>
    linked(field, value) || (typeof value === 'string' && valueWords?.(field, value)) || written(value);
  return (
    <dl class="changes" aria-label={words.changes}>
      {changes.map(({ field, before, after }) => (
        <div key={field}>
          <dt>{fieldName?.(field, type ?? '') ?? names[field] ?? (type ? '' : field)}</dt>
          <dd>
            {before && Object.keys(before).length > 0 && (
              <>
                <del>{shown(field, before)}</del> →{' '}
              </>
            )}
            <ins>{shown(field, after)}</ins>
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** Persons and accounts have pages. The user name of a person who was erased is the id. */
function linked(field: string, value: FieldChange['before']) {
  if (typeof value !== 'string') return null;
  if (field === 'username') return <ActorLink kind="user" name={value} />;
  const personId = personIds.parse(value) === null ? null : value;
  return (field === 'personId' || field === 'userId') && <PersonLink personId={personId} name={value} />;
}

/** A value as it is stored. */
function written(value: FieldChange['before']): string {
  if (typeof value === 'string') return value;
  const members = Object.entries(value ?? {}).map(([name, each]) => `${name}:${each}`);
  return members.join(', ') || text.common.none;
}

/** Both lists, each event once, the newest first. */
export function merged(some: readonly Notification[], others: readonly Notification[]): readonly Notification[] {
  const byId = new Map([...some, ...others].map(event => [event.id ?? 0, event]));
  return [...byId.entries()].sort(([a], [b]) => b - a).map(([, event]) => event);
}
