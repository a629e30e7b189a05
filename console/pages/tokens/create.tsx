/** The dialogs that create a token and show it, once. */
import { useSignal } from '@preact/signals';
import { useId } from 'preact/hooks';
import { serviceTokenDays, textLengths } from '../../../src/contract/limits.ts';
import { type Role, roles, type TokenPermission } from '../../../src/contract/values.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { Choice } from '../../parts/choice.tsx';
import { CopyField } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { moment } from '../../text/numbers.ts';
import { dictionary, text } from '../../text/text.ts';
import { Permissions } from './permissions.tsx';
import { type CreatedToken, changeToken, networksIn } from './requests.ts';

const roleWords = dictionary('roles');
const tokenWords = dictionary('tokens');

/** Days that the form offers. */
const DEFAULT_DAYS = 90;

interface CreateTokenProps {
  readonly onClose: () => void;
  /** Called when the token exists, before it is shown. */
  readonly onDone: () => void;
}

/** Asks, creates, then shows the token until the dialog closes: the form closes when it is answered, the dialog stays. */
export function CreateToken({ onClose, onDone }: CreateTokenProps) {
  const created = useSignal<CreatedToken | null>(null);
  return created.value ? (
    <Created
      token={created.value}
      onClose={() => {
        created.value = null;
        onClose();
      }}
    />
  ) : (
    <CreateForm
      onClose={() => {
        if (!created.peek()) onClose();
      }}
      onCreated={token => {
        created.value = token;
        onDone();
      }}
    />
  );
}

interface CreateFormProps {
  readonly onClose: () => void;
  readonly onCreated: (token: CreatedToken) => void;
}

function CreateForm({ onClose, onCreated }: CreateFormProps) {
  const words = tokenWords.value;
  const empty = { name: '', role: 'DEALER' as Role, may: [] as TokenPermission[], networks: '' };
  const entered = useSignal({ ...empty, days: `${DEFAULT_DAYS}` });
  const { name, role, may, days, networks } = entered.value;
  const enter = (change: Partial<typeof entered.value>) => {
    entered.value = { ...entered.value, ...change };
  };
  const { min, max } = serviceTokenDays;
  const isWhole = /^\d+$/.test(days) && Number(days) >= min && Number(days) <= max;
  const submit = async () => {
    const allowedFrom = networksIn(networks);
    const body = {
      name: name.trim(),
      role,
      expiresInDays: Number(days),
      allowedFrom: allowedFrom.length ? allowedFrom : null,
      may,
    };
    onCreated(await changeToken('createToken', { body }));
  };
  return (
    <ActionDialog
      title={words.create}
      submit={words.create}
      isReady={name.trim() !== '' && isWhole}
      onSubmit={submit}
      onClose={onClose}
    >
      <Field
        label={words.name}
        placeholder={words.nameHint}
        value={name}
        onText={typed => enter({ name: typed })}
        required
        autocomplete="off"
        maxLength={textLengths.tokenName}
      />
      <Choice
        label={words.column.role}
        value={role}
        values={roles}
        words={roleWords.value.name}
        hint={roleWords.value.may[role]}
        onChoose={chosen => enter({ role: chosen })}
      />
      <Permissions value={may} onChange={chosen => enter({ may: chosen })} />
      <Field
        label={words.days(min, max)}
        type="number"
        value={days}
        onText={typed => enter({ days: typed })}
        required
        autocomplete="off"
      />
      <Networks value={networks} onText={typed => enter({ networks: typed })} />
    </ActionDialog>
  );
}

function Networks({ value, onText }: { readonly value: string; readonly onText: (typed: string) => void }) {
  const words = tokenWords.value;
  const id = useId();
  return (
    <p class="field">
      <label for={id}>{words.networks}</label>
      <textarea
        id={id}
        rows={3}
        class="code"
        value={value}
        aria-describedby={`${id}-hint`}
        onInput={event => onText(event.currentTarget.value)}
      />
      <small id={`${id}-hint`}>{words.networksHint}</small>
    </p>
  );
}

function Created({
  token: { token, name, role, expiresAt },
  onClose,
}: {
  readonly token: CreatedToken;
  readonly onClose: () => void;
}) {
  const words = tokenWords.value;
  return (
    <Dialog title={words.created(name)} onClose={onClose}>
      <p>
        <strong>{words.once}</strong>
      </p>
      <CopyField label={words.token} value={token} />
      <p class="hint">{words.until(roleWords.value.name[role], moment(expiresAt))}</p>
      <p class="actions">
        <button type="button" onClick={onClose}>
          {text.value.common.close}
        </button>
      </p>
    </Dialog>
  );
}
