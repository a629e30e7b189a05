/** The security keys of the person: list, registration, removal. */
import { useSignal } from '@preact/signals';
import { useAction } from '../../api/action.ts';
import { canUseKeys, newCredential } from '../../api/keys.ts';
import { call } from '../../api/request.ts';
import { useResource } from '../../api/resource.ts';
import { endSession } from '../../api/session.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { ProblemNotice } from '../../parts/problem.tsx';
import { day, moment } from '../../text/numbers.ts';
import { dictionary, text } from '../../text/text.ts';

const words = dictionary('account');

interface KeysProps {
  readonly userId: string;
  /** Whether the token of the session may register a key and nothing else. */
  readonly mayOnlyRegister: boolean;
}

/** The keys of a user, who is the person of the session. */
export function Keys({ userId, mayOnlyRegister }: KeysProps) {
  const { data, problem, reload } = useResource(signal => call('listKeysOfUser', { params: { userId } }, { signal }));
  const keys = data.value?.list ?? [];
  const requirement = useAction();
  const require = (required: boolean) =>
    requirement.run(async () => {
      await call('requireKeyOfUser', { params: { userId }, body: { required } });
      reload();
    });
  return (
    <section>
      <h2>{words.value.keys}</h2>
      <p class="hint">{words.value.keysHint}</p>
      <ProblemNotice problem={problem.value} retry={reload} />
      {data.value && !keys.length && <p>{words.value.noKeys}</p>}
      {keys.length > 0 && (
        <div class="scroll">
          <table>
            <thead>
              <tr>
                <th scope="col">{words.value.keyName}</th>
                <th scope="col">{words.value.site}</th>
                <th scope="col">{words.value.registered}</th>
                <th scope="col">{words.value.lastUsed}</th>
                <th scope="col">
                  <span class="unseen">{text.value.common.remove}</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {keys.map(({ passkeyId, name, rpId, createdAt, lastUsedAt }) => (
                <tr key={passkeyId}>
                  <td>{name}</td>
                  <td>{rpId}</td>
                  <td>{day(createdAt)}</td>
                  <td>{lastUsedAt ? moment(lastUsedAt) : text.value.common.never}</td>
                  <td class="number">
                    {!mayOnlyRegister && (
                      <RemoveKey userId={userId} passkeyId={passkeyId} name={name} onRemoved={reload} />
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {canUseKeys() ? (
        <AddKey onAdded={() => (mayOnlyRegister ? endSession('registered') : reload())} />
      ) : (
        <p class="hint">{words.value.cannot}</p>
      )}
      {data.value && !mayOnlyRegister && (
        <label class="check">
          <input
            type="checkbox"
            checked={data.value.requiredByUser}
            disabled={requirement.busy.value || (!keys.length && !data.value.requiredByUser)}
            onChange={event => void require(event.currentTarget.checked)}
          />
          {words.value.requireOwn}
        </label>
      )}
      <ProblemNotice problem={requirement.problem.value} />
    </section>
  );
}

function AddKey({ onAdded }: { readonly onAdded: () => void }) {
  const name = useSignal('');
  const { busy, problem, run } = useAction();
  const add = async () => {
    const { options } = await call('getKeyRegistrationOptions', {});
    const response = await newCredential(options);
    await call('registerKey', { body: { name: name.value, response } });
    name.value = '';
    onAdded();
  };
  return (
    <form
      class="line"
      onSubmit={event => {
        event.preventDefault();
        void run(add);
      }}
    >
      <Field
        label={words.value.keyName}
        value={name.value}
        onText={typed => {
          name.value = typed;
        }}
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

interface RemoveKeyProps {
  readonly userId: string;
  readonly passkeyId: string;
  readonly name: string;
  readonly onRemoved: () => void;
}

function RemoveKey({ userId, passkeyId, name, onRemoved }: RemoveKeyProps) {
  const isOpen = useSignal(false);
  const { busy, problem, run } = useAction();
  const remove = async () => {
    await call('removeKeyOfUser', { params: { userId, passkeyId } });
    isOpen.value = false;
    onRemoved();
  };
  const close = () => {
    isOpen.value = false;
  };
  return (
    <>
      <button
        type="button"
        aria-label={`${text.value.common.remove}: ${name}`}
        onClick={() => {
          isOpen.value = true;
        }}
      >
        {text.value.common.remove}
      </button>
      {isOpen.value && (
        <Dialog title={words.value.removeTitle(name)} onClose={close}>
          <p>{words.value.removeHint}</p>
          <ProblemNotice problem={problem.value} />
          <div class="actions">
            <button type="button" onClick={close}>
              {text.value.common.cancel}
            </button>
            <button type="button" class="danger" disabled={busy.value} onClick={() => void run(remove)}>
              {text.value.common.remove}
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
}
