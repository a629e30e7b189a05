/** Which roles have to sign in with a security key. */
import { type Role, roles } from '../../../src/contract/values.ts';
import { useAction } from '../../api/action.ts';
import { call, newKey } from '../../api/request.ts';
import { useResource } from '../../api/resource.ts';
import { CheckBoxes } from '../../parts/inputs.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { ProblemNotice } from '../../parts/problem.tsx';
import { dictionary } from '../../text/text.ts';

const words = dictionary('account');
const roleWords = dictionary('roles');

/** The policy of the registry, for administrators. */
export function Policy() {
  const resource = useResource(signal => call('showSignInPolicy', {}, { signal }));
  const change = useAction();
  const require = (requireKey: Role[]) =>
    change.run(async () => {
      await call('setSignInPolicy', { body: { requireKey } }, { key: newKey() });
      resource.reload();
    });
  return (
    <section>
      <h2>{words.value.policy}</h2>
      <p class="hint">{words.value.policyHint}</p>
      <ProblemNotice problem={change.problem.value} retry={resource.reload} />
      <Loaded from={resource}>
        {({ requireKey }) => (
          <CheckBoxes
            label={words.value.policyRoles}
            values={roles}
            chosen={requireKey}
            wordOf={role => roleWords.value.name[role]}
            onChoose={chosen => void require(chosen)}
            disabled={change.busy.value}
          />
        )}
      </Loaded>
    </section>
  );
}
