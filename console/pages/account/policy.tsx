/** Which roles have to sign in with a security key. */
import { useSignal } from '@preact/signals';
import { type Role, roles } from '../../../src/contract/values.ts';
import { call } from '../../api/request.ts';
import { useResource } from '../../api/resource.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { CheckBoxes } from '../../parts/inputs.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { dictionary } from '../../text/text.ts';

const words = dictionary('account');
const roleWords = dictionary('roles');

/** The policy of the registry, for administrators. Each change is asked about: it decides who can sign in. */
export function Policy() {
  const resource = useResource(signal => call('showSignInPolicy', {}, { signal }));
  const wanted = useSignal<readonly Role[] | null>(null);
  return (
    <section>
      <h2>{words.value.policy}</h2>
      <p class="hint">{words.value.policyHint}</p>
      <Loaded from={resource}>
        {({ requireKey }) => (
          <>
            <CheckBoxes
              label={words.value.policyRoles}
              values={roles}
              chosen={requireKey}
              wordOf={role => roleWords.value.name[role]}
              onChoose={chosen => {
                wanted.value = chosen;
              }}
            />
            {wanted.value && (
              <PolicyDialog
                before={requireKey}
                after={wanted.value}
                onClose={() => {
                  wanted.value = null;
                }}
                onDone={resource.reload}
              />
            )}
          </>
        )}
      </Loaded>
    </section>
  );
}

interface PolicyDialogProps {
  readonly before: readonly Role[];
  readonly after: readonly Role[];
  readonly onClose: () => void;
  readonly onDone: () => void;
}

function PolicyDialog({ before, after, onClose, onDone }: PolicyDialogProps) {
  const role = roles.find(each => before.includes(each) !== after.includes(each))!;
  const question = words.value[after.includes(role) ? 'require' : 'release'];
  return (
    <ActionDialog
      title={question.title(roleWords.value.name[role])}
      submit={question.submit}
      isDangerous
      onClose={onClose}
      onSubmit={async key => {
        await call('setSignInPolicy', { body: { requireKey: [...after] } }, { key });
        onDone();
      }}
    >
      <p>{question.hint}</p>
    </ActionDialog>
  );
}
