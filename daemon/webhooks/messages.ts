/** The messages that are posted: a journal entry as the stream of notifications sends it, or a test. */
import { createHash, randomUUID } from 'node:crypto';
import { webhookIds } from '../../src/contract/ids.ts';
import { notificationOf } from '../notifications/frames.ts';
import type { EventRecord } from '../store/journal.ts';
import type { WebhookRecord } from './records.ts';

/** A message without its time. */
export interface Message {
  readonly id: string;
  readonly body: string;
}

/**
 * The message of an entry; null if entries of its type are not published. After a restore the ids of entries are assigned again: the
 * digest tells two entries with one id apart, so that a receiver does not drop the later one as a repeat.
 */
export function messageOf(registryId: string, event: EventRecord): Message | null {
  const notification = notificationOf(event);
  if (!notification) return null;
  const { id, at, type, device, subject, data } = event;
  const digest = createHash('sha256')
    .update(JSON.stringify([registryId, id, at, type, device, subject, data]))
    .digest('hex');
  return { id: `evt_${registryId.slice(0, 8)}_${id}_${digest.slice(0, 16)}`, body: JSON.stringify(notification) };
}

/** A message that has no information about devices. */
export function testMessage({ number }: WebhookRecord, now: number): Message {
  const data = { webhookId: webhookIds.format(number) };
  const body = JSON.stringify({ type: 'WEBHOOK_TEST', timestamp: new Date(now).toISOString(), data });
  return { id: `test_${randomUUID()}`, body };
}
