/** Signs in a terminal that `devmgr login --web` waits at. The person types the code that it shows. */
import { type Signal, useSignal } from '@preact/signals';
import { useAction } from '../../api/action.ts';
import { call, type Data } from '../../api/request.ts';
import { session } from '../../api/session.ts';
import { ApprovalNote, ApproveButton, useApproval } from '../../parts/approval/approval.tsx';
import { Button } from '../../parts/button.tsx';
import { FactList } from '../../parts/facts.tsx';
import { Field } from '../../parts/field.tsx';
import { ProblemNotice } from '../../parts/problem.tsx';
import { clock } from '../../text/numbers.ts';
import { text, terminal as words } from '../../text/words.ts';

type WaitingTerminal = Data<'showTerminalLogin'>;

/** Asks for the code, then whether the terminal is the person's own. A code in the address is ignored: anyone can send an address. */
export function TerminalPage() {
  const found = useSignal<WaitingTerminal | null>(null);
  const isApproved = useSignal(false);
  if (isApproved.value) return <Title note={words.done} />;
  return (
    <>
      <Title />
      <CodeForm found={found} />
      <div role="status">{found.value && <Request request={found.value} />}</div>
      {found.value && (
        <Approve key={found.value.userCode} request={found.value} onApproved={() => (isApproved.value = true)} />
      )}
    </>
  );
}

/** Finds the terminal that waits with a code. It is forgotten when the code is changed. */
function CodeForm({ found }: { readonly found: Signal<WaitingTerminal | null> }) {
  const typed = useSignal('');
  const { busy, problem, submit } = useAction();
  const show = async () => {
    const userCode = typed.peek();
    const waiting = await call('showTerminalLogin', { body: { userCode } });
    if (userCode === typed.peek()) found.value = waiting;
  };
  return (
    <>
      <form class="line" onSubmit={submit(show)}>
        <Field
          label={words.code}
          value={typed.value}
          onChange={text => {
            typed.value = text;
            found.value = null;
          }}
          maxLength={16}
          required
        />
        <Button words={words.show} type="submit" disabled={busy.value} />
      </form>
      {problem.value?.code === 404 ? <p role="alert">{words.unknown}</p> : <ProblemNotice problem={problem.value} />}
    </>
  );
}

const Request = ({ request: { name, address, createdAt } }: { readonly request: WaitingTerminal }) => (
  <>
    <FactList
      facts={[
        [words.name, name],
        [words.address, address],
        [words.asked, clock(createdAt)],
      ]}
    />
    <p>
      <strong>{words.warning}</strong> {words.effect(session.value?.user.username ?? '')}
    </p>
  </>
);

type ApproveProps = Readonly<{ request: WaitingTerminal; onApproved: () => void }>;

function Approve({ request: { userCode }, onApproved }: ApproveProps) {
  const approval = useApproval();
  const { busy, problem, run } = useAction();
  const approve = async () => {
    await call('approveTerminalLogin', { body: { userCode } });
    onApproved();
  };
  return (
    <>
      <ProblemNotice problem={problem.value} />
      <ApproveButton approval={approval} class="main" disabled={busy.value} onClick={() => void run(approve)}>
        {words.approve}
      </ApproveButton>
      <ApprovalNote approval={approval} />
    </>
  );
}

const Title = ({ note }: { readonly note?: string }) => (
  <>
    <h1>{text.nav.terminal}</h1>
    {note && <p role="status">{note}</p>}
  </>
);
