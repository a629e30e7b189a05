/** The dialogs that create a token and show it, once, and that revoke one and remove what it has made. */
import type { ComponentChildren } from 'preact';
import { serviceTokenDays, textLengths } from '../../../src/contract/limits.ts';
import type { ServiceToken } from '../../../src/contract/tokens.ts';
import { type Role, type TokenPermission, tokenPermissions } from '../../../src/contract/values.ts';
import { Problem } from '../../api/problem.ts';
import { call, type Data } from '../../api/request.ts';
import { useResource } from '../../api/resource.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { Field, useEntries } from '../../parts/field.tsx';
import { CheckBoxes } from '../../parts/inputs.tsx';
import { ProblemNotice } from '../../parts/problem.tsx';
import type { DialogProps, RecordDialogProps } from '../../parts/records.tsx';
import { RoleChoice } from '../../parts/role-choice.tsx';
import { SecretDialog } from '../../parts/secret-dialog.tsx';
import { moment } from '../../text/numbers.ts';
import { text, tokens as words } from '../../text/words.ts';

const first = { name: '', role: 'DEALER' as Role, may: [] as TokenPermission[], days: '90', networks: '' };

/** Asks, creates, then shows the token until the dialog closes. */
export function CreateToken({ onClose, onDone }: DialogProps) {
  const entries = useEntries(first);
  const { name, role, may, days, networks } = entries;
  const { min, max } = serviceTokenDays;
  const isWhole = /^\d+$/.test(days.value) && Number(days.value) >= min && Number(days.value) <= max;
  const submit = async (_key: string, follow: (next: ComponentChildren) => void) => {
    const allowedFrom = networks.value.split(/[\s,;]+/).filter(Boolean);
    const body = {
      name: name.value.trim(),
      role: role.value,
      expiresInDays: Number(days.value),
      allowedFrom: allowedFrom.length ? allowedFrom : null,
      may: may.value,
    };
    const created = await call('createToken', { body });
    onDone();
    follow(<Created token={created} onClose={onClose} />);
  };
  return (
    <ActionDialog
      title={words.action.create}
      isReady={name.value.trim() !== '' && isWhole}
      onSubmit={submit}
      onClose={onClose}
    >
      <TokenFields entries={entries} />
    </ActionDialog>
  );
}

function TokenFields({ entries }: { readonly entries: ReturnType<typeof useEntries<typeof first>> }) {
  const { name, role, may, days, networks } = entries;
  return (
    <>
      <Field
        label={text.column.name}
        placeholder={words.nameHint}
        entry={name}
        required
        maxLength={textLengths.tokenName}
      />
      <RoleChoice role={role} />
      <CheckBoxes label={words.permissions} entry={may} values={tokenPermissions} words={words.permission} />
      <Field label={words.days(serviceTokenDays.min, serviceTokenDays.max)} type="number" entry={days} required />
      <Field label={words.networks} hint={words.networksHint} entry={networks} rows={3} class="code" />
    </>
  );
}

type CreatedTokenProps = Readonly<{ token: Data<'createToken'>; onClose: () => void }>;

const Created = ({ token: { token, name, role, expiresAt }, onClose }: CreatedTokenProps) => (
  <SecretDialog title={words.created(name)} once={words.once} label={words.token} value={token} onClose={onClose}>
    <p class="hint">{words.until(text.role[role], moment(expiresAt))}</p>
  </SecretDialog>
);

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
        {words.removeLater} <span class="code">{`devmgr tokens remove ${tokenId} --remove-made`}</span>
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
