/** Delivers events to a target, from its cursor on: in order, each at least once. */
import type { Notification } from '../../../../contract/events.ts';
import type { Context } from '../../../framework/context.ts';
import { counted } from '../../../framework/count.ts';
import { exitCodes } from '../../../framework/exit-codes.ts';
import { Fault } from '../../../framework/fault.ts';
import type { Abandon } from '../../../terminal/io.ts';
import { safe } from '../../../terminal/text.ts';
import { AttemptFailed, untilDelivered } from './attempts.ts';
import type { Cursor } from './cursor.ts';
import { Dispatcher } from './dispatcher.ts';

/** Where events go. */
export interface Target {
  /** For messages. */
  readonly name: string;
  /** One attempt. Rejects with `AttemptFailed` if another one makes sense. */
  readonly attempt: (event: Notification) => Promise<void>;
  /** Ends what is under way, after the second Ctrl-C. */
  readonly abandon: Abandon;
}

/** How events are delivered. */
interface DeliveryOptions {
  readonly concurrency: number;
  /** Attempts after the first one, for each event. */
  readonly retries: number;
  /** Whether an event whose attempts all failed counts as delivered. */
  readonly skipFailed: boolean;
  readonly count: number | undefined;
}

/** Delivers events until the stream ends; what was accepted is finished even after Ctrl-C. The exit code. */
export async function deliver(
  context: Context,
  cursor: Cursor,
  target: Target,
  options: DeliveryOptions,
  events: AsyncIterable<Notification>,
): Promise<number> {
  const { io, out } = context;
  const release = io.finishing(target.abandon);
  const dispatcher = new Dispatcher({
    concurrency: options.concurrency,
    deliver: event => delivered(context, target, options, event),
    onDelivered: id => cursor.save(id),
  });
  const onInterrupt = () => {
    if (dispatcher.isBusy) out.notice(`Waiting for ${safe(target.name)}; Ctrl-C again ends it`);
  };
  io.interrupt.addEventListener('abort', onInterrupt);
  try {
    let accepted = 0;
    for await (const event of events) {
      await dispatcher.accept(event);
      if (++accepted === options.count || io.interrupt.aborted) break;
    }
    await dispatcher.drain();
  } catch (error) {
    // The pause before another attempt was interrupted: that event is delivered by the next run.
    if (!(error instanceof Fault && error.kind === 'interrupted')) throw error;
  } finally {
    io.interrupt.removeEventListener('abort', onInterrupt);
    release();
  }
  out.notice(`${counted(dispatcher.delivered, 'event')} delivered to ${safe(target.name)}`);
  return io.interrupt.aborted ? exitCodes.interrupted : exitCodes.done;
}

async function delivered(
  { out, io }: Context,
  { name, attempt }: Target,
  { retries, skipFailed }: DeliveryOptions,
  event: Notification,
): Promise<void> {
  const which = event.id === undefined ? event.type : `event #${event.id}`;
  try {
    await untilDelivered(() => attempt(event), {
      retries,
      signal: io.interrupt,
      onRetry: (problem, seconds) => out.warn(safe(`${which}: ${problem}; trying again in ${seconds.toFixed(1)} s`)),
    });
  } catch (error) {
    if (!(error instanceof AttemptFailed)) throw error;
    if (!skipFailed)
      throw new Fault(
        'failure',
        `${which} was not delivered to ${name}: ${error.message}`,
        'the same command continues with this event',
      );
    out.warn(safe(`${which}: ${error.message}; skipped`));
  }
}
