/** Delivers events to a target, from its cursor on: in order, each at least once. */
import type { Notification } from '../../../contract/events.ts';
import { Delivery, type Settlement } from '../../../delivery/delivery.ts';
import { type AttemptResult, untried } from '../../../delivery/retry.ts';
import { policies } from '../../../delivery/schedules.ts';
import { sleep } from '../../../delivery/wait.ts';
import { counted } from '../../count.ts';
import { exitCodes } from '../../exit-codes.ts';
import { failure } from '../../fault.ts';
import type { Context } from '../../framework/context.ts';
import type { Abandon } from '../../terminal/io.ts';
import { safe } from '../../terminal/text.ts';
import { subjectOf, text } from '../devices/event-lines.ts';
import type { CursorFile } from './cursor-file.ts';

/** Where events go. */
export interface EventTarget {
  /** For messages. */
  readonly name: string;
  /** One attempt. Throws a fault if no other attempt makes sense. */
  readonly attempt: (event: Notification) => Promise<AttemptResult>;
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
  cursor: CursorFile,
  target: EventTarget,
  { concurrency, retries, skipFailed, count }: DeliveryOptions,
  events: AsyncIterable<Notification>,
): Promise<number> {
  const { io, out } = context;
  let settled = 0;
  const delivery = new Delivery<Notification, AttemptResult>({
    policy: { ...policies.watch, retries },
    concurrency,
    onGiveUp: skipFailed ? 'skip' : 'end',
    graceMs: null,
    position: async () => ({ through: cursor.last, retry: untried }),
    items: () => itemsOf(events, count),
    attempt: target.attempt,
    settle: async settlement => {
      report(context, target, skipFailed, settlement);
      if (settlement.step.next !== 'retry') settled++;
      if (settlement.through !== undefined) cursor.save(settlement.through);
    },
    now: () => performance.now(),
    sleep,
  });
  const release = io.finishing(target.abandon);
  const onInterrupt = () => {
    if (delivery.isBusy) out.notice(`Waiting for ${safe(target.name)}; Ctrl-C again ends it`);
  };
  io.interrupt.addEventListener('abort', onInterrupt);
  try {
    await delivery.run(io.interrupt);
  } finally {
    io.interrupt.removeEventListener('abort', onInterrupt);
    release();
  }
  out.notice(`${counted(settled, 'event')} delivered to ${safe(target.name)}`);
  return io.interrupt.aborted ? exitCodes.interrupted : exitCodes.done;
}

async function* itemsOf(events: AsyncIterable<Notification>, count: number | undefined) {
  let accepted = 0;
  for await (const event of events) {
    yield { id: event.id, key: subjectOf(event.data) || text(event.data.serialNumber), content: event };
    if (++accepted === count) return;
  }
}

/** Warns about an attempt that failed. Throws a fault if it was the last one and its event is not skipped. */
function report(
  { out }: Context,
  { name }: EventTarget,
  skipFailed: boolean,
  { item, attempt, step }: Settlement<Notification, AttemptResult>,
): void {
  if (step.next === 'advance') return;
  const which = item.id === undefined ? item.content!.type : `event #${item.id}`;
  const problem = attempt!.result.reason;
  if (step.next === 'retry') {
    const seconds = (step.state.nextAt! - attempt!.endedAt) / 1000;
    out.warn(safe(`${which}: ${problem}; trying again in ${seconds.toFixed(1)} s`));
    return;
  }
  if (attempt!.result.result === 'gone')
    throw failure(
      `${name} no longer accepts events (410 Gone)`,
      'if that is intended, end this watch; if not, enable the endpoint there and run the command again',
    );
  if (!skipFailed)
    throw failure(`${which} was not delivered to ${name}: ${problem}`, 'the same command continues with this event');
  out.warn(safe(`${which}: ${problem}; skipped`));
}
