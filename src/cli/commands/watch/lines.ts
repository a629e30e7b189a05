/** Events of `watch` as lines for people: what happened, to which serial number. The type names and all fields are in `--json`. */
import type { Notification } from '../../../contract/events.ts';
import type { Context } from '../../context.ts';
import { wrapped } from '../../terminal/card.ts';
import { safe } from '../../terminal/text.ts';
import { dayAndTime } from '../../terminal/when.ts';
import { width } from '../../terminal/width.ts';
import { eventStyles } from '../enroll/event-lines.ts';
import { SerialNumbers } from './serials.ts';

const text = (value: unknown): string => (typeof value === 'string' || typeof value === 'number' ? String(value) : '');
const labelled = (words: string, value: unknown): string => (text(value) === '' ? words : `${words}: ${text(value)}`);
const product = (data: Notification['data']): string => [data.manufacturer, data.model].map(text).join(' ').trim();

/** What happened, without the time, the thing and the event's id. */
function wordsOf({ type, data }: Notification): string {
  switch (type) {
    case 'DEVICE_REGISTERED':
      return `registered (${text(data.deviceType)})`;
    case 'DEVICE_ACTIVATED':
      return `activated for ${text(data.userId)}`;
    case 'DEVICE_LOCKED':
      return labelled('locked', data.lockReason);
    case 'DEVICE_UNLOCKED':
      return 'unlocked';
    case 'DEVICE_DEACTIVATED':
      return 'deactivated';
    case 'DEVICE_UPDATED':
      return 'updated';
    case 'ACTIVATION_CODE_GENERATED':
      return 'new activation code';
    case 'APP_VERSION_UPLOADED':
      return `uploaded: ${text(data.platform)} ${text(data.version)}`;
    case 'KEY_ATTACHED':
      return labelled(labelled('plugged in', product(data)), data.problem);
    case 'KEY_DETACHED':
      return 'unplugged';
    default:
      // A newer server may send types that this version does not know.
      return type;
  }
}

const indent = '    ';

/** Writes the lines. On a terminal the date has a line of its own when it changes; elsewhere each line has it. */
export class EventLines {
  readonly #context: Context;
  readonly #utc: boolean;
  readonly #serials: SerialNumbers;
  #day: string;

  constructor(context: Context, utc: boolean) {
    this.#context = context;
    this.#utc = utc;
    this.#serials = new SerialNumbers(context);
    this.#day = dayAndTime(new Date().toISOString(), utc)[0];
  }

  /** The lines of an event, each with a line feed. */
  async of(event: Notification): Promise<string> {
    const { io, out } = this.#context;
    const [day, time] = dayAndTime(event.timestamp, this.#utc);
    const isNewDay = io.stdoutIsTerminal && day !== this.#day;
    this.#day = day;
    const when = io.stdoutIsTerminal ? time : `${day} ${time}`.trim();
    const thing = safe((await this.#serials.of(event)) ?? text(event.data.deviceId ?? event.data.versionId));
    const words = safe(wordsOf(event));
    const id = event.id === undefined ? '' : `#${event.id}`;
    const said = out.paint(eventStyles[event.type] ?? null, words);
    const line = [when, thing, said, out.paint('dim', id)].filter(part => part !== '').join('  ');
    const room = io.columns;
    const plainWidth = width([when, thing, words, id].filter(part => part !== '').join('  '));
    const head = isNewDay ? `${out.paint('dim', `-- ${day} --`)}\n` : '';
    if (plainWidth <= room) return `${head}${line}\n`;
    const first = [when, out.paint('dim', id)].filter(part => part !== '').join('  ');
    return `${head}${[first, ...[thing, words].flatMap(part => wrapped(part, room - indent.length))].join(`\n${indent}`)}\n`;
  }
}
