/** Asks whether the person wants the session that a link offers. */
import { acceptOffer, refuseOffer, type SessionOffer } from '../../api/offer.ts';
import { type SignIn, session } from '../../api/session.ts';
import { ApprovalNote, ApproveButton, useApproval } from '../../parts/approval/approval.tsx';
import { CloseButton, Dialog } from '../../parts/dialog.tsx';
import { ProblemNotice } from '../../parts/problem.tsx';
import { dictionary } from '../../text/text.ts';

const signInWords = dictionary('signIn');
const words = dictionary('offer');

interface OfferDialogProps {
  readonly offered: SessionOffer;
}

/** The question, or why there is none. */
export function OfferDialog({ offered }: OfferDialogProps) {
  if (offered.given) return <Question offered={offered} given={offered.given} />;
  return (
    <Dialog title={words.value.invalid} onClose={refuseOffer}>
      {offered.problem ? <ProblemNotice problem={offered.problem} /> : <p>{signInWords.value.signIn.code}</p>}
      <CloseButton onClose={refuseOffer} />
    </Dialog>
  );
}

function Question({ offered, given: { user } }: OfferDialogProps & { readonly given: SignIn }) {
  const present = session.value?.user.username;
  const approval = useApproval();
  return (
    <Dialog title={words.value.title(user.username, location.host)} onClose={refuseOffer}>
      <p>{words.value.why}</p>
      {present !== undefined && (
        <p>
          <strong>{words.value.present(present)}</strong>
        </p>
      )}
      <ApprovalNote approval={approval} />
      <div class="actions">
        <button type="button" onClick={refuseOffer}>
          {present === undefined ? words.value.refuse : words.value.stay(present)}
        </button>
        <ApproveButton approval={approval} class="main" focusWhenArmed onClick={() => acceptOffer(offered)}>
          {words.value.accept(user.username)}
        </ApproveButton>
      </div>
    </Dialog>
  );
}
