/** The dialogs that create a webhook and show its secret, once. */
import type { ComponentChildren } from 'preact';
import { type JournalEventType, journalEventTypes } from '../../../src/contract/event-types.ts';
import { webhookBounds } from '../../../src/contract/limits.ts';
import { call, type Data } from '../../api/request.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { Field, useEntries } from '../../parts/field.tsx';
import { CheckBoxes } from '../../parts/inputs.tsx';
import type { DialogProps } from '../../parts/records.tsx';
import { SecretDialog } from '../../parts/secret-dialog.tsx';
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
