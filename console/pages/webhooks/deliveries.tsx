/** The last attempts of a webhook. */
import { webhookBounds } from '../../../src/contract/limits.ts';
import type { WebhookAttempt, WebhookItem } from '../../../src/contract/webhooks.ts';
import { settled, useRefresh } from '../../api/live.ts';
import { call } from '../../api/request.ts';
import { useResource } from '../../api/resource.ts';
import { CloseButton, Dialog } from '../../parts/dialog.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import type { RecordDialogProps } from '../../parts/records.tsx';
import { Table } from '../../parts/table.tsx';
import { Moment } from '../../parts/time.tsx';
import { dictionary, text } from '../../text/text.ts';

const webhookWords = dictionary('webhooks');

/** What happened to the last events, the latest attempt first. It follows new attempts. */
export function Deliveries({ record: { webhookId, url }, onClose }: RecordDialogProps<WebhookItem>) {
  const words = webhookWords.value;
  const attempts = useResource(signal => call('webhookDeliveries', { params: { webhookId } }, { signal }));
  useRefresh(attempts.reload, () => true, settled);
  return (
    <Dialog title={words.of.deliveries(url)} onClose={onClose}>
      <p class="hint">{words.attempts(webhookBounds.attempts)}</p>
      <Loaded from={attempts}>
        {({ list }) =>
          list.length === 0 ? (
            <p class="hint">{words.noAttempt}</p>
          ) : (
            <Table
              title={words.action.deliveries}
              heads={words.attempt}
              columns={columns}
              rows={list}
              keyOf={({ eventId, attempt }) => `${eventId} ${attempt}`}
            />
          )
        }
      </Loaded>
      <CloseButton onClose={onClose} />
    </Dialog>
  );
}

const columns = {
  at: ({ at }: WebhookAttempt) => <Moment at={at} />,
  event: ({ eventId, type }: WebhookAttempt) =>
    `${eventId} ${(text.value.event as Record<string, string>)[type] ?? type}`,
  attempt: ({ attempt }: WebhookAttempt) => attempt,
  result: ({ delivered, httpStatus, reason, milliseconds }: WebhookAttempt) => (
    <>
      <span class={`badge ${delivered ? 'good' : 'bad'}`}>
        {delivered ? webhookWords.value.delivered : webhookWords.value.failed}
      </span>{' '}
      {[httpStatus, reason, `${milliseconds} ms`].filter(part => part !== null).join(', ')}
    </>
  ),
};
