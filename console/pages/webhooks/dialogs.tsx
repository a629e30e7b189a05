/** The dialogs that create a webhook and show its secret, once, and that show its last attempts. */

import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { type JournalEventType, journalEventTypes } from '../../../src/contract/event-types.ts';
import { webhookBounds } from '../../../src/contract/limits.ts';
import type { WebhookAttempt, WebhookItem } from '../../../src/contract/webhooks.ts';
import { useAction } from '../../api/action.ts';
import { settled, useRefresh } from '../../api/live.ts';
import { call, type Data } from '../../api/request.ts';
import { useResource } from '../../api/resource.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { CloseButton, Dialog } from '../../parts/dialog.tsx';
import { Field, useEntries } from '../../parts/field.tsx';
import { CheckBoxes } from '../../parts/inputs.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { ProblemNotice } from '../../parts/problem.tsx';
import { type DialogProps, type RecordDialogProps, RecordTable } from '../../parts/records.tsx';
import { SecretDialog } from '../../parts/secret-dialog.tsx';
import { Moment } from '../../parts/time.tsx';
import { labels } from '../../text/text.ts';
import { text, webhooks as words } from '../../text/words.ts';

/** Asks, creates, then shows the secret until the dialog closes. */
export function CreateWebhook({ onClose, onDone }: DialogProps) {
  const { url, types, secret } = useEntries({ url: '', types: [] as JournalEventType[], secret: '' });
  const submit = async (_key: string, follow: (next: ComponentChildren) => void) => {
    const body = {
      url: url.value.trim(),
      types: types.value.length ? types.value : null,
      secret: secret.value.trim() || null,
    };
    const created = await call('createWebhook', { body });
    onDone(words.done.create(created.url));
    if (created.secret !== null) follow(<Created webhook={created} secret={created.secret} onClose={onClose} />);
  };
  return (
    <ActionDialog title={words.action.create} isReady={url.value.trim() !== ''} onSubmit={submit} onClose={onClose}>
      <Field
        label={words.column.url}
        placeholder="https://hooks.example.com/devmgr"
        entry={url}
        required
        maxLength={webhookBounds.url}
      />
      <CheckBoxes label={words.types} entry={types} values={journalEventTypes} words={labels(text.event)} />
      <Field label={words.ownSecret} type="password" entry={secret} maxLength={webhookBounds.secret} />
    </ActionDialog>
  );
}

type CreatedWebhookProps = Readonly<{ webhook: Data<'createWebhook'>; secret: string; onClose: () => void }>;

const Created = ({ webhook: { webhookId }, secret, onClose }: CreatedWebhookProps) => (
  <SecretDialog
    title={words.created(webhookId)}
    once={words.once}
    label={words.secret}
    value={secret}
    onClose={onClose}
  />
);

/** Deliveries of the last events, the latest attempt first. It follows new attempts; an event is posted again on demand. */
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
        {({ list }) => (
          <RecordTable
            title={words.action.deliveries}
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
            none={words.noAttempt}
          />
        )}
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
  // The reason of a failed delivery is read whole.
  classes: { time: 'keep', result: 'free' },
};
