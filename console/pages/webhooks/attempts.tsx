/** The attempts to deliver events to a webhook, for its history. */
import { Send } from 'lucide';
import type { WebhookAttempt, WebhookItem } from '../../../src/contract/webhooks.ts';
import { useAction } from '../../api/action.ts';
import { settled, useRefresh } from '../../api/live.ts';
import { call } from '../../api/request.ts';
import { useResource } from '../../api/resource.ts';
import { Button } from '../../parts/button.tsx';
import type { TimedFact } from '../../parts/events.tsx';
import { ProblemNotice } from '../../parts/problem.tsx';
import { toast } from '../../parts/toast.ts';
import { text, webhooks as words } from '../../text/words.ts';

/** Whether the endpoint took a message, in words. */
export const takenBy = (url: string, { delivered, milliseconds, reason }: Posted): string =>
  delivered ? words.taken(url, milliseconds) : words.notTaken(url, reason ?? '');
type Posted = Pick<WebhookAttempt, 'delivered' | 'milliseconds' | 'reason'>;

/** The last attempts. It follows new ones; an event is posted again on demand: once for each, at its latest attempt. */
export function useAttempts(webhook: WebhookItem): readonly TimedFact[] {
  const { webhookId } = webhook;
  const attempts = useResource(signal => call('webhookDeliveries', { params: { webhookId } }, { signal }));
  useRefresh(attempts.reload, () => true, settled);
  const list = attempts.data.value?.list ?? [];
  return list.map(attempt => {
    const { eventId, type, at, attempt: number, delivered, httpStatus, reason, milliseconds } = attempt;
    const title = (text.event as Record<string, string>)[type] ?? type;
    const isLatest = list.find(other => other.eventId === eventId) === attempt;
    const color = delivered ? 'good' : isLatest ? 'bad' : '';
    const detail = (
      <>
        <span class={`badge ${color}`}>{delivered ? words.delivered : words.failed}</span>{' '}
        {[httpStatus, reason, `${milliseconds} ms`].filter(part => part !== null).join(', ')}{' '}
        {isLatest && <Replay webhook={webhook} eventId={eventId} />}
      </>
    );
    return { at, icon: Send, words: words.attempt(eventId, title, number), detail };
  });
}

type ReplayProps = Readonly<{ webhook: WebhookItem; eventId: number }>;

function Replay({ webhook: { webhookId, url }, eventId }: ReplayProps) {
  const { busy, problem, run } = useAction();
  const params = { webhookId, deliveryId: `${eventId}` };
  const replay = async () => toast(takenBy(url, await call('replayWebhookDelivery', { params })));
  return (
    <>
      <Button
        words={words.replay}
        aria-label={words.replayOf(eventId)}
        disabled={busy.value}
        onClick={() => void run(replay)}
      />
      <ProblemNotice problem={problem.value} />
    </>
  );
}
