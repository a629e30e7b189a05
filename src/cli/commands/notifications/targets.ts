/** `watch --exec` and `--forward-to`: makes the target that the flags name, and delivers events to it from its cursor on. */
import { administrationEvent } from '../../../contract/administration-events.ts';
import type { Notification } from '../../../contract/events.ts';
import type { Context } from '../../framework/context.ts';
import { CursorFile, defaultCursor } from './cursor-file.ts';
import { deliver, type EventTarget } from './delivery.ts';
import type { WatchValues } from './flags.ts';
import { EventProgram } from './program.ts';
import { SeenEvents, startOf } from './seen.ts';
import { watchedEvents } from './stream.ts';

/** A watch that delivers. */
interface DeliveryFlags extends WatchValues {
  /** Arguments of the program. */
  readonly args: readonly string[];
  readonly deviceId: string | undefined;
}

const programRetries = 3;

/** Delivers events until the stream ends. The exit code; throws a fault if an event cannot be delivered. */
export async function deliverTo(context: Context, flags: DeliveryFlags): Promise<number> {
  const { type, deviceId, by, until, limit, timeout } = flags;
  const name = flags.exec === undefined ? ['forward', flags.forwardTo ?? ''] : ['exec', flags.exec, ...flags.args];
  const cursor = CursorFile.open(
    flags.cursor ?? defaultCursor(context, [...name, ...type.toSorted(), deviceId ?? '', ...(by ? [by] : [])]),
  );
  try {
    const target = await targetOf(context, flags, cursor.source);
    const since = await firstOf(context, flags, cursor);
    const events = watchedEvents(context, {
      types: type,
      deviceId,
      by,
      until,
      since,
      sinceHint: `if the registry was restored, remove ${cursor.file} to start with new events`,
      timeout,
      // A run without events has a start as well: the next one continues there.
      onStart: id => cursor.save(id),
    });
    // A program that fails may never succeed; a receiver that is down comes back.
    const often = flags.exec === undefined ? Number.POSITIVE_INFINITY : programRetries;
    const { concurrency = 1, retries = often, skipFailed } = flags;
    const delivered = type.length === 0 ? withoutAdministration(events) : events;
    return await deliver(context, cursor, target, { concurrency, retries, skipFailed, count: limit }, delivered);
  } finally {
    cursor.close();
  }
}

/** Names of accounts and settings do not leave the registry unless their types are named. */
async function* withoutAdministration(events: AsyncIterable<Notification>): AsyncGenerator<Notification> {
  for await (const event of events) if (!administrationEvent(event.type)) yield event;
}

/** The event after which to start: that of the cursor, or else that of `--since`. */
async function firstOf(context: Context, flags: DeliveryFlags, cursor: CursorFile): Promise<number | null> {
  const { since, type: types, deviceId, by } = flags;
  if (cursor.last !== null) {
    context.out.notice(
      `Continuing after event #${cursor.last}${since === undefined ? '' : ', not with --since'}: ${cursor.file}`,
    );
    return cursor.last;
  }
  const first =
    since === undefined ? null : await startOf(context, since, new SeenEvents(context, { types, deviceId, by }));
  if (first !== null) cursor.save(first);
  return first;
}

async function targetOf(context: Context, flags: DeliveryFlags, source: string): Promise<EventTarget> {
  const { exec, args, forwardTo, secretFile } = flags;
  if (exec === undefined) {
    const { receiverOf, webhookSecret, webhookTarget } = await import('./webhook.ts');
    const url = receiverOf(forwardTo ?? '');
    return webhookTarget(context, url, await webhookSecret(context, secretFile), source);
  }
  const program = new EventProgram(exec, args);
  return { name: exec, attempt: event => program.run(event, context), abandon: byForce => program.end(byForce) };
}
