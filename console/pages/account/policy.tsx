/** Which roles have to sign in with a security key. */
import { type Role, roles } from '../../../src/contract/values.ts';
import { useAction } from '../../api/action.ts';
import { call, newKey } from '../../api/request.ts';
import { useResource } from '../../api/resource.ts';
import { ProblemNotice } from '../../parts/problem.tsx';
import { dictionary } from '../../text/text.ts';

const words = dictionary('account');

/** The policy of the registry, for administrators. */
export function Policy() {
  const { data, problem, reload } = useResource(signal => call('showSignInPolicy', {}, { signal }));
  const change = useAction();
  const required = data.value?.requireKey ?? [];
  const toggle = (role: Role) =>
    change.run(async () => {
      const requireKey = roles.filter(each => (each === role ? !required.includes(each) : required.includes(each)));
      await call('setSignInPolicy', { body: { requireKey } }, { key: newKey() });
      reload();
    });
  return (
    <section>
      <h2>{words.value.policy}</h2>
      <p class="hint">{words.value.policyHint}</p>
      <ProblemNotice problem={problem.value ?? change.problem.value} retry={reload} />
      {data.value && (
        <fieldset class="choices" disabled={change.busy.value}>
          <legend>{words.value.policyRoles}</legend>
          {roles.map(role => (
            <label key={role}>
              <input type="checkbox" checked={required.includes(role)} onChange={() => void toggle(role)} />
              {role}
            </label>
          ))}
        </fieldset>
      )}
    </section>
  );
}
