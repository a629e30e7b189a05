/** The dialogs that create a webhook and show its secret, once. */
import type { ComponentChildren } from 'preact';
import type { DataOf } from '../../../src/contract/define.ts';
import { webhookBounds } from '../../../src/contract/limits.ts';
import type { Routes } from '../../../src/contract/routes.ts';
import { type JournalEventType, journalEventTypes } from '../../../src/contract/values.ts';
import { call } from '../../api/request.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { CopyField } from '../../parts/copy.tsx';
import { CloseButton, Dialog } from '../../parts/dialog.tsx';
import { useEntries } from '../../parts/entries.ts';
import { Field } from '../../parts/field.tsx';
import { CheckBoxes } from '../../parts/inputs.tsx';
import type { DialogProps } from '../../parts/records.tsx';
import { dictionary, text } from '../../text/text.ts';

const webhookWords = dictionary('webhooks');

/** Asks, creates, then shows the secret until the dialog closes. */
export function CreateWebhook({ onClose, onDone }: DialogProps) {
  const words = webhookWords.value;
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
    <ActionDialog
      title={words.action.create}
      submit={words.action.create}
      isReady={url.value.trim() !== ''}
      onSubmit={submit}
      onClose={onClose}
    >
      <Field
        label={words.column.url}
        placeholder="https://hooks.example.com/devmgr"
        entry={url}
        required
        autocomplete="off"
        maxLength={webhookBounds.url}
      />
      <CheckBoxes
        label={words.types}
        values={journalEventTypes}
        chosen={types.value}
        wordOf={type => text.value.event[type]}
        onChoose={chosen => {
          types.value = chosen;
        }}
      />
      <Field
        label={words.ownSecret}
        type="password"
        entry={secret}
        autocomplete="off"
        maxLength={webhookBounds.secret}
      />
    </ActionDialog>
  );
}

interface CreatedProps {
  readonly webhook: DataOf<Routes['createWebhook']>;
  readonly secret: string;
  readonly onClose: () => void;
}

function Created({ webhook: { webhookId }, secret, onClose }: CreatedProps) {
  const words = webhookWords.value;
  return (
    <Dialog title={words.created(webhookId)} onClose={onClose}>
      <p>
        <strong>{words.once}</strong>
      </p>
      <CopyField label={words.secret} value={secret} />
      <CloseButton onClose={onClose} />
    </Dialog>
  );
}
