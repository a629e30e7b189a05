/** Signs in a terminal that `devmgr login --web` waits at. The person types the code that it shows. */
import { useSignal } from '@preact/signals';
import { useAction } from '../../api/action.ts';
import { call } from '../../api/request.ts';
import { session } from '../../api/session.ts';
import { ApprovalNote, ApproveButton, useApproval } from '../../parts/approval/approval.tsx';
import { Field } from '../../parts/field.tsx';
import { ProblemNotice } from '../../parts/problem.tsx';
import { clock } from '../../text/numbers.ts';
import { dictionary } from '../../text/text.ts';
import { requestOf, type WaitingTerminal } from './requests.ts';

const words = dictionary('terminal');

/** Asks for the code, then whether the terminal is the person's own. A code in the address is ignored: anyone can send an address. */
export function TerminalPage() {
  const typed = useSignal('');
  const found = useSignal<WaitingTerminal | null>(null);
  const isApproved = useSignal(false);
  const { busy, problem, submit } = useAction();
  const show = async () => {
    const code = typed.peek();
    const waiting = await requestOf(code);
    if (code === typed.peek()) found.value = waiting;
  };
  if (isApproved.value) return <Title note={words.value.done} />;
  return (
    <>
      <Title />
      <form class="line" onSubmit={submit(show)}>
        <Field
          label={words.value.code}
          entry={typed}
          onEdit={() => {
            found.value = null;
          }}
          autocomplete="off"
          maxLength={16}
          required
        />
        <button type="submit" disabled={busy.value}>
          {words.value.show}
        </button>
      </form>
      {problem.value?.code === 404 ? (
        <p role="alert">{words.value.unknown}</p>
      ) : (
        <ProblemNotice problem={problem.value} />
      )}
      <div role="status">{found.value && <Request request={found.value} />}</div>
      {found.value && (
        <Approve
          key={found.value.userCode}
          request={found.value}
          onApproved={() => {
            isApproved.value = true;
          }}
        />
      )}
    </>
  );
}

function Request({ request: { name, address, createdAt } }: { readonly request: WaitingTerminal }) {
  return (
    <>
      <dl class="facts">
        <dt>{words.value.name}</dt>
        <dd>{name}</dd>
        <dt>{words.value.address}</dt>
        <dd>{address}</dd>
        <dt>{words.value.asked}</dt>
        <dd>{clock(createdAt)}</dd>
      </dl>
      <p>
        <strong>{words.value.warning}</strong> {words.value.effect(session.value?.user.username ?? '')}
      </p>
    </>
  );
}

interface ApproveProps {
  readonly request: WaitingTerminal;
  readonly onApproved: () => void;
}

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
        {words.value.approve}
      </ApproveButton>
      <ApprovalNote approval={approval} />
    </>
  );
}

const Title = ({ note }: { readonly note?: string }) => (
  <>
    <h1>{words.value.title}</h1>
    {note && <p role="status">{note}</p>}
  </>
);
