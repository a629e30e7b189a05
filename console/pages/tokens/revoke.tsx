/** The dialogs that revoke a token, and remove what it has made. */
import type { ServiceToken } from '../../../src/contract/tokens.ts';
import { useResource } from '../../api/resource.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { ProblemNotice } from '../../parts/problem.tsx';
import { dictionary } from '../../text/text.ts';
import { listWebhooks, removeWebhook } from './requests.ts';

const tokenWords = dictionary('tokens');

interface RevokeProps {
  readonly token: ServiceToken;
  readonly onClose: () => void;
  readonly onSubmit: (token: ServiceToken) => Promise<void>;
}

/** Asks whether to revoke the token. */
export function Revoke({ token, onClose, onSubmit }: RevokeProps) {
  const words = tokenWords.value;
  return (
    <ActionDialog
      title={words.revokeOf(token.name)}
      submit={words.revoke}
      isDangerous
      onSubmit={() => onSubmit(token)}
      onClose={onClose}
    >
      <p>{words.askRevoke}</p>
    </ActionDialog>
  );
}

/** What a revoked token has made and what still exists. */
export interface Made {
  readonly tokenId: string;
  readonly name: string;
  /** Ids. */
  readonly webhooks: readonly string[];
}

interface RemoveMadeProps {
  readonly made: Made;
  readonly onClose: () => void;
  /** Called when all of them are removed. */
  readonly onDone: () => void;
}

/** Shows the webhooks that a revoked token has made, and offers to remove them. */
export function RemoveMade({ made: { tokenId, name, webhooks }, onClose, onDone }: RemoveMadeProps) {
  const words = tokenWords.value;
  const { data, problem, reload } = useResource(listWebhooks);
  const addressOf = (id: string) => data.value?.list.find(({ webhookId }) => webhookId === id)?.url;
  const submit = async (key: string) => {
    for (const webhookId of webhooks) await removeWebhook(webhookId, `${key}.${webhookId}`);
    onDone();
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
