/** The dialogs that revoke a token, and remove what it has made. */
import type { ServiceToken } from '../../../src/contract/tokens.ts';
import { Problem } from '../../api/problem.ts';
import { call } from '../../api/request.ts';
import { useResource } from '../../api/resource.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { ProblemNotice } from '../../parts/problem.tsx';
import type { RecordDialogProps } from '../../parts/records.tsx';
import { text, tokens as words } from '../../text/words.ts';

/** Asks whether to revoke the token, then whether to remove the webhooks that it has made. */
export function Revoke({ record: token, onClose, onDone }: RecordDialogProps<ServiceToken>) {
  return (
    <ActionDialog
      title={text.common.of(words.action.revoke, token.name)}
      submit={words.action.revoke}
      isDangerous
      onSubmit={async (_key, follow) => {
        const { made } = await call('revokeToken', { params: { tokenId: token.tokenId } });
        onDone(words.revoked(token.name));
        if (made.webhooks.length > 0)
          follow(<RemoveMade token={token} webhooks={made.webhooks} onClose={onClose} onDone={onDone} />);
      }}
      onClose={onClose}
    >
      <p>{words.askRevoke}</p>
    </ActionDialog>
  );
}

interface RemoveMadeProps extends Omit<RecordDialogProps<ServiceToken>, 'record'> {
  readonly token: ServiceToken;
  /** Ids. */
  readonly webhooks: readonly string[];
}

function RemoveMade({ token: { tokenId, name }, webhooks, onClose, onDone }: RemoveMadeProps) {
  const { data, problem, reload } = useResource(signal => call('listWebhooks', {}, { signal }));
  const addressOf = (id: string) => data.value?.list.find(({ webhookId }) => webhookId === id)?.url;
  const submit = async (key: string) => {
    for (const webhookId of webhooks) await removeWebhook(webhookId, `${key}.${webhookId}`);
    onDone(words.removed(name));
  };
  return (
    <ActionDialog title={words.madeBy(name)} submit={words.removeMade} isDangerous onSubmit={submit} onClose={onClose}>
      <p>{words.askRemove}</p>
      <ul>
        {webhooks.map(id => (
          <li key={id}>
            {id} <span class="code">{addressOf(id)}</span>
          </li>
        ))}
      </ul>
      <ProblemNotice problem={problem.value} retry={reload} />
      <p class="hint">
        {words.removeLater} <span class="code">{`devmgr tokens revoke ${tokenId} --remove-made`}</span>
      </p>
    </ActionDialog>
  );
}

/** One that another person has removed is done. `key`: the same for each attempt. */
async function removeWebhook(webhookId: string, key: string): Promise<void> {
  try {
    await call('removeWebhook', { params: { webhookId } }, { key });
  } catch (error) {
    if (!(error instanceof Problem && error.code === 404)) throw error;
  }
}
