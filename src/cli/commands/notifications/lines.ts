/**
 * Events of `watch` as lines for people: what happened, to which serial number, which is looked up if the event lacks it. The type
 * names and all fields are in `--json`.
 */
import { minuteMs } from '../../../contract/durations.ts';
import type { Notification } from '../../../contract/events.ts';
import type { Context } from '../../framework/context.ts';
import { safe } from '../../terminal/text.ts';
import { dayAndTime } from '../../terminal/when.ts';
import { eventText, subjectOf } from '../devices/event-lines.ts';

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
    const thing = safe((await this.#serials.of(event)) ?? subjectOf(event.data));
    const head = isNewDay ? `${out.paint('dim', `-- ${day} --`)}\n` : '';
    return `${head}${eventText(this.#context, event, when, thing)}\n`;
  }
}

const maxKnown = 1_000;
/** Requests per minute, so that a stream of events does not use up the limit of 100. */
const maxLookups = 20;
/** A lookup must not hold up the events that follow. */
const patienceMs = 1_000;
/** After so many failures in a row, no lookup is tried any more. */
const maxFailures = 3;

/** Knows the serial numbers of events, and looks others up within bounds. */
class SerialNumbers {
  readonly #context: Context;
  /** By deviceId; the oldest entry leaves first. */
  readonly #known = new Map<string, string>();
  /** When the lookups of the last minute began. */
  #lookups: number[] = [];
  #failures = 0;

  constructor(context: Context) {
    this.#context = context;
  }

  /** The serial number of the event's device or key; null if it is not known. Never throws. */
  async of({ data }: Notification): Promise<string | null> {
    const { deviceId, serialNumber } = data;
    if (typeof serialNumber === 'string') {
      if (typeof deviceId === 'string') this.#note(deviceId, serialNumber);
      return serialNumber;
    }
    if (typeof deviceId !== 'string') return null;
    return this.#known.get(deviceId) ?? (await this.#lookedUp(deviceId));
  }

  #note(deviceId: string, serialNumber: string): void {
    this.#known.delete(deviceId);
    this.#known.set(deviceId, serialNumber);
    if (this.#known.size > maxKnown) this.#known.delete(this.#known.keys().next().value!);
  }

  async #lookedUp(deviceId: string): Promise<string | null> {
    const now = performance.now();
    this.#lookups = this.#lookups.filter(begun => now - begun < minuteMs);
    if (this.#lookups.length >= maxLookups || this.#failures >= maxFailures) return null;
    this.#lookups.push(now);
    try {
      const client = this.#context.registry.with({ signal: AbortSignal.timeout(patienceMs), wait: false });
      const { serialNumber } = await client.call('getDevice', { params: { deviceId } });
      this.#failures = 0;
      this.#note(deviceId, serialNumber);
      return serialNumber;
    } catch {
      this.#failures++;
      return null;
    }
  }
}
