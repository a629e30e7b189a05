/** The policies of the registry: what keys must prove, who must sign in with one, and where persons are read from. */
import { useSignal } from '@preact/signals';
import { type Role, roles } from '../../../src/contract/values.ts';
import { demandUnchanged } from '../../api/problem.ts';
import { call } from '../../api/request.ts';
import { useResource } from '../../api/resource.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { CheckBoxes } from '../../parts/inputs.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { linkTo } from '../../router.ts';
import { labels } from '../../text/text.ts';
import { policies as policyWords, text } from '../../text/words.ts';
import { allUsers } from '../accounts/states.ts';
import { DirectorySection } from '../directory/directory.tsx';
import { ProofPolicySection } from '../proofs/policy.tsx';
import { PeoplePolicySection, PinPolicySection } from './settings.tsx';

/** The policies and the directory, for administrators. */
export const PoliciesPage = () => (
  <>
    <h1>{text.nav.policies}</h1>
    <div class="in-order">
      <ProofPolicySection />
      <SignInPolicySection />
      <PinPolicySection />
      <DirectorySection />
      <PeoplePolicySection />
    </div>
  </>
);

/** Names in a preview; the others are counted. */
const NAMED = 10;

/** The policy of sign-ins. Each change is asked about: it decides who can sign in. */
function SignInPolicySection() {
  const words = policyWords.signIn;
  const resource = useResource(signal => call('showSignInPolicy', {}, { signal }));
  const wanted = useSignal<readonly Role[] | null>(null);
  return (
    <section>
      <h2>{words.title}</h2>
      <p class="hint">{words.hint}</p>
      <Loaded from={resource}>
        {({ requireKey }) => (
          <>
            <CheckBoxes
              label={words.roles}
              values={roles}
              value={requireKey}
              words={labels(text.role)}
              onChange={chosen => (wanted.value = chosen)}
            />
            {wanted.value && (
              <PolicyDialog
                before={requireKey}
                after={wanted.value}
                onClose={() => (wanted.value = null)}
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
  const isRequired = after.includes(role);
  const question = policyWords.signIn[isRequired ? 'require' : 'release'];
  return (
    <ActionDialog
      title={question.title(text.role[role])}
      submit={question.submit}
      isDangerous
      onClose={onClose}
      onSubmit={async key => {
        const { requireKey } = await call('showSignInPolicy', {});
        demandUnchanged(requireKey, before, after);
        await call('setSignInPolicy', { body: { requireKey: [...after] } }, { key });
        onDone();
      }}
    >
      <p>{question.hint}</p>
      <Concerned role={role} isRequired={isRequired} />
    </ActionDialog>
  );
}

/** The users whom the change concerns; if keys are required, those who have none. */
function Concerned({ role, isRequired }: { readonly role: Role; readonly isRequired: boolean }) {
  const words = policyWords.signIn;
  const users = useResource(async signal =>
    (await allUsers(signal)).filter(user => user.role === role && !user.disabled),
  );
  return (
    <Loaded from={users}>
      {found => {
        const without = found.filter(({ hasKey }) => !hasKey);
        return (
          <>
            <p>
              <strong>{words.users(found.length)}</strong>
              {isRequired && ` ${words.without(without.length)}`}
            </p>
            {isRequired && without.length > 0 && (
              <ul>
                {without.slice(0, NAMED).map(({ id, username }) => (
                  <li key={id}>
                    <a href={linkTo(`users/${id}`)}>{username}</a>
                  </li>
                ))}
                {without.length > NAMED && <li>{words.more(without.length - NAMED)}</li>}
              </ul>
            )}
            <p class="hint">{words[isRequired ? 'sitesUnknown' : 'ownUnknown']}</p>
          </>
        );
      }}
    </Loaded>
  );
}
