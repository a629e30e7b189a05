/** The dialogs that add and change a provider, replace its secret, and compare credentials with it. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren, ComponentType } from 'preact';
import { useMemo } from 'preact/hooks';
import { providerBounds } from '../../../src/contract/limits.ts';
import type { ProviderItem } from '../../../src/contract/providers.ts';
import { providerTypes } from '../../../src/contract/values.ts';
import { directoryPart, signInPart } from '../../../src/fleet/provider-parts.ts';
import { allDifferences, type Differences, repairable } from '../../../src/fleet/reconcile.ts';
import { call, type Input } from '../../api/request.ts';
import { useResource } from '../../api/resource.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { CopyField } from '../../parts/copy.tsx';
import { Field, useEntries } from '../../parts/field.tsx';
import { Choice } from '../../parts/inputs.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import type { DialogProps, RecordDialogProps } from '../../parts/records.tsx';
import { SecretDialog } from '../../parts/secret-dialog.tsx';
import { SettingsFields, useSettingsForm } from '../../parts/settings-form.tsx';
import { Table } from '../../parts/table.tsx';
import { linkTo } from '../../router.ts';
import { moment } from '../../text/numbers.ts';
import { text, providers as words } from '../../text/words.ts';
import { type AnyType, formOf } from './forms.ts';
import { TestProvider } from './parts.tsx';
import { type ProviderRow, type ProviderSettings, providerSettings } from './rows.ts';

interface ProviderDialogProps extends DialogProps {
  readonly title: string;
  /** The types to choose from. */
  readonly types: readonly AnyType[];
  readonly settings: Partial<ProviderSettings>;
  /** The name that it has. */
  readonly present?: string;
}

/** Asks for what the type needs. A secret is sent once, and never shown again. */
function ProviderDialog({ title, types, settings, present = '', onClose, onDone }: ProviderDialogProps) {
  const { name, type } = useEntries({ name: present, type: types[0]! });
  const { fields, before, ...shown } = useMemo(() => formOf(type.value, settings), [type.value]);
  const form = useSettingsForm(fields, before);
  const submit = async (_key: string, follow: (next: ComponentChildren) => void) => {
    const Next = await form.send(body => send(type.value, name.value.trim(), body), storedOf[type.value]);
    onDone(words.done[present ? 'change' : 'create'](name.value.trim()));
    if (Next) follow(<Next onClose={onClose} onDone={onDone} />);
  };
  return (
    <ActionDialog title={title} isReady={form.isReady && name.value.trim() !== ''} onSubmit={submit} onClose={onClose}>
      {types.length > 1 && <Choice label={text.column.type} entry={type} values={types} words={words.type} />}
      <Field label={text.column.name} hint={words.nameHint} entry={name} required maxLength={providerBounds.name} />
      <SettingsFields key={type.value} form={form} {...shown} />
    </ActionDialog>
  );
}

/** Reads the settings of which there is one: others may have stored them since. */
const storedOf: { readonly [T in AnyType]?: () => Promise<object> } = {
  oidc: () => call('showSsoSettings', {}),
  ldap: () => call('showDirectory', {}),
};

/** Stores what was entered. Resolves to the dialog that follows: what can be tested is tested, and a token is shown once. */
async function send(type: AnyType, name: string, entered: object): Promise<ComponentType<DialogProps> | null> {
  const body = { ...entered, name };
  if (type === 'oidc' || type === 'ldap') {
    const part = type === 'oidc' ? signInPart(name, null) : directoryPart(name, null, null);
    await (type === 'oidc' ? call('setSso', { body }) : call('setDirectory', { body }));
    return props => <TestProvider record={{ name, parts: [part] }} {...props} />;
  }
  if (type === 'scim') {
    const fixed = { name, role: 'VIEWER' as const, may: ['scim' as const] };
    const { token, expiresAt } = await call('createToken', {
      body: { ...(entered as Pick<Input<'createToken'>['body'], 'expiresInDays'>), ...fixed },
    });
    return ({ onClose }) => (
      <SecretDialog title={words.tokenOf(name)} once={words.once} label={words.token} value={token} onClose={onClose}>
        <CopyField label={words.scimAddress} value={`${location.origin}/scim/v2`} />
        <p class="hint">{words.until(moment(expiresAt))}</p>
      </SecretDialog>
    );
  }
  await call('createProvider', { body: { secret: null, ...body, type } });
  return null;
}

/** Adds a provider. The types of which there is one already are not offered. */
export function AddProvider(props: DialogProps) {
  const settings: Partial<ProviderSettings> = useResource(providerSettings).data.value ?? {};
  const single = (['oidc', 'ldap'] as const).filter(type => settings[type]?.enabled === false);
  const types = [...providerTypes, ...single, 'scim' as const];
  return <ProviderDialog title={words.action.create} types={types} settings={settings} {...props} />;
}

type ChangeProviderProps = RecordDialogProps<ProviderRow> & { readonly type: 'oidc' | 'ldap' };

/** Changes the settings of sign-in or of the directory. */
export const ChangeProvider = ({ record: { name, settings }, type, ...props }: ChangeProviderProps) => (
  <ProviderDialog title={words.of[type](name)} types={[type]} settings={settings} present={name} {...props} />
);

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
      <Field
        label={label}
        hint={words.secretHint}
        entry={secret}
        type="password"
        required
        maxLength={providerBounds.secret}
      />
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
