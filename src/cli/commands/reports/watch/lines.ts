/** Events of `watch` as lines for people: what happened, to which serial number. The type names and all fields are in `--json`. */
import type { Notification } from '../../../../contract/events.ts';
import type { Context } from '../../../framework/context.ts';
import { wrapped } from '../../../terminal/card.ts';
import { safe } from '../../../terminal/text.ts';
import { dayAndTime } from '../../../terminal/when.ts';
import { width } from '../../../terminal/width.ts';
import { byWhom, eventStyles, text, wordsOf } from '../../devices/event-lines.ts';
import { SerialNumbers } from './serials.ts';

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
    const who = byWhom(event);
    const line = [when, thing, said, who, out.paint('dim', id)].filter(part => part !== '').join('  ');
    const room = io.columns;
    const plainWidth = width([when, thing, words, who, id].filter(part => part !== '').join('  '));
    const head = isNewDay ? `${out.paint('dim', `-- ${day} --`)}\n` : '';
    if (plainWidth <= room) return `${head}${line}\n`;
    const first = [when, out.paint('dim', id)].filter(part => part !== '').join('  ');
    return `${head}${[first, ...[thing, words, ...(who ? [who] : [])].flatMap(part => wrapped(part, room - indent.length))].join(`\n${indent}`)}\n`;
  }
}
