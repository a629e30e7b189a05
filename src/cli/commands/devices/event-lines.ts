/** Events as lines for people. */
import { describedTexts } from '../../../contract/device-description.ts';
import type { FieldChange, Notification } from '../../../contract/events.ts';
import type { EventType } from '../../../contract/values.ts';
import { counted } from '../../count.ts';
import type { Context } from '../../framework/context.ts';
import { tagWords } from '../../framework/devices/tags.ts';
import { wrapped } from '../../terminal/card.ts';
import type { Style } from '../../terminal/style.ts';
import { safe } from '../../terminal/text.ts';
import { localTime } from '../../terminal/when.ts';
import { width } from '../../terminal/width.ts';

/** The color of a type of event; absent if it has none. */
const eventStyles: Readonly<Partial<Record<EventType, Style>>> = {
  DEVICE_REGISTERED: 'cyan',
  DEVICE_ACTIVATED: 'green',
  DEVICE_UNLOCKED: 'green',
  DEVICE_LOCKED: 'red',
  DEVICE_DEACTIVATED: 'red',
  LOAN_OVERDUE: 'yellow',
  KEY_ATTACHED: 'green',
  KEY_DETACHED: 'yellow',
};

/** A field of an event: '' if it is absent or neither text nor a number. */
export const text = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : '';
const labelled = (words: string, value: unknown): string => (text(value) === '' ? words : `${words}: ${text(value)}`);
/** The id of the device, application version or person that an event is about; '' for a key that is not registered. */
export const subjectOf = ({ deviceId, versionId, personId }: Notification['data']): string =>
  text(deviceId ?? versionId ?? personId);
const activeDevices = ({ devices }: Notification['data']): string => counted(devices as number, 'ACTIVE device');
const product = (data: Notification['data']): string => [data.manufacturer, data.model].map(text).join(' ').trim();

/** What happened, without the time, the device or key, and the event's id. */
export function wordsOf({ type, data, changes = [] }: Notification): string {
  switch (type) {
    case 'DEVICE_REGISTERED':
      return `registered (${text(data.deviceType)})`;
    case 'DEVICE_ACTIVATED':
      return text(data.userId) === '' ? 'activated' : `activated for ${text(data.userId)}`;
    case 'DEVICE_LOCKED':
      return labelled('locked', data.lockReason);
    case 'DEVICE_UNLOCKED':
      return 'unlocked';
    case 'DEVICE_DEACTIVATED':
      return 'deactivated';
    case 'DEVICE_UPDATED':
      return !changes[0] ? 'updated' : `updated: ${changes.map(changeWords).join(', ')}`;
    case 'ACTIVATION_CODE_GENERATED':
      return 'new activation code';
    case 'APP_VERSION_UPLOADED':
      return `uploaded: ${text(data.platform)} ${text(data.version)}`;
    case 'PERSON_LEFT':
      return `has left (${text(data.source)}), ${activeDevices(data)}`;
    case 'PERSON_HELD':
      return `held, ${activeDevices(data)}: devmgr people held`;
    case 'PERSON_RETURNED':
      return 'is back: locked devices stay locked';
    case 'PROVISIONING_REFUSED':
      return `${text(data.source)}: a request was not stored as sent: devmgr people refused`;
    case 'RECEIPT_SIGNED':
      return `receipt signed: ${text(data.kind)} (${text(data.receiptId)})`;
    case 'LOAN_OVERDUE':
      return `loan overdue since ${localTime(text(data.dueAt))} (${text(data.receiptId)})`;
    case 'KEY_ATTACHED':
      return labelled(labelled('plugged in', product(data)), data.problem);
    case 'KEY_DETACHED':
      return 'unplugged';
    default:
      // A newer server may send types that this version does not know.
      return type;
  }
}

function changeWords({ field, before, after }: FieldChange): string {
  const label = Object.hasOwn(describedTexts, field)
    ? describedTexts[field as keyof typeof describedTexts].label
    : field;
  return `${label} ${valueWords(before)} → ${valueWords(after)}`;
}

function valueWords(value: FieldChange['before']): string {
  return (typeof value === 'object' && value !== null ? tagWords({ tags: value }).join(' ') : text(value)) || 'none';
}

/** Who did it; '' if the event does not say it. */
export const byWhom = ({ actor }: Notification): string => (actor === undefined ? '' : safe(`by ${text(actor.name)}`));

const indent = '    ';

/** An event of the past, with its date. Needs no request. */
export function eventLine(context: Context, event: Notification, withDevice = true): string {
  const { data, timestamp } = event;
  const ids = withDevice ? [subjectOf(data), text(data.serialNumber)] : [];
  return eventText(context, event, localTime(timestamp, { seconds: true }), safe(joined(ids)));
}

/** An event in one line, or in several if the screen is too narrow: when it was, what it is about, what happened, who did it. */
export function eventText({ io, out }: Context, event: Notification, when: string, thing: string): string {
  const who = byWhom(event);
  const words = safe(wordsOf(event));
  const id = event.id === undefined ? '' : `#${event.id}`;
  const said = (part: string) => out.paint(eventStyles[event.type] ?? null, part);
  const shownId = out.paint('dim', id);
  const room = io.columns;
  if (width(joined([when, thing, words, who, id])) <= room) return joined([when, thing, said(words), who, shownId]);
  const fitted = (part: string) => (part === '' ? [] : wrapped(part, room - indent.length));
  const below = [...fitted(thing), ...fitted(words).map(said), ...fitted(who)];
  return [joined([when, shownId]), ...below].join(`\n${indent}`);
}

const joined = (parts: readonly string[]): string => parts.filter(part => part !== '').join('  ');
