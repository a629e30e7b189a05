/** The dialog that replaces the secret of a provider. */
import { useSignal } from '@preact/signals';
import { providerBounds } from '../../../src/contract/limits.ts';
import type { ProviderItem } from '../../../src/contract/providers.ts';
import { call } from '../../api/request.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { Field } from '../../parts/field.tsx';
import type { RecordDialogProps } from '../../parts/records.tsx';
import { providers as words } from '../../text/words.ts';

/** Only for providers with a secret: `type` is not devmgr. The secret is sent once, and never shown again. */
export function ReplaceSecret({
  record: { providerId, name, type },
  onClose,
  onDone,
}: RecordDialogProps<ProviderItem>) {
  const secret = useSignal('');
  const submit = async () => {
    await call('setProviderSecret', { params: { providerId }, body: { secret: secret.value.trim() } });
    onDone(words.done.secret(name));
  };
  const label = words.secret[type as keyof typeof words.secret];
  return (
    <ActionDialog
      title={words.of.secret(name)}
      isReady={secret.value.trim() !== ''}
      onSubmit={submit}
      onClose={onClose}
    >
      <Field
        label={label}
        hint={words.secretHint}
        type="password"
        entry={secret}
        required
        maxLength={providerBounds.secret}
      />
    </ActionDialog>
  );
}
