/** The dialogs that create a token and show it, once. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { DataOf } from '../../../src/contract/define.ts';
import { serviceTokenDays, textLengths } from '../../../src/contract/limits.ts';
import type { Routes } from '../../../src/contract/routes.ts';
import { type Role, type TokenPermission, tokenPermissions } from '../../../src/contract/values.ts';
import { call } from '../../api/request.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { CopyField } from '../../parts/copy.tsx';
import { CloseButton, Dialog, FocusedButton } from '../../parts/dialog.tsx';
import { useEntries } from '../../parts/entries.ts';
import { Field } from '../../parts/field.tsx';
import { CheckBoxes, TextArea } from '../../parts/inputs.tsx';
import type { DialogProps } from '../../parts/records.tsx';
import { RoleChoice } from '../../parts/role-choice.tsx';
import { moment } from '../../text/numbers.ts';
import { dictionary } from '../../text/text.ts';

const roleWords = dictionary('roles');
const tokenWords = dictionary('tokens');

const first = { name: '', role: 'DEALER' as Role, may: [] as TokenPermission[], days: '90', networks: '' };

/** Asks, creates, then shows the token until the dialog closes. */
export function CreateToken({ onClose, onDone }: DialogProps) {
  const words = tokenWords.value;
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
      submit={words.action.create}
      isReady={name.value.trim() !== '' && isWhole}
      onSubmit={submit}
      onClose={onClose}
    >
      <TokenFields entries={entries} />
    </ActionDialog>
  );
}

function TokenFields({ entries }: { readonly entries: ReturnType<typeof useEntries<typeof first>> }) {
  const words = tokenWords.value;
  const { name, role, may, days, networks } = entries;
  return (
    <>
      <Field
        label={words.name}
        placeholder={words.nameHint}
        entry={name}
        required
        autocomplete="off"
        maxLength={textLengths.tokenName}
      />
      <RoleChoice label={words.column.role} role={role} />
      <CheckBoxes
        label={words.permissions}
        values={tokenPermissions}
        chosen={may.value}
        wordOf={each => words.permission[each]}
        onChoose={chosen => {
          may.value = chosen;
        }}
      />
      <Field
        label={words.days(serviceTokenDays.min, serviceTokenDays.max)}
        type="number"
        entry={days}
        required
        autocomplete="off"
      />
      <TextArea label={words.networks} hint={words.networksHint} entry={networks} rows={3} class="code" />
    </>
  );
}

interface CreatedProps {
  readonly token: DataOf<Routes['createToken']>;
  readonly onClose: () => void;
}

function Created({ token: { token, name, role, expiresAt }, onClose }: CreatedProps) {
  const words = tokenWords.value;
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
      <p class="hint">{words.until(roleWords.value.name[role], moment(expiresAt))}</p>
      {isAsking.value ? (
        <>
          <p role="alert">{words.askClose}</p>
          <p class="actions">
            <FocusedButton onClick={close}>{words.keepOpen}</FocusedButton>
            <button type="button" class="danger" onClick={onClose}>
              {words.closeUncopied}
            </button>
          </p>
        </>
      ) : (
        <CloseButton onClose={close} />
      )}
    </Dialog>
  );
}
