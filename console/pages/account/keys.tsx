/** The security keys of the person: list, registration, removal. */
import { useSignal } from '@preact/signals';
import type { DataOf } from '../../../src/contract/define.ts';
import type { Routes } from '../../../src/contract/routes.ts';
import type { Passkey } from '../../../src/contract/webauthn.ts';
import { useAction } from '../../api/action.ts';
import { canUseKeys, newCredential } from '../../api/keys.ts';
import { call } from '../../api/request.ts';
import { useResource } from '../../api/resource.ts';
import { endSession, session } from '../../api/session.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { ProblemNotice } from '../../parts/problem.tsx';
import { type RecordDialogProps, type RecordKind, RecordTable } from '../../parts/records.tsx';
import { day, moment } from '../../text/numbers.ts';
import { dictionary, text } from '../../text/text.ts';

const words = dictionary('account');

type KeysOfUser = DataOf<Routes['listKeysOfUser']>;

const userId = (): string => session.peek()?.user.id ?? '';

/** Whether the token of the session may register a key and nothing else. */
const mayOnlyRegister = (): boolean => session.value?.mustRegisterKey === true;

const keys: RecordKind<Passkey, 'name' | 'site' | 'registered' | 'used', 'remove'> = {
  keyOf: ({ passkeyId }) => passkeyId,
  nameOf: ({ name }) => name,
  columns: {
    name: ({ name }) => name,
    site: ({ rpId }) => rpId,
    registered: ({ createdAt }) => day(createdAt),
    used: ({ lastUsedAt }) => (lastUsedAt ? moment(lastUsedAt) : text.value.common.never),
  },
  actions: { remove: { Dialog: RemoveKey, isFor: () => !mayOnlyRegister() } },
};

/** The keys of the person. */
export function Keys() {
  const resource = useResource(signal => call('listKeysOfUser', { params: { userId: userId() } }, { signal }));
  const { reload } = resource;
  return (
    <section>
      <h2>{words.value.title}</h2>
      <p class="hint">{words.value.keysHint}</p>
      <Loaded from={resource}>
        {({ list }) =>
          list.length ? (
            <RecordTable kind={keys} words={words.value} records={list} onDone={reload} />
          ) : (
            <p>{words.value.noKeys}</p>
          )
        }
      </Loaded>
      {canUseKeys() ? (
        <AddKey onAdded={() => (mayOnlyRegister() ? endSession('registered') : reload())} />
      ) : (
        <p class="hint">{words.value.cannot}</p>
      )}
      {resource.data.value && !mayOnlyRegister() && <Requirement of={resource.data.value} onChanged={reload} />}
    </section>
  );
}

function AddKey({ onAdded }: { readonly onAdded: () => void }) {
  const name = useSignal('');
  const { busy, problem, submit } = useAction();
  const add = async () => {
    const { options } = await call('getKeyRegistrationOptions', {});
    const response = await newCredential(options);
    await call('registerKey', { body: { name: name.value, response } });
    name.value = '';
    onAdded();
  };
  return (
    <form class="line" onSubmit={submit(add)}>
      <Field
        label={words.value.column.name}
        entry={name}
        placeholder={words.value.keyExample}
        maxLength={64}
        required
      />
      <button type="submit" disabled={busy.value}>
        {words.value.add}
      </button>
      <ProblemNotice problem={problem.value} />
    </form>
  );
}

function RemoveKey({ record: { passkeyId, name }, onClose, onDone }: RecordDialogProps<Passkey>) {
  const remove = async () => {
    await call('removeKeyOfUser', { params: { userId: userId(), passkeyId } });
    onDone();
  };
  return (
    <ActionDialog
      title={words.value.removeTitle(name)}
      submit={words.value.action.remove}
      isDangerous
      onSubmit={remove}
      onClose={onClose}
    >
      <p>{words.value.removeHint}</p>
    </ActionDialog>
  );
}

/** Whether each sign-in of the person needs a key. */
function Requirement({ of: { list, requiredByUser }, onChanged }: { readonly of: KeysOfUser; onChanged: () => void }) {
  const { busy, problem, run } = useAction();
  const require = async (required: boolean) => {
    await call('requireKeyOfUser', { params: { userId: userId() }, body: { required } });
    onChanged();
  };
  return (
    <>
      <label class="check">
        <input
          type="checkbox"
          checked={requiredByUser}
          disabled={busy.value || (!list.length && !requiredByUser)}
          onChange={event => {
            const { checked } = event.currentTarget;
            void run(() => require(checked));
          }}
        />
        {words.value.requireOwn}
      </label>
      <ProblemNotice problem={problem.value} />
    </>
  );
}
