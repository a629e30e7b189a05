/** Signs in a terminal that `devmgr login --web` waits at. The person types the code that it shows. */
import { type Signal, useSignal } from '@preact/signals';
import type { DataOf } from '../../../src/contract/define.ts';
import type { Routes } from '../../../src/contract/routes.ts';
import { useAction } from '../../api/action.ts';
import { call } from '../../api/request.ts';
import { session } from '../../api/session.ts';
import { ApprovalNote, ApproveButton, useApproval } from '../../parts/approval/approval.tsx';
import { Field } from '../../parts/field.tsx';
import { ProblemNotice } from '../../parts/problem.tsx';
import { clock } from '../../text/numbers.ts';
import { dictionary } from '../../text/text.ts';

const words = dictionary('terminal');

/** A terminal that waits for an approval. */
type WaitingTerminal = DataOf<Routes['showTerminalLogin']>;

/** Asks for the code, then whether the terminal is the person's own. A code in the address is ignored: anyone can send an address. */
export function TerminalPage() {
  const found = useSignal<WaitingTerminal | null>(null);
  const isApproved = useSignal(false);
  if (isApproved.value) return <Title note={words.value.done} />;
  return (
    <>
      <Title />
      <CodeForm found={found} />
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
