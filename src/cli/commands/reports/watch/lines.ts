/** Events of `watch` as lines for people: what happened, to which serial number. The type names and all fields are in `--json`. */
import type { Notification } from '../../../../contract/events.ts';
import type { Context } from '../../../framework/context.ts';
import { safe } from '../../../terminal/text.ts';
import { dayAndTime } from '../../../terminal/when.ts';
import { eventText, text } from '../../devices/event-lines.ts';
import { SerialNumbers } from './serials.ts';

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
    const head = isNewDay ? `${out.paint('dim', `-- ${day} --`)}\n` : '';
    return `${head}${eventText(this.#context, event, when, thing)}\n`;
  }
}
