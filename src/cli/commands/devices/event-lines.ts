/** Events as lines for people. */
import { administrationEvent } from '../../../contract/administration-events.ts';
import { describedTexts } from '../../../contract/device-description.ts';
import { type HardwareEventType, hardwareEventTable, journalEvent } from '../../../contract/event-types.ts';
import type { EventWords } from '../../../contract/event-words.ts';
import type { FieldChange, Notification } from '../../../contract/events.ts';
import { counted } from '../../count.ts';
import type { Context } from '../../framework/context.ts';
import { tagWords } from '../../framework/devices/tags.ts';
import { wrapped } from '../../terminal/card.ts';
import { safe } from '../../terminal/text.ts';
import { localTime } from '../../terminal/when.ts';
import { width } from '../../terminal/width.ts';

/** A field of an event: '' if it is absent or neither text nor a number. */
export const text = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : '';
/** Names of the ids that events have. */
const idNames = ['deviceId', 'versionId', 'personId', 'userId', 'tokenId', 'webhookId', 'providerId'];
/** The id of what an event is about; '' for a key that is not registered, and for settings of the registry. */
export const subjectOf = (data: Notification['data']): string =>
  text(idNames.map(name => data[name]).find(id => id !== undefined));
const product = (data: Notification['data']): string => [data.manufacturer, data.model].map(text).join(' ').trim();

/** The row of a type. A newer server may send types that this version does not know. */
const rowOf = (type: string): EventWords | undefined =>
  journalEvent(type) ??
  administrationEvent(type) ??
  (type in hardwareEventTable ? hardwareEventTable[type as HardwareEventType] : undefined);

/** Text of an event, without the time, the device or key, and its id. */
export function wordsOf({ type, data, changes = [] }: Notification): string {
  const row = rowOf(type);
  const shownAs = (name: string): string => {
    if (name === 'changes') return changes.map(change => changeWords(change, type)).join(', ');
    if (name === 'product') return product(data);
    const kind = journalEvent(type)?.data[name];
    if (kind === 'activeDevices') return counted(data[name] as number, 'ACTIVE device');
    return kind === 'loanEnd' || kind === 'sentAt' ? localTime(text(data[name])) : text(data[name]);
  };
  return row?.words ? filled(row.words, shownAs) : type;
}

/** A template with its values: see `EventWords`. */
function filled(template: string, shownAs: (name: string) => string): string {
  return template.replace(/\[([^[\]]*)\]|\{(\w+)\}/g, (_, part: string | undefined, name: string) => {
    if (part === undefined) return shownAs(name);
    return [...part.matchAll(/\{(\w+)\}/g)].some(([, inner]) => shownAs(inner!) === '') ? '' : filled(part, shownAs);
  });
}

function changeWords({ field, before, after }: FieldChange, type: string): string {
  const label = Object.hasOwn(describedTexts, field)
    ? describedTexts[field as keyof typeof describedTexts].label
    : field;
  // The registry keeps neither value of a secret.
  if (administrationEvent(type) && before === null && after === 'changed') return `${label} changed`;
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
  const said = (part: string) => out.paint(rowOf(event.type)?.style ?? null, part);
  const shownId = out.paint('dim', id);
  const room = io.columns;
  if (width(joined([when, thing, words, who, id])) <= room) return joined([when, thing, said(words), who, shownId]);
  const fitted = (part: string) => (part === '' ? [] : wrapped(part, room - indent.length));
  const below = [...fitted(thing), ...fitted(words).map(said), ...fitted(who)];
  return [joined([when, shownId]), ...below].join(`\n${indent}`);
}

const joined = (parts: readonly string[]): string => parts.filter(part => part !== '').join('  ');
