/** The security keys of a user: list, removal, requirement; of the person also the registration. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import type { Passkey } from '../../../src/contract/webauthn.ts';
import { useAction } from '../../api/action.ts';
import { canUseKeys, localAddress, newCredential } from '../../api/keys.ts';
import { call, type Data } from '../../api/request.ts';
import { useResource } from '../../api/resource.ts';
import { endSession, session } from '../../api/session.ts';
import { Button } from '../../parts/button.tsx';
import { Field } from '../../parts/field.tsx';
import { CheckBox } from '../../parts/inputs.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { ProblemNotice } from '../../parts/problem.tsx';
import { type RecordKind, RecordTable } from '../../parts/records.tsx';
import { Moment } from '../../parts/time.tsx';
import { text, account as words } from '../../text/words.ts';
import { isOwn } from './states.ts';

/** The keys of a user, and whether one is required. */
export type KeysOfUser = Data<'listKeysOfUser'>;

/** Whether the token of the session may register a key and nothing else. */
const mayOnlyRegister = (): boolean => session.value?.mustRegisterKey === true;

const keysOf = (userId: string): RecordKind<Passkey, 'name' | 'site' | 'registered' | 'used', 'remove'> => ({
  keyOf: ({ passkeyId }) => passkeyId,
  nameOf: ({ name }) => name,
  columns: {
    name: ({ name }) => name,
    site: ({ rpId }) => rpId,
    registered: ({ createdAt }) => <Moment at={createdAt} />,
    used: ({ lastUsedAt }) => <Moment at={lastUsedAt} />,
  },
  actions: {
    remove: {
      carryOut: ({ passkeyId }) => call('removeKeyOfUser', { params: { userId, passkeyId } }),
      isDangerous: true,
      isFor: () => !mayOnlyRegister(),
    },
  },
});

interface KeysProps {
  readonly userId: string;
  /** Part below the keys of another user. Absent: they are those of the person. */
  readonly below?: (keys: KeysOfUser) => ComponentChildren;
}

/** The keys of a user. */
export function Keys({ userId, below }: KeysProps) {
  const resource = useResource(signal => call('listKeysOfUser', { params: { userId } }, { signal }));
  const { reload } = resource;
  const kind = useMemo(() => keysOf(userId), [userId]);
  return (
    <section>
      <h2>{words.title}</h2>
      {!below && <p class="hint">{words.keysHint}</p>}
      <Loaded from={resource}>
        {data => (
          <>
            <RecordTable
              title={words.title}
              kind={kind}
              words={words}
              records={data.list}
              none={words[below ? 'noneOfUser' : 'noKeys']}
              onDone={reload}
            />
            {!below && <AddKey onAdded={() => (mayOnlyRegister() ? endSession('registered') : reload())} />}
            {!mayOnlyRegister() && <Requirement userId={userId} of={data} onChanged={reload} />}
            {below?.(data)}
          </>
        )}
      </Loaded>
    </section>
  );
}

function AddKey({ onAdded }: { readonly onAdded: () => void }) {
  const name = useSignal('');
  const { busy, problem, submit } = useAction();
  if (!canUseKeys())
    return (
      <p class="hint">
        {words.cannot} {localAddress() && <a href={localAddress() ?? ''}>{text.problem.atLocalhost}</a>}
      </p>
    );
  const add = async () => {
    const { options } = await call('getKeyRegistrationOptions', {});
    const response = await newCredential(options);
    await call('registerKey', { body: { name: name.value, response } });
    name.value = '';
    onAdded();
  };
  return (
    <form class="line" onSubmit={submit(add)}>
      <Field label={words.column.name} entry={name} placeholder={words.keyExample} maxLength={64} required />
      <Button words={words.add} type="submit" disabled={busy.value} />
      <ProblemNotice problem={problem.value} />
    </form>
  );
}

type RequirementProps = Readonly<{ userId: string; of: KeysOfUser; onChanged: () => void }>;

function Requirement({ userId, of: { list, requiredByUser }, onChanged }: RequirementProps) {
  const { busy, problem, run } = useAction();
  const require = async (required: boolean) => {
    await call('requireKeyOfUser', { params: { userId }, body: { required } });
    onChanged();
  };
  return (
    <>
      <CheckBox
        words={words.requireOwn}
        value={requiredByUser}
        disabled={busy.value || (isOwn({ id: userId }) && !list.length && !requiredByUser)}
        onChange={required => void run(() => require(required))}
      />
      <ProblemNotice problem={problem.value} />
    </>
  );
}
