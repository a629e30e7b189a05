/** Asks whether the person wants the session that a link offers. */
import { acceptOffer, refuseOffer, type SessionOffer } from '../../api/offer.ts';
import { type SignIn, session } from '../../api/session.ts';
import { ApprovalNote, ApproveButton, useApproval } from '../../parts/approval/approval.tsx';
import { Button } from '../../parts/button.tsx';
import { CloseButton, Dialog } from '../../parts/dialog.tsx';
import { ProblemNotice } from '../../parts/problem.tsx';
import { signIn as signInWords, offer as words } from '../../text/words.ts';

type OfferDialogProps = Readonly<{ offered: SessionOffer }>;

/** The question, or why there is none. */
export function OfferDialog({ offered }: OfferDialogProps) {
  if (offered.given) return <Question offered={offered} given={offered.given} />;
  return (
    <Dialog title={words.invalid} onClose={refuseOffer}>
      {offered.problem ? <ProblemNotice problem={offered.problem} /> : <p>{signInWords.signIn.code}</p>}
      <CloseButton onClose={refuseOffer} />
    </Dialog>
  );
}

function Question({ offered, given: { user } }: OfferDialogProps & { readonly given: SignIn }) {
  const present = session.value?.user.username;
  const approval = useApproval();
  return (
    <Dialog title={words.title(user.username, location.host)} onClose={refuseOffer}>
      <p>{words.why}</p>
      {present !== undefined && (
        <p>
          <strong>{words.present(present)}</strong>
        </p>
      )}
      <ApprovalNote approval={approval} />
      <div class="actions">
        <Button words={present === undefined ? words.refuse : words.stay(present)} onClick={refuseOffer} />
        <ApproveButton approval={approval} class="main" focusWhenArmed onClick={() => acceptOffer(offered)}>
          {words.accept(user.username)}
        </ApproveButton>
      </div>
    </Dialog>
  );
}
