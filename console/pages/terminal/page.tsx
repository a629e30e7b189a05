/** Signs in a terminal that `devmgr login --web` waits at. Its code is in the address. */
import { useSignal } from '@preact/signals';
import { useAction } from '../../api/action.ts';
import { call } from '../../api/request.ts';
import { useResource } from '../../api/resource.ts';
import { session } from '../../api/session.ts';
import { ProblemNotice } from '../../parts/problem.tsx';
import { place } from '../../router.ts';
import { clock } from '../../text/numbers.ts';
import { words } from './words.ts';

/** The code in the address. */
const codeInAddress = () => place.value.query.get('code') ?? '';

/** Asks whether the terminal is the person's own. Anyone can send an address like this one, so nothing happens without an approval. */
export function TerminalPage() {
  const userCode = codeInAddress();
  const { data, problem } = useResource(async signal => {
    const code = codeInAddress();
    return code ? call('showTerminalLogin', { body: { userCode: code } }, { signal }) : null;
  });
  const isApproved = useSignal(false);
  const { busy, problem: refusal, run } = useAction();
  const approve = async () => {
    await call('approveTerminalLogin', { body: { userCode } });
    isApproved.value = true;
  };
  const request = data.value;
  if (isApproved.value) return <Title note={words.value.done} />;
  if (problem.value?.code === 404) return <Title note={words.value.unknown} />;
  return (
    <>
      <Title />
      <ProblemNotice problem={problem.value ?? refusal.value} />
      {request && (
        <>
          <p class="userCode code">{request.userCode}</p>
          <dl class="facts">
            <dt>{words.value.name}</dt>
            <dd>{request.name}</dd>
            <dt>{words.value.address}</dt>
            <dd>{request.address}</dd>
            <dt>{words.value.asked}</dt>
            <dd>{clock(request.createdAt)}</dd>
          </dl>
          <p>
            <strong>{words.value.warning}</strong> {words.value.effect(session.value?.user.username ?? '')}
          </p>
          <button type="button" class="main" disabled={busy.value} onClick={() => void run(approve)}>
            {words.value.approve}
          </button>
        </>
      )}
    </>
  );
}

const Title = ({ note }: { readonly note?: string }) => (
  <>
    <h1>{words.value.title}</h1>
    {note && <p role="status">{note}</p>}
  </>
);
