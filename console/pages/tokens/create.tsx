/** The dialogs that create a token and show it, once. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { serviceTokenDays, textLengths } from '../../../src/contract/limits.ts';
import { type Role, type TokenPermission, tokenPermissions } from '../../../src/contract/values.ts';
import { call, type Data } from '../../api/request.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { Button } from '../../parts/button.tsx';
import { CopyField } from '../../parts/copy.tsx';
import { CloseButton, Dialog } from '../../parts/dialog.tsx';
import { Field, useEntries } from '../../parts/field.tsx';
import { CheckBoxes, TextArea } from '../../parts/inputs.tsx';
import type { DialogProps } from '../../parts/records.tsx';
import { RoleChoice } from '../../parts/role-choice.tsx';
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
      <RoleChoice label={text.column.role} role={role} />
      <CheckBoxes label={words.permissions} entry={may} values={tokenPermissions} words={words.permission} />
      <Field label={words.days(serviceTokenDays.min, serviceTokenDays.max)} type="number" entry={days} required />
      <TextArea label={words.networks} hint={words.networksHint} entry={networks} rows={3} class="code" />
    </>
  );
}

type CreatedTokenProps = Readonly<{ token: Data<'createToken'>; onClose: () => void }>;

function Created({ token: { token, name, role, expiresAt }, onClose }: CreatedTokenProps) {
  const isCopied = useSignal(false);
  const isAsking = useSignal(false);
  const close = () => {
    if (isCopied.value) onClose();
    else isAsking.value = !isAsking.value;
  };
  return (
    <Dialog title={words.created(name)} onClose={close}>
      <p>
        <strong>{words.once}</strong>
      </p>
      <CopyField label={words.token} value={token} onCopied={() => (isCopied.value = true)} />
      <p class="hint">{words.until(text.role[role], moment(expiresAt))}</p>
      {isAsking.value ? (
        <>
          <p role="alert">{words.askClose}</p>
          <p class="actions">
            <Button isFocused words={words.keepOpen} onClick={close} />
            <Button words={words.closeUncopied} class="danger" onClick={onClose} />
          </p>
        </>
      ) : (
        <CloseButton onClose={close} />
      )}
    </Dialog>
  );
}
