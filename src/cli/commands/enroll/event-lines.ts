/** Events as lines for people. */
import type { Notification } from '../../../contract/events.ts';
import type { EventType } from '../../../contract/values.ts';
import type { Context } from '../../context.ts';
import { wrapped } from '../../terminal/card.ts';
import type { Style } from '../../terminal/style.ts';
import { safe } from '../../terminal/text.ts';
import { localTime } from '../../terminal/when.ts';
import { width } from '../../terminal/width.ts';

/** The color of a type of event; absent if it has none. */
export const eventStyles: Readonly<Partial<Record<EventType, Style>>> = {
  DEVICE_REGISTERED: 'cyan',
  DEVICE_ACTIVATED: 'green',
  DEVICE_UNLOCKED: 'green',
  DEVICE_LOCKED: 'red',
  DEVICE_DEACTIVATED: 'red',
  KEY_ATTACHED: 'green',
  KEY_DETACHED: 'yellow',
};

/** Fields of an event that a line shows, in this order. */
const shown = [
  'deviceId',
  'versionId',
  'deviceType',
  'serialNumber',
  'userId',
  'lockReason',
  'platform',
  'version',
  'manufacturer',
  'model',
  'problem',
];

const indent = '    ';

/** An event in one line, or several if the screen is too narrow. */
export function eventLine({ io, out }: Context, event: Notification): string {
  const fields = shown.flatMap(name => {
    const value = event.data[name];
    return value === null || value === undefined
      ? []
      : [`${name}=${/[\s"]/.test(String(value)) ? JSON.stringify(value) : value}`];
  });
  const id = event.id === undefined ? '-' : `#${event.id}`;
  const [time, type, said] = [localTime(event.timestamp, { seconds: true }), safe(event.type), safe(fields.join(' '))];
  const head = `${time} ${out.paint('dim', id)} ${out.paint(eventStyles[event.type] ?? null, type)}`;
  if (width(`${time} ${id} ${type} ${said}`) <= io.columns) return `${head} ${said}`;
  return [head, ...wrapped(said, io.columns - indent.length)].join(`\n${indent}`);
}
