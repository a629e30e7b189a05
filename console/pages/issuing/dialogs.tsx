/** The dialogs that add a provider, replace its secret, and compare credentials with it. */
import { useSignal } from '@preact/signals';
import { providerBounds } from '../../../src/contract/limits.ts';
import {
  forEachProviderSetting,
  type ProviderSetting,
  providerSettings,
  settingsOfProvider,
} from '../../../src/contract/provider-fields.ts';
import type { ProviderItem } from '../../../src/contract/providers.ts';
import { isOwnType, type ProviderType, providerTypes } from '../../../src/contract/values.ts';
import { allDifferences, type Differences, repairable } from '../../../src/fleet/reconcile.ts';
import { call } from '../../api/request.ts';
import { useResource } from '../../api/resource.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { type BoundField, Field, type FieldOptions, useEntries } from '../../parts/field.tsx';
import { Choice } from '../../parts/inputs.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import type { DialogProps, RecordDialogProps } from '../../parts/records.tsx';
import { Table } from '../../parts/table.tsx';
import { linkTo } from '../../router.ts';
import { text, providers as words } from '../../text/words.ts';

const none = forEachProviderSetting(providerSettings, () => '');

/** Asks for what the type needs. The secret is sent once, and never shown again. */
export function AddProvider({ onClose, onDone }: DialogProps) {
  const entries = useEntries({ name: '', type: 'entra' as ProviderType, secret: '', ...none });
  const { name, type, secret } = entries;
  const { needs, may } = settingsOfProvider(type.value);
  const offered = [...needs, ...may];
  const secretLabel = isOwnType(type.value) ? null : words.secret[type.value];
  const isReady = [name, ...(secretLabel ? [secret] : []), ...needs.map(setting => entries[setting])].every(
    ({ value }) => value.trim() !== '',
  );
  const submit = async () => {
    const settings = offered.map(setting => [setting, entries[setting].value.trim() || null] as const);
    const body = { name: name.value.trim(), type: type.value, secret: secretLabel ? secret.value.trim() : null };
    const added = await call('createProvider', { body: { ...body, ...Object.fromEntries(settings) } });
    onDone(words.done.create(added.name));
  };
  return (
    <ActionDialog title={words.action.create} isReady={isReady} onSubmit={submit} onClose={onClose}>
      <Choice label={text.column.type} entry={type} values={providerTypes} words={words.type} />
      <Field label={text.column.name} hint={words.nameHint} entry={name} required maxLength={providerBounds.name} />
      {offered.map(setting => (
        <Field
          key={`${type.value} ${setting}`}
          label={labelOf(type.value, setting, needs.includes(setting))}
          entry={entries[setting]}
          required={needs.includes(setting)}
          maxLength={providerBounds.url}
        />
      ))}
      {secretLabel && <SecretField label={secretLabel} entry={secret} />}
    </ActionDialog>
  );
}

const SecretField = (props: Pick<FieldOptions, 'label' | 'hint'> & BoundField<string>) => (
  <Field {...props} type="password" required maxLength={providerBounds.secret} />
);

function labelOf(type: ProviderType, setting: ProviderSetting, isNeeded: boolean): string {
  const label = setting === 'address' ? words.address[type as keyof typeof words.address] : words.setting[setting];
  return isNeeded ? label : text.common.optional(label);
}

/** Only for providers with a secret: `type` is neither devmgr nor ssh. The secret is sent once, and never shown again. */
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
      <SecretField label={label} hint={words.secretHint} entry={secret} />
    </ActionDialog>
  );
}

interface DifferenceLine {
  readonly difference: keyof (typeof words)['difference'];
  readonly id: string;
  readonly deviceId?: string;
  readonly account?: string;
}

const columns = {
  credential: ({ id }: DifferenceLine) => <span class="code">{id}</span>,
  of: ({ deviceId, account }: DifferenceLine) =>
    deviceId ? <a href={linkTo(`devices/${deviceId}`)}>{deviceId}</a> : account,
  difference: ({ difference }: DifferenceLine) => words.difference[difference],
};

const linesOf = ({ onlyHere, onlyThere, otherPerson }: Differences): DifferenceLine[] => [
  ...onlyHere.map(({ credentialId, deviceId }) => ({ difference: 'onlyHere' as const, id: credentialId, deviceId })),
  ...otherPerson.map(({ credentialId, deviceId }) => ({ difference: 'other' as const, id: credentialId, deviceId })),
  ...onlyThere.map(({ remoteId, account, removable }) => ({
    difference: removable ? ('onlyThere' as const) : ('stays' as const),
    id: remoteId,
    account,
  })),
];

/** A preview first; what was seen is then repaired, if anything can be. */
export function Reconcile({ record: { providerId, name }, onClose, onDone }: RecordDialogProps<ProviderItem>) {
  const compare = (apply: boolean, signal?: AbortSignal) =>
    allDifferences(
      body => call('reconcileProvider', { params: { providerId }, body }, { ...(signal && { signal }) }),
      apply,
    );
  const found = useResource(signal => compare(false, signal));
  const count = found.data.value ? repairable(found.data.value) : 0;
  const submit = async () => onDone(words.repaired(repairable(await compare(true)), name));
  return (
    <ActionDialog
      title={words.of.reconcile(name)}
      submit={words.repair}
      isDangerous
      isReady={count > 0}
      onSubmit={submit}
      onClose={onClose}
    >
      <Loaded from={found}>
        {differences => {
          const rows = linesOf(differences);
          return rows.length === 0 ? (
            <p role="status">{words.agree}</p>
          ) : (
            <>
              <Table
                title={words.action.reconcile}
                heads={words.differing}
                columns={columns}
                classes={{ difference: 'free' }}
                rows={rows}
                keyOf={({ id, difference }) => `${difference} ${id}`}
                isOneLine
              />
              <p class="hint">{words.repairs(count)}</p>
            </>
          );
        }}
      </Loaded>
    </ActionDialog>
  );
}
