/** The dialogs that test, disable, enable and remove a webhook. */
import type { WebhookItem } from '../../../src/contract/webhooks.ts';
import { call } from '../../api/request.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import type { RecordDialogProps } from '../../parts/records.tsx';
import { dictionary } from '../../text/text.ts';

const webhookWords = dictionary('webhooks');

type WebhookDialogProps = RecordDialogProps<WebhookItem>;

interface ChangeProps extends Omit<WebhookDialogProps, 'onDone'> {
  readonly action: 'test' | 'disable' | 'enable' | 'remove';
  readonly onSubmit: (key: string) => Promise<void>;
}

function ChangeDialog({ record: { url }, action, onSubmit, onClose }: ChangeProps) {
  const words = webhookWords.value;
  return (
    <ActionDialog
      title={words.of[action](url)}
      submit={words.action[action]}
      isDangerous={action === 'disable' || action === 'remove'}
      onSubmit={onSubmit}
      onClose={onClose}
    >
      <p>{words.ask[action]}</p>
    </ActionDialog>
  );
}

/** Posts a test message, and reports whether the endpoint took it. */
export function TestWebhook({ onDone, ...props }: WebhookDialogProps) {
  const words = webhookWords.value;
  const { webhookId, url } = props.record;
  const submit = async (key: string) => {
    const { delivered, milliseconds, reason } = await call('testWebhook', { params: { webhookId } }, { key });
    onDone(delivered ? words.done.test(url, milliseconds) : words.notTaken(url, reason ?? ''));
  };
  return <ChangeDialog {...props} action="test" onSubmit={submit} />;
}

/** Disables a webhook. */
export function DisableWebhook({ onDone, ...props }: WebhookDialogProps) {
  const { webhookId, url } = props.record;
  const submit = async (key: string) => {
    await call('disableWebhook', { params: { webhookId } }, { key });
    onDone(webhookWords.value.done.disable(url));
  };
  return <ChangeDialog {...props} action="disable" onSubmit={submit} />;
}

/** Enables a webhook that is disabled or waits for its next attempt: its next event is posted at once. */
export function EnableWebhook({ onDone, ...props }: WebhookDialogProps) {
  const { webhookId, url } = props.record;
  const submit = async (key: string) => {
    await call('enableWebhook', { params: { webhookId } }, { key });
    onDone(webhookWords.value.done.enable(url));
  };
  return <ChangeDialog {...props} action="enable" onSubmit={submit} />;
}

/** Removes a webhook permanently. */
export function RemoveWebhook({ onDone, ...props }: WebhookDialogProps) {
  const { webhookId, url } = props.record;
  const submit = async (key: string) => {
    await call('removeWebhook', { params: { webhookId } }, { key });
    onDone(webhookWords.value.done.remove(url));
  };
  return <ChangeDialog {...props} action="remove" onSubmit={submit} />;
}
