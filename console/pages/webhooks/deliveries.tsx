/** The last attempts of a webhook. */
import { useSignal } from '@preact/signals';
import { webhookBounds } from '../../../src/contract/limits.ts';
import type { WebhookAttempt, WebhookItem } from '../../../src/contract/webhooks.ts';
import { useAction } from '../../api/action.ts';
import { settled, useRefresh } from '../../api/live.ts';
import { call } from '../../api/request.ts';
import { useResource } from '../../api/resource.ts';
import { CloseButton, Dialog } from '../../parts/dialog.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { ProblemNotice } from '../../parts/problem.tsx';
import type { RecordDialogProps } from '../../parts/records.tsx';
import { RecordTable } from '../../parts/records.tsx';
import { Moment } from '../../parts/time.tsx';
import { text, webhooks as words } from '../../text/words.ts';

/** What happened to the last events, the latest attempt first. It follows new attempts; an event is posted again on demand. */
export function Deliveries({ record: { webhookId, url }, onClose }: RecordDialogProps<WebhookItem>) {
  const attempts = useResource(signal => call('webhookDeliveries', { params: { webhookId } }, { signal }));
  useRefresh(attempts.reload, () => true, settled);
  const result = useSignal('');
  const { problem, run } = useAction();
  const replay = async ({ eventId }: WebhookAttempt) => {
    const params = { webhookId, deliveryId: `${eventId}` };
    const { delivered, milliseconds, reason } = await call('replayWebhookDelivery', { params });
    result.value = delivered ? words.taken(url, milliseconds) : words.notTaken(url, reason ?? '');
  };
  return (
    <Dialog title={words.of.deliveries(url)} onClose={onClose}>
      <p class="hint">{words.attempts(webhookBounds.attempts)}</p>
      <Loaded from={attempts}>
        {({ list }) =>
          list.length === 0 ? (
            <p class="hint">{words.noAttempt}</p>
          ) : (
            <RecordTable
              title={words.attempt.title}
              kind={{
                ...attemptKind,
                actions: {
                  replay: {
                    start: attempt => void run(() => replay(attempt)),
                    // Once for each event: at its latest attempt.
                    isFor: attempt => list.find(({ eventId }) => eventId === attempt.eventId) === attempt,
                  },
                },
              }}
              words={words.attempt}
              records={list}
            />
          )
        }
      </Loaded>
      <p role="status">{result.value}</p>
      <ProblemNotice problem={problem.value} />
      <CloseButton onClose={onClose} />
    </Dialog>
  );
}

const attemptKind = {
  keyOf: ({ eventId, attempt, at }: WebhookAttempt) => `${eventId} ${attempt} ${at}`,
  nameOf: ({ eventId }: WebhookAttempt) => `${eventId}`,
  columns: {
    time: ({ at }: WebhookAttempt) => <Moment at={at} />,
    event: ({ eventId, type }: WebhookAttempt) => `${eventId} ${(text.event as Record<string, string>)[type] ?? type}`,
    attempt: ({ attempt }: WebhookAttempt) => attempt,
    result: ({ delivered, httpStatus, reason, milliseconds }: WebhookAttempt) => (
      <>
        <span class={`badge ${delivered ? 'good' : 'bad'}`}>{delivered ? words.delivered : words.failed}</span>{' '}
        {[httpStatus, reason, `${milliseconds} ms`].filter(part => part !== null).join(', ')}
      </>
    ),
  },
  classes: { time: 'keep' },
};
