/** Asks whether the person wants the session that a link offers. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { acceptOffer, type Offer, refuseOffer } from '../../api/offer.ts';
import { type SignIn, session } from '../../api/session.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { ProblemNotice } from '../../parts/problem.tsx';
import { signInWords } from '../../text/sign-in/words.ts';
import { text } from '../../text/text.ts';
import { words } from './words.ts';

/** Milliseconds before the answer can be given: a press that begins earlier was meant for the page that was there before. */
const READ_MS = 500;

interface OfferDialogProps {
  readonly offered: Offer;
}

/** The question, or why there is none. */
export function OfferDialog({ offered }: OfferDialogProps) {
  if (offered.given) return <Question offered={offered} given={offered.given} />;
  return (
    <Dialog title={words.value.invalid} onClose={refuseOffer}>
      {offered.problem ? <ProblemNotice problem={offered.problem} /> : <p>{signInWords.value.signIn.code}</p>}
      <div class="actions">
        <button type="button" onClick={refuseOffer}>
          {text.value.common.close}
        </button>
      </div>
    </Dialog>
  );
}

function Question({ offered, given: { user } }: OfferDialogProps & { readonly given: SignIn }) {
  const present = session.value?.user.username;
  const isReady = useReady();
  const accept = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (isReady) accept.current?.focus();
  }, [isReady]);
  return (
    <Dialog title={words.value.title(user.username, location.host)} onClose={refuseOffer}>
      <p>{words.value.why}</p>
      {present !== undefined && (
        <p>
          <strong>{words.value.present(present)}</strong>
        </p>
      )}
      <div class="actions">
        <button type="button" disabled={!isReady} onClick={refuseOffer}>
          {present === undefined ? words.value.refuse : words.value.stay(present)}
        </button>
        <button
          ref={accept}
          type="button"
          class="main"
          disabled={!isReady}
          // A key that is held down was pressed in another page.
          onKeyDown={event => event.repeat && event.preventDefault()}
          onClick={() => acceptOffer(offered)}
        >
          {words.value.accept(user.username)}
        </button>
      </div>
    </Dialog>
  );
}

/** False for a moment, also each time the person comes back to this window: another page may have led a double click or Enter here. */
function useReady(): boolean {
  const isReady = useSignal(false);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const begin = () => {
      clearTimeout(timer);
      isReady.value = false;
      timer = setTimeout(() => {
        isReady.value = true;
      }, READ_MS);
    };
    begin();
    addEventListener('focus', begin);
    return () => {
      clearTimeout(timer);
      removeEventListener('focus', begin);
    };
  }, []);
  return isReady.value;
}
