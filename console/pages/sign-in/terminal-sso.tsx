/** Asks whether the terminal at which `devmgr login --sso` waits is the person's own, after the provider has named the person. */
import { useAction } from '../../api/action.ts';
import { call, type Data } from '../../api/request.ts';
import { useResource } from '../../api/resource.ts';
import { ApprovalNote, ApproveButton, useApproval } from '../../parts/approval/approval.tsx';
import { FactList } from '../../parts/facts.tsx';
import { ProblemNotice } from '../../parts/problem.tsx';
import { text, terminal as words } from '../../text/words.ts';

type SsoTerminalData = Data<'showSsoTerminal'>;

/** `code`: of the address, which gives the answer once. */
export function SsoTerminal({ code }: { readonly code: string }) {
  const { data, problem } = useResource(signal => call('showSsoTerminal', { body: { code } }, { signal }));
  return (
    <main class="sign-in">
      <h1>{text.nav.terminal}</h1>
      {problem.value?.code === 1004 ? <p role="alert">{words.over}</p> : <ProblemNotice problem={problem.value} />}
      {data.value && <Question shown={data.value} />}
    </main>
  );
}

function Question({ shown: { account, role, name, address, userCode, url } }: { readonly shown: SsoTerminalData }) {
  const approval = useApproval();
  const { busy, run } = useAction();
  return (
    <>
      <FactList
        facts={[
          [words.account, `${account} (${role})`],
          [words.code, userCode],
          [words.name, name],
          [words.address, address],
        ]}
      />
      <p>
        <strong>{words.compare}</strong> {words.effect(account)}
      </p>
      <ApproveButton
        approval={approval}
        class="main"
        disabled={busy.value}
        onClick={() => void run(async () => location.assign(url))}
      >
        {words.approve}
      </ApproveButton>
      <ApprovalNote approval={approval} />
    </>
  );
}
